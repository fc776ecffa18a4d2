#pragma once

#include "espalier/learning/objective.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/visits.h"

namespace espalier {

// What batch solvers need to know of distributions u_i over the outputs of all examples. All of it is linear
// in u, so mixtures of distributions have the same mixtures of moments, and nobody has to store u.
struct Moments {
  DoubleWeights w;   // w(u) = sum_i omega_i F_i(z_i - mu_i)
  double cost = 0;   // sum_i omega_i (p_i.mu_i + q_i)
  double error = 0;  // of mu_i relative to itself (DualRounding)
};

// D(u) of a maximum.
double dual_of_maximum(const Objective& objective, const Moments& u);
// What of that value is certain: inference at low temperatures is as inexact as its scores are large.
double certain_dual(const Objective& objective, const Moments& u, double dual);

// out <- (1 - tau) a + tau b
void mix(const DoubleWeights& a, const DoubleWeights& b, double tau, DoubleWeights& out);
void mix(const Moments& a, const Moments& b, double tau, Moments& out);

// sum_i omega_i R_i^2, R_i a bound on |F_i(z_i - chi(y))|. It bounds how much w(u) moves:
//   |w(u) - w(v)|^2 <= sum_i omega_i R_i^2 sum_j omega_j |u_j - v_j|_1^2
//       <= 2 sum_i omega_i R_i^2 sum_j omega_j KL(u_j|v_j)
// by Cauchy-Schwarz and Pinsker.
double total_squared_diameter(const Problem& problem);

// Passes over all examples, for solvers that move all of them at once.
class BatchPass {
 public:
  BatchPass(const Objective& objective, Sweep& sweep, Visits& visits)
      : objective_(objective), sweep_(sweep), visits_(visits) {}

  Team& team() { return sweep_.team(); }

  // Sets w to the sum of F_i delta_i of what `fill` says, and `sum` to the sum of what it returns. Each
  // example is a visit. False if the run ended before the last one: then the sums are worth nothing.
  bool run(DoubleWeights& w, const Sweep::Fill& fill, double& sum);

  // The moments of u_i(y) ~ exp beta(F_i'theta + gamma p_i).chi(y), beta and gamma finite and not those of
  // the objective, and in `loss` what goes with them,
  //   sum_i omega_i/beta log sum_y exp beta( theta.F_i(chi(y) - z_i) + gamma cost_i(y) ).
  bool gibbs(const Loss& at, const DoubleWeights& theta, Moments& moments, double& loss);

 private:
  const Objective& objective_;
  Sweep& sweep_;
  Visits& visits_;
  std::vector<double> costs_, sizes_;
};

}  // namespace espalier
