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

// What is certain of the dual value  conjugates - |w(u)|^2/(2 l2): less by what rounding may have added, for
// the same reasons. A dual is kept for other weights, with much smaller scores, and whoever reads it takes it
// for a bound: no tolerance comes with it.
double certain_dual(const Objective& objective, double conjugates, const DoubleWeights& w,
                    const DualRounding& rounding);
// The same of a value that is known, where conjugates and norm together are of a size.
double certain_dual(const Objective& objective, double value, double size, const DualRounding& rounding);

// Weights theta of a smooth loss, as the dual point u_i = pi_i(theta) that they imply sees them.
struct ImpliedPoint {
  double primal;                   // P(theta)
  double squared_norm;             // |theta|^2
  double squared_gradient;         // |grad P(theta)|^2
  std::span<const double> losses;  // L_i(theta), for each example
  std::span<const double> sizes;   // implied_size(L_i, F_i'theta, mu_i), for each example
};
// What is certain of D(pi(theta)) = P - |grad P|^2/(2 l2). Much more than of the same number as conjugates
// and a norm: an error in w(u) counts there as often as theta is long, here as often as the gradient is.
double certain_dual(const Objective& objective, const ImpliedPoint& point);

// evaluate_dual() with several threads, in the memory of an earlier value: w is as large as all weights in
// double precision.
void evaluate_dual(const Objective& objective, const DualState& dual, DualValue& result, Sweep& sweep);
// The dual at expected statistics. Requires beta = infinity: otherwise they would not say enough.
void evaluate_dual(const Objective& objective, const MeanState& means, DualValue& result, Sweep& sweep);

// P(theta), at exactly these weights, with several threads; so, too, below.
double evaluate_primal(const Objective& objective, const Weights& theta, Sweep& sweep);

// The certificate of theta with the duals at hand and their value. With `gaps`, also each example's part
//   g_i = L_i(theta) - [H(u_i)/beta + gamma(p_i.mu_i + q_i)] + theta.F_i(z_i - mu_i) >= 0,
//   P - D = sum_i omega_i g_i + l2/2 |theta - w(u)/l2|^2.
Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual,
                    const DualValue& value, Sweep& sweep, std::vector<double>* gaps = nullptr);
// The certificate of theta with a dual value at hand.
Certificate certify(const Objective& objective, const Weights& theta, const DualValue& value, Sweep& sweep);
// The certificate of weights that come without duals.
Certificate certify_implied(const Objective& objective, const Weights& theta, Sweep& sweep);

}  // namespace espalier
