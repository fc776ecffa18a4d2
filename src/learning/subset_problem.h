#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "learning/forwarding_problem.h"
#include "learning/kept_messages.h"

namespace espalier {

class OwnMessages {
 protected:
  explicit OwnMessages(const Problem& whole)
      : copy_(with_own_messages(whole)), problem_(copy_ ? *copy_ : whole) {}
  const Problem& problem() const { return problem_; }

 private:
  std::unique_ptr<const Problem> copy_;
  const Problem& problem_;
};

// Some examples of another problem, as a problem: what cross-validation trains on. The weights keep their
// shape; those of attributes that no example of the subset has stay zero. Several of the same problem may be
// at work at the same time, and know nothing of each other.
class SubsetProblem final : private OwnMessages, public ForwardingProblem {
 public:
  SubsetProblem(const Problem& whole, std::vector<std::uint32_t> examples)
      : OwnMessages(whole), ForwardingProblem(problem(), std::move(examples)) {}
};

}  // namespace espalier
