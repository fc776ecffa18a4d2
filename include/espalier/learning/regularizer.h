#pragma once

#include "espalier/base/soft_threshold.h"
#include "espalier/features/weights.h"
#include "espalier/learning/problem.h"

namespace espalier {

class Team;

// What the objective charges for weights, and its conjugate:
//   g(theta) = l2/2 |theta|^2 + l1 sum_j |theta_j|
//                                                           the elastic net; without l1 the squared norm
//                                                           alone
//   g*(w)    = max_theta theta.w - g(theta) = |soft(w, l1)|^2/(2 l2),   at theta = soft(w, l1)/l2
// g* is smooth with constant 1/l2 whatever l1 is:
//   g*(w + d) <= g*(w) + theta.d + |d|^2/(2 l2)
// (without l1 the two are equal), so that steps in the dual which count with the right side gain at least
// what they believe. l1 may leave out some rows; then soft() leaves them as they are.
struct Regularizer {
  double l2;
  SoftThreshold l1 = {};

  Regularizer(double of_squares, const SoftThreshold& of_absolutes = {})  // NOLINT: l2 alone is a regulariser
      : l2(of_squares), l1(of_absolutes) {}

  bool sparse() const { return l1.any(); }
  // g(theta) and g*(w). Requires l2 > 0 of the second.
  template <class Real>
  double value(const Problem& problem, const BasicWeights<Real>& theta) const;
  template <class Real>
  double conjugate(const Problem& problem, const BasicWeights<Real>& w) const;
  // theta = soft(w, l1)/l2, rounded to what theta is.
  template <class To, class From>
  void assign(BasicWeights<To>& theta, const BasicWeights<From>& w, Team& team) const;
  // x <- the minimiser of g(theta) + |theta - x|^2/(2 step): soft(x, step l1)/(1 + step l2)
  void proximal_step(double step, DoubleWeights& x) const;
  // Weights for w(u): features score them as l2 theta.
  template <class Real>
  BasicWeights<Real> dual_weights(const WeightShape& shape) const {
    BasicWeights<Real> w(shape);
    w.set_threshold(l1);
    return w;
  }
  // g(theta) + g*(w) - theta.w, which is never below 0: how far theta is from the minimiser that goes with w.
  // As a sum of squares and products that are not below 0 either:
  //   l2/2 |theta - soft(w, l1)/l2|^2 + sum_j |theta_j| (l1 - sign(theta_j) clamp(w_j, -l1, l1))
  template <class Real>
  double mismatch(const Problem& problem, const BasicWeights<Real>& theta, const DoubleWeights& w) const;
};

}  // namespace espalier
