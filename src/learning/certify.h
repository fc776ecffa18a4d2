#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/learning/dual_state.h"
#include "espalier/learning/objective.h"
#include "learning/mean_state.h"
#include "learning/sweep.h"

namespace espalier {

// By how much rounding alone may put a dual above the primal of a certificate. Roundings of sizes c_1, c_2,
// ... together come to less than 10 * 2^-53 sqrt(c_1^2 + c_2^2 + ...), unless they conspire (Higham and Mary
// 2019: the chance is below 1e-20). They are those of
//   - sums over weights and over examples, of sizes that for a dual near its primal are no more than 4 P;
//   - the scores of outputs, which cancel in losses and in w(u): no more than 2 omega_i R_i |theta| for
//     example i, with R_i^2 = Problem::squared_diameter(i) and |theta|^2 <= 2 P/l2, in as many steps as there
//     are examples or statistics.
// Run::report() tells a dual that is above its primal by rounding from one that is false by it.
double rounding_bound(const Objective& objective, double primal);

// What else is known of the rounding that a dual value went through, in units of 2^-53.
struct DualRounding {
  double error = 0;  // of every expected statistic relative to itself, at most
  double cancelled =
      0;  // of H(u_i)/beta + gamma(p_i.mu_i + q_i), where large numbers cancel: sqrt(c_1^2 + c_2^2 + ...)
};
// That of u_i(y) ~ exp beta s_i.chi(y), from implied_size() of every example, where `scale` of what cancels
// counts. Probabilities are as exact as the logarithms that they come from.
double implied_size(double log_z, std::span<const double> s, std::span<const double> mu);
DualRounding implied_rounding(const Problem& problem, std::span<const double> sizes, double beta,
                              double scale);
// The square of a rounding by the cancelling numbers of one example, of a size, where probabilities have an
// error.
double squared_rounding(std::size_t statistics, double size, double error);

// What is certain of the dual value  conjugates - g*(w(u)): less by what rounding may have added, for
// the same reasons. A dual is kept for other weights, with much smaller scores, and whoever reads it takes it
// for a bound: no tolerance comes with it.
double certain_dual(const Objective& objective, double conjugates, const DoubleWeights& w,
                    const DualRounding& rounding);
// The same of a value that is known, where conjugates and norm together are of a size.
double certain_dual(const Objective& objective, double value, double size, const DualRounding& rounding);

// Weights theta of a smooth loss, as the dual point u_i = pi_i(theta) that they imply sees them.
struct ImpliedPoint {
  double primal;        // P(theta)
  double squared_norm;  // |theta|^2
  double mismatch;      // g(theta) + g*(w) - theta.w at w = w(pi(theta)); without l1, |grad P|^2/(2 l2)
  std::span<const double> losses;  // L_i(theta), for each example
  std::span<const double> sizes;   // implied_size(L_i, F_i'theta, mu_i), for each example
};
// What is certain of D(pi(theta)) = P - mismatch. Much more than of the same number as conjugates and a norm:
// an error in w(u) counts there as often as theta is long, here as often as the gradient is. An error e of w
// changes the mismatch m by no more than sqrt(2 m/l2)|e| + |e|^2/(2 l2), with l1 or without: its gradient in
// w is soft(w, l1)/l2 - theta, of which m holds the square.
double certain_dual(const Objective& objective, const ImpliedPoint& point);

// What is certain of the dual of mixtures of the gold outputs and pi(theta), for a smooth loss and l1:
//   u_i = (1 - rho) [y = z_i] + rho pi_i(theta),   w(u) = rho w(pi),   a_i = (1 - rho) + rho p_i,
//                                                  p_i = pi_i(z_i) = exp(-beta L_i)
//   H(u_i) = rho H(pi_i) - a_i log a_i - rho(1 - p_i) log rho + rho p_i log p_i
// with the largest rho for which |rho w_j| <= l1, so that g*(rho w) = 0: what there is of a bound where l2 =
// 0, and where l2 is so small that soft(w, l1)^2/(2 l2) is far too large. `w` is w(pi(theta)), `primal`,
// `losses` and `sizes` are those of theta. -infinity where some weights are not under l1.
double gold_mixture_dual(const Objective& objective, const ImpliedPoint& point, double theta_times_w,
                         const DoubleWeights& w);
// The better of the two, or the one that there is: what is certain of the dual that weights imply, for a
// smooth loss. `w` is w(pi(theta)), and lost.
template <class Real>
double implied_dual(const Objective& objective, double primal, const BasicWeights<Real>& theta,
                    DoubleWeights& w, std::span<const double> losses, std::span<const double> sizes);

// evaluate_dual() with several threads, in the memory of an earlier value: w is as large as all weights in
// double precision.
void evaluate_dual(const Objective& objective, const DualState& dual, DualValue& result, Sweep& sweep);
// The dual at expected statistics. Requires beta = infinity: otherwise they would not say enough.
void evaluate_dual(const Objective& objective, const MeanState& means, DualValue& result, Sweep& sweep);

// P(theta), at exactly these weights, with several threads; so, too, below.
double evaluate_primal(const Objective& objective, const Weights& theta, Sweep& sweep);

// The certificate of theta with the duals at hand and their value. With `gaps`, also each example's part
//   g_i = L_i(theta) - [H(u_i)/beta + gamma(p_i.mu_i + q_i)] + theta.F_i(z_i - mu_i) >= 0,
//   P - D = sum_i omega_i g_i + g(theta) + g*(w(u)) - theta.w(u).
Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual,
                    const DualValue& value, Sweep& sweep, std::vector<double>* gaps = nullptr);
// The certificate of theta with a dual value at hand.
Certificate certify(const Objective& objective, const Weights& theta, const DualValue& value, Sweep& sweep);
// gamma(p_i.mu_i + q_i)
double expected_cost(const Objective& objective, std::size_t i, DoubleIn mu, Workspace& ws);

// The certificate of weights that come without duals.
Certificate certify_implied(const Objective& objective, const Weights& theta, Sweep& sweep);

}  // namespace espalier
