#pragma once

#include <cstddef>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/learning/problem.h"

namespace espalier {

// The dual variables of every example as the expected statistics mu_i of its distribution over outputs, for
// solvers that mix outputs instead of moving scores. For beta = infinity that is all the dual needs to know:
//   D = sum_i omega_i gamma(p_i.mu_i + q_i) - |w|^2/(2 l2),   w = sum_i omega_i F_i(z_i - mu_i).
// Nothing can tell from tied statistics whether any distribution has them, so whoever writes them has to see
// to that: they are sums of outputs, each with a weight that is not negative, and weights that are divided by
// their sum. In double precision, so that all that comes in between are roundings of single elements, and
// counted, so that certificates know what those may do: each element is that of a distribution times 1 + d,
// |d| <= roundings() 2^-53.
class MeanState {
 public:
  // The gold outputs themselves: w = 0, D = 0.
  explicit MeanState(const Problem& problem);
  void start_at_gold(const Problem& problem);

  std::size_t size() const { return offsets_.size() - 1; }
  DoubleOut mu(std::size_t i) { return {marginals_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]}; }
  DoubleIn mu(std::size_t i) const {
    return {marginals_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  double roundings() const { return roundings_; }
  void set_roundings(double roundings) { roundings_ = roundings; }

  DoubleIn all() const {
    return {marginals_.data(), marginals_.size()};
  }  // of all examples, one after the other
  // What all() and roundings() of another state of this problem said. Requires as many.
  void restore(DoubleIn all, double roundings);
  void prefetch(std::size_t i, Prefetch what) const;

 private:
  std::vector<std::size_t> offsets_;
  ZeroedArray<double> marginals_;
  double roundings_ = 0;
};

}  // namespace espalier
