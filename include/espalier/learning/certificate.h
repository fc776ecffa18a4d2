#pragma once

#include <vector>

#include "espalier/learning/dual_state.h"
#include "espalier/learning/mean_state.h"
#include "espalier/learning/objective.h"
#include "espalier/learning/sweep.h"

namespace espalier {

// A primal and a dual value, both in double precision. Weak duality: dual <= optimum <= primal, so gap()
// bounds how far the weights are from the best possible ones, whatever rounding happened on the way to them.
struct Certificate {
  double primal = 0, dual = 0;
  double passes = 0;  // what it took
  bool approximate =
      false;  // inference was (Problem::exact): then the gap bounds nothing, and may be below zero
  double gap() const { return primal - dual; }
  double relative_gap() const { return primal > 0 ? gap() / primal : 0; }
};

// The dual at stored scores: D(u) = sum_i omega_i [H(u_i)/beta + gamma(p_i.mu_i + q_i)] - |w(u)|^2/(2 l2),
// everything computed anew from s_i in double precision.
struct DualValue {
  double value = 0;
  DoubleWeights w;                // w(u) = sum_i omega_i F_i(z_i - mu_i)
  std::vector<double> conjugate;  // H(u_i)/beta + gamma(p_i.mu_i + q_i), for each example
};
DualValue evaluate_dual(const Objective& objective, const DualState& dual);
// The same with several threads, in the memory of an earlier value: w is as large as all weights in double precision.
void evaluate_dual(const Objective& objective, const DualState& dual, DualValue& result, Sweep& sweep);
// The dual at expected statistics. Requires beta = infinity: otherwise they would not say enough.
void evaluate_dual(const Objective& objective, const MeanState& means, DualValue& result, Sweep& sweep);

// P(theta), at exactly these weights.
double evaluate_primal(const Objective& objective, const Weights& theta, Sweep& sweep);
double evaluate_primal(const Objective& objective, const Weights& theta);

// The certificate of theta with the duals at hand. With `gaps`, also each example's part
//   g_i = L_i(theta) - [H(u_i)/beta + gamma(p_i.mu_i + q_i)] + theta.F_i(z_i - mu_i) >= 0,
//   P - D = sum_i omega_i g_i + l2/2 |theta - w(u)/l2|^2.
Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual,
                    const DualValue& value, Sweep& sweep, std::vector<double>* gaps = nullptr);
Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual);
// The certificate of theta with a dual value at hand.
Certificate certify(const Objective& objective, const Weights& theta, const DualValue& value, Sweep& sweep);

// The certificate of weights that come without duals, from the dual point that they imply. For finite beta that is u_i = pi_i(theta),
// whose gap is |grad P|^2/(2 l2). For beta = infinity it is the best of pi_i, one best output an example, which alone would be far
// too loose, and the distributions at a few finite temperatures. Solvers keep the best dual value they have seen: any
// bound stays one.
Certificate certify_implied(const Objective& objective, const Weights& theta, Sweep& sweep);
Certificate certify_implied(const Objective& objective, const Weights& theta);

}  // namespace espalier
