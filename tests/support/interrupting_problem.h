#pragma once

#include <atomic>
#include <cstddef>

#include "support/forwarding_problem.h"

namespace espalier::test_support {

// Another problem that sets a flag at the given visit, as Ctrl-C would in the middle of a pass. Visits score weights in double
// precision; certificates do not.
class InterruptingProblem final : public ForwardingProblem {
 public:
  InterruptingProblem(const Problem& inner, int visits) : ForwardingProblem(inner), left_(visits) {}
  mutable std::atomic<bool> stop = false;
  mutable int scored_after_stop = 0;

  using ForwardingProblem::score;
  void score(std::size_t i, const DoubleWeights& w, double c, DoubleOut s, Workspace& ws) const override {
    if (stop) ++scored_after_stop;
    if (--left_ == 0) stop = true;
    inner_.score(i, w, c, s, ws);
  }

 private:
  mutable int left_;
};

}  // namespace espalier::test_support
