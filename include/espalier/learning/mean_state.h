#pragma once

#include <cstddef>
#include <vector>

#include "espalier/base/zeroed_array.h"
#include "espalier/learning/problem.h"

namespace espalier {

// The dual variables of every example as the expected statistics mu_i of its distribution over outputs, for solvers that mix
// outputs instead of moving scores. For beta = infinity that is all the dual needs to know:
//   D = sum_i omega_i gamma(p_i.mu_i + q_i) - |w|^2/(2 l2),   w = sum_i omega_i F_i(z_i - mu_i).
// Mixtures are rounded to floats, so mu_i leaves the set of expected statistics by about 1e-7 of itself, and the dual is a
// bound as exact as that.
class MeanState {
 public:
  // The gold outputs themselves: w = 0, D = 0.
  explicit MeanState(const Problem& problem);
  void start_at_gold(const Problem& problem);

  std::size_t size() const { return offsets_.size() - 1; }
  Out mu(std::size_t i) { return {marginals_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]}; }
  In mu(std::size_t i) const { return {marginals_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]}; }
  In all() const { return {marginals_.data(), marginals_.size()}; }  // of all examples, one after the other
  // What all() of another state of this problem said. Requires as many.
  void restore(In all);
  void prefetch(std::size_t i, Prefetch what) const;

 private:
  std::vector<std::size_t> offsets_;
  ZeroedArray<float> marginals_;
};

}  // namespace espalier
