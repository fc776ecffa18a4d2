#pragma once

#include <algorithm>
#include <cstddef>

#include "espalier/learning/problem.h"

namespace espalier {

// A mean of the weights w_t after each visit t that forgets: m_t = m_{t-1} + a_t (w_t - m_{t-1}),
//   a_t = max(0.6/n, 5/(t + n)),
// over about the last fifth of all visits at first, and later over little more than a pass. Steps w_t =
// w_{t-1} + F_i delta_t change few weights, and so does this:
//   w_t - m_t = (1 - a_t)(w_{t-1} - m_{t-1} + F_i delta_t) = S_t V_t,   S_t = (1 - a_t) S_{t-1},
//       V_t = V_{t-1} + F_i delta_t / S_{t-1}.
class RecentMean {
 public:
  // Begins where the weights are.
  RecentMean(const WeightShape& shape, std::size_t num_examples)
      : lag_(shape), examples_(static_cast<double>(num_examples)) {}

  // A step of the visit at hand. Overwrites delta.
  void add(const Problem& problem, std::size_t i, Out delta, Workspace& ws) {
    for (float& d : delta) d /= static_cast<float>(scale_);
    problem.accumulate(i, delta, lag_, ws);
  }
  void end_visit() {
    forget(1);
    renormalise();
  }
  // Visits whose steps are added to lag() by others: each times 1/scale(), as of before the first of them.
  Weights& lag() { return lag_; }
  double scale() const { return scale_; }
  void forget(std::size_t visits) {
    for (std::size_t v = 0; v < visits; ++v) {
      visits_ += 1;
      scale_ *= 1 - std::min(0.9, std::max(0.6 / examples_, 5 / (visits_ + examples_)));
    }
  }
  // Floats have room for much more, but not for all.
  void renormalise() {
    if (scale_ > 1e-9) return;
    for (float& v : lag_.values()) v *= static_cast<float>(scale_);
    scale_ = 1;
  }

  // factor m_t, where w_t = w.
  void mean(const Weights& w, double factor, Weights& result) const {
    result.assign(w, factor);
    const Out values = result.values();
    const In lag = lag_.values();
    const auto share = static_cast<float>(factor * scale_);
    for (std::size_t j = 0; j < values.size(); ++j) values[j] -= share * lag[j];
  }
  // Sets w_t = w and m_t = factor mean, whatever they were.
  void restart(const Weights& w, const Weights& mean, double factor) {
    const Out lag = lag_.values();
    const In now = w.values(), then = mean.values();
    for (std::size_t j = 0; j < lag.size(); ++j) lag[j] = now[j] - static_cast<float>(factor * then[j]);
    scale_ = 1;
  }

 private:
  Weights lag_;       // V_t
  double scale_ = 1;  // S_t
  double examples_, visits_ = 0;
};

}  // namespace espalier
