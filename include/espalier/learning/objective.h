#pragma once

#include <cstddef>
#include <span>

#include "espalier/learning/loss.h"
#include "espalier/learning/problem.h"
#include "espalier/learning/regularizer.h"

namespace espalier {

// P(theta) = g(theta) + sum_i omega_i L_i(theta). Refers to the problem, which must outlive it.
struct Objective {
  const Problem& problem;
  Loss loss;
  Regularizer regularizer;
};

// L_i at theta, and in `pi` the expected statistics of pi_i(y) ~ exp beta(F_i'theta + gamma p_i).chi(y)
// (those of a best output, if beta is infinite), so that F_i(pi - z_i) is a (sub)gradient of L_i. One
// inference in double precision, without expected statistics where beta is finite and `pi` is empty. Leaves s
// = F_i'theta in `s`.
template <class Real>
double example_loss(const Objective& objective, std::size_t i, const BasicWeights<Real>& theta, DoubleOut s,
                    DoubleOut pi, Workspace& ws);
// The same in single precision, for solvers on their way.
double example_loss(const Objective& objective, std::size_t i, const Weights& theta, Out s, Out pi,
                    Workspace& ws);

}  // namespace espalier
