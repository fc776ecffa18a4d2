#pragma once

#include <atomic>
#include <cstddef>

#include "learning/forwarding_problem.h"

namespace espalier::test_support {

// Another problem that sets a flag at the given visit, as Ctrl-C would in the middle of a pass. Visits score
// in floats, or weights in double precision; certificates score weights of floats in double precision.
class InterruptingProblem final : public ForwardingProblem, private BlockMaximisation {
 public:
  InterruptingProblem(const Problem& inner, int visits) : ForwardingProblem(inner), left_(visits) {}
  mutable std::atomic<bool> stop = false;
  mutable int scored_after_stop = 0;

  using ForwardingProblem::score;
  void score(std::size_t i, const Weights& w, float c, Out s, Workspace& ws) const override {
    visit();
    inner_.score(i, w, c, s, ws);
  }
  void score(std::size_t i, const DoubleWeights& w, double c, DoubleOut s, Workspace& ws) const override {
    visit();
    inner_.score(i, w, c, s, ws);
  }
  Capabilities capabilities() const override {
    Capabilities result = inner_.capabilities();
    if (result.block_maximisation) result.block_maximisation = this;
    return result;
  }

 private:
  BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                              Workspace& ws) const override {
    visit();
    return inner_.block_maximisation()->maximise_block(i, gamma, l2, mu, w, ws);
  }
  BlockMaximum propose_block(std::size_t i, double gamma, double l2, double crowding, Out mu,
                             const Weights& w, Out delta, Workspace& ws) const override {
    visit();
    return inner_.block_maximisation()->propose_block(i, gamma, l2, crowding, mu, w, delta, ws);
  }
  void visit() const {
    if (stop) ++scored_after_stop;
    if (--left_ == 0) stop = true;
  }

  mutable int left_;
};

}  // namespace espalier::test_support
