#pragma once

#include <cstddef>

#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"
#include "learning/certify.h"

namespace espalier {

// The dual that online visits leave behind while each example has been visited once at most. It begins at the
// gold outputs, where w(u) = 0 and D = 0. A visit of dca that adds eta F_i(z_i - pi_i) to theta, with rho =
// l2 eta/omega_i in [0, 1], moves l2 theta as the example's dual does when it goes from the gold output to
// the mixture
//   u_i = (1 - rho) [y = y_i] + rho pi_i,   mu_i = (1 - rho) z_i + rho pi_i,
//                                           w += omega_i rho F_i(z_i - pi_i).
// pi_i is the maximiser at theta, so H(pi_i)/beta + gamma(p_i.pi_i + q_i) = L_i + s_i.(z_i - pi_i) with s_i =
// F_i'theta. The cost of the gold output is zero, and its probability under pi_i is exp(-beta L_i) =: r. So
//   H(u_i) = rho H(pi_i) + e(rho, r),   e = -m log m - rho(1 - r) log rho + rho r log r,
//                                       m = 1 - rho + rho r,
//   D(u) = sum_i omega_i [ rho_i(L_i + s_i.(z_i - pi_i)) + e(rho_i, r_i)/beta ] - |w|^2/(2 l2).
// Where theta is w/l2, a visit raises it by l2 eta(L_i - eta/2 |F_i(z_i - pi_i)|^2) + omega_i e/beta. The
// second term is the entropy of a mixture less the mean of its parts', which is never negative; the first is
// the minimum of their equation (13), and >= 0 for eta <= L_i / |F_i(z_i - pi_i)|^2.
//
// A bound of the optimum it is in any case: whatever theta each pi_i was taken at, u is a point of the dual,
// w is summed up here from that very u, and all of it in double precision. At a second visit of an example
// this ends, because to take its first mixture back one would have to have stored it.
//
// MIRA's visits mix outputs themselves, u_i = (1 - sum_r rho_r) [y = y_i] + sum_r rho_r [y = y_r], for a
// maximum, where entropies do not count: D(u) = sum_i omega_i gamma sum_r rho_r cost_i(y_r) - |w|^2/(2 l2).
class FirstPassDual {
 public:
  // Refers to the objective.
  explicit FirstPassDual(const Objective& objective)
      : objective_(objective), w_(objective.problem.weight_shape()) {}

  // To be called before every visit. False once all examples have had their first, which leaves the value as
  // it is.
  bool next_visit();
  // Example i leaves its gold output as theta takes F_i delta, in a first visit: `conjugate` is what
  // H(u_i)/beta + gamma(p_i.mu_i + q_i) becomes.
  void move(std::size_t i, double conjugate, DoubleIn delta, Workspace& ws);
  // The same for delta = eta(z_i - pi_i), from `loss` and s at theta and `difference` z_i - pi_i.
  void mix(std::size_t i, double eta, double loss, DoubleIn s, DoubleIn difference, Workspace& ws);
  // What is certain of D(u).
  double value() const { return open_ ? certain_dual(objective_, sum_, w_, rounding_) : value_; }

 private:
  double mixture_entropy(std::size_t i, double rho, double loss, Workspace& ws) const;

  const Objective& objective_;
  DoubleWeights w_;
  double sum_ = 0;  // of omega_i [H(u_i)/beta + gamma(p_i.mu_i + q_i)]
  DualRounding rounding_;
  std::size_t visits_ = 0;
  bool open_ = true;
  double value_ = 0;  // once the pass is over, and w with it
};

}  // namespace espalier
