#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "learning/forwarding_problem.h"

namespace espalier {

// Some examples of another problem, as a problem: what cross-validation trains on. The weights keep their
// shape; those of attributes that no example of the subset has stay zero.
class SubsetProblem final : public ForwardingProblem {
 public:
  SubsetProblem(const Problem& whole, std::vector<std::uint32_t> examples)
      : ForwardingProblem(whole, std::move(examples)) {}
};

}  // namespace espalier
