#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace espalier {

// EG for a maximum (beta = infinity), through finite betas. At a finite beta it converges linearly; at the
// maximum itself it crawls, for outputs that compete have to be told apart by weights that hardly differ. So
// beta begins small and rises: with u and theta of the problem at beta,
//   P_inf - D_inf  <=  (P_beta - D_beta)  +  sum_i omega_i H(u_i)/beta,
// what is left to solve and what the smoothing hides. Beta rises whenever the first is below the second. On
// CoNLL-2000 (l2 = 20) the maximum takes 47.8 passes to a relative gap of 1e-2 without it, and 20.0 with it.
class EgSmoothing {
 public:
  // Of a margin of `gamma` for each part that differs. Requires gamma > 0.
  EgSmoothing(std::size_t n, double gamma) : entropies_(n, 0.0f), inverse_beta_(gamma / kFirstBeta) {}

  double inverse_beta() const { return inverse_beta_; }
  void set_entropy(std::size_t i, double weighted) { entropies_[i] = static_cast<float>(weighted); }

  // Of this rank's examples; what they are of all ranks', where there are several.
  double sum_of_own_entropies() const {
    double sum = 0;
    for (const float h : entropies_) sum += h;
    return sum;
  }
  void set_sum_of_entropies(double of_all) { of_all_ranks_ = of_all; }

  double hidden(std::size_t i) const { return entropies_[i] * inverse_beta_; }  // omega_i H(u_i)/beta
  double hidden() const { return sum_of_entropies() * inverse_beta_; }          // of all examples

  // Where duals are at hand with this gap, about half of it is what their smoothing hid.
  void start_at_gap(double gap) {
    if (gap > 0) inverse_beta_ = std::min(inverse_beta_, gap / (2 * sum_of_entropies()));
  }

  // After a round of visits. `left` estimates P_beta - D_beta; `most` is the gap that is good enough.
  void cool(double left, double most) {
    constexpr double kEnough = 0.5;  // of the gap may come from smoothing, at the end
    const double hides = hidden();
    if (hides > kEnough * most && left < kBalance * hides) inverse_beta_ /= kRate;
  }

 private:
  // Nats for a wrong part. The weights of larger ones are hard to find, those of smaller ones far from what
  // is sought (CoNLL-2000, with rates of growth from 1 to 1.2 a pass that were fixed: from 1 on it took 36
  // passes to 1e-2, from 10 on 23 to 26, from 20 on 25 to 27, from 40 and 100 on 31 and 29).
  static constexpr double kFirstBeta = 10;
  // A round is a quarter of a pass. Neither matters much: balances from 0.5 to 2 and rates from 1.06 to 1.1
  // took 21 to 23 passes to 1e-2 and 50 to 52 to 1e-3, and small betas are faster to compute with.
  static constexpr double kRate = 1.06, kBalance = 0.7;

  double sum_of_entropies() const {
    return std::max(of_all_ranks_ ? *of_all_ranks_ : sum_of_own_entropies(),
                    std::numeric_limits<double>::min());
  }

  std::vector<float> entropies_;  // omega_i H(u_i), as of the last visits
  double inverse_beta_;
  std::optional<double> of_all_ranks_;
};

}  // namespace espalier
