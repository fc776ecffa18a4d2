#pragma once

#include <cstddef>

#include "espalier/learning/problem.h"

namespace espalier {

// The weights of an online solver and their mean over the visits t = 1, ..., T, each with the weights that it
// met:
//   theta_{t+1} = theta_t + F_i delta_t
//   mean = 1/T sum_t theta_t = theta_{T+1} - 1/T sum_t t F_i delta_t.
// So a second vector takes t times what the weights take, and no visit touches more of it than of the
// weights.
class AveragedWeights {
 public:
  // Without `average` the second vector is empty, and mean() the weights.
  AveragedWeights(const Weights& start, bool average)
      : current_(start), weighted_(average ? start.shape() : WeightShape{}), average_(average) {}

  const Weights& current() const { return current_; }

  void next_visit() { ++visits_; }
  // What visit t does to the weights. Overwrites delta.
  void add(const Problem& problem, std::size_t i, Out delta, Workspace& ws) {
    problem.accumulate(i, delta, current_, ws);
    if (!average_) return;
    for (float& d : delta) d *= static_cast<float>(visits_);
    problem.accumulate(i, delta, weighted_, ws);
  }

  // Before the first visit, the start.
  void mean(Weights& result) const {
    result = current_;
    if (!average_ || visits_ == 0) return;
    const Out values = result.values();
    const In weighted = weighted_.values();
    const double share = 1 / static_cast<double>(visits_);
    for (std::size_t j = 0; j < values.size(); ++j) {
      values[j] = static_cast<float>(values[j] - share * weighted[j]);
    }
  }

 private:
  Weights current_, weighted_;
  bool average_;
  std::size_t visits_ = 0;
};

}  // namespace espalier
