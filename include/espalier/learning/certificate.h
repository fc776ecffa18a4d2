#pragma once

#include <vector>

#include "espalier/base/progress.h"
#include "espalier/features/weights.h"

namespace espalier {

class DualState;
struct Objective;

// A primal and a dual value, both in double precision. Weak duality: dual <= optimum <= primal, so gap()
// bounds how far the weights are from the best possible ones, whatever rounding happened on the way to them.
struct Certificate {
  double primal = 0, dual = 0;
  double passes = 0;  // what it took
  Inference inference = Inference::exact;
  // What primal and dual may be apart by rounding alone, where that matters: the dual is above the primal, or
  // so near that digits are at their end.
  double rounding = 0;
  // Then the gap bounds nothing, and may be below zero.
  bool approximate() const { return inference == Inference::approximate; }
  double gap() const { return gap_of(primal, dual, rounding); }
  double relative_gap() const { return primal > 0 ? gap() / primal : 0; }
};

// The dual at stored scores: D(u) = sum_i omega_i [H(u_i)/beta + gamma(p_i.mu_i + q_i)] - g*(w(u)),
// everything computed anew from s_i in double precision, and certain.
struct DualValue {
  double value = 0;
  DoubleWeights w;                // w(u) = sum_i omega_i F_i(z_i - mu_i)
  std::vector<double> conjugate;  // H(u_i)/beta + gamma(p_i.mu_i + q_i), for each example
};
DualValue evaluate_dual(const Objective& objective, const DualState& dual);
// P(theta), at exactly these weights.
double evaluate_primal(const Objective& objective, const Weights& theta);

// The certificate of theta with the duals at hand.
Certificate certify(const Objective& objective, const Weights& theta, const DualState& dual);
// The certificate of weights that come without duals, from the dual point that they imply. For finite beta
// that is u_i = pi_i(theta), whose gap without l1 is |grad P|^2/(2 l2). For beta = infinity it is the best of
// pi_i, one best output an example, which alone would be far too loose, and the distributions at a few finite
// temperatures. Solvers keep the best dual value they have seen: any bound stays one.
Certificate certify_implied(const Objective& objective, const Weights& theta);

}  // namespace espalier
