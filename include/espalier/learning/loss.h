#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace espalier {

// One family of losses (Martins et al. 2010, eq. 3), by its temperature beta and the scale gamma of the
// task's cost:
//   L_i(theta) = 1/beta log sum_y exp beta( theta.F_i(chi(y) - z_i) + gamma cost_i(y) )
// beta = infinity turns the log-sum-exp into a maximum. Or a difference of two of the family (their footnote
// 1), in which the gold output cancels and which is not convex:
//   dL_i(theta) = 1/beta log sum_y exp beta( theta.F_i chi(y) + gamma cost_i(y) )
//                                                     - 1/beta log sum_y exp beta theta.F_i chi(y)
// The ramp loss for beta = infinity; for beta = 1 log E exp(gamma cost), a bound on the expected cost.
struct Loss {
  double beta = 1, gamma = 0;
  bool difference = false;

  static Loss crf() { return {1, 0}; }
  static Loss svm() { return {std::numeric_limits<double>::infinity(), 1}; }
  static Loss softmax_margin() { return {1, 1}; }
  static Loss perceptron() { return {std::numeric_limits<double>::infinity(), 0}; }
  static Loss ramp() { return {std::numeric_limits<double>::infinity(), 1, true}; }
  static Loss risk() { return {1, 1, true}; }

  // "crf", "svm", "softmax-margin", "perceptron", or "BETA,GAMMA" with BETA in (0, inf] and GAMMA >= 0; for
  // differences "ramp", "risk", or "delta,BETA,GAMMA" with GAMMA > 0. Throws Error for anything else.
  static Loss parse(std::string_view text);
  // The name, or "BETA,GAMMA" or "delta,BETA,GAMMA": what parse() reads.
  std::string name() const;

  // The member of the family that a difference begins with; else the loss itself.
  Loss convex() const { return {beta, gamma}; }

  bool smooth() const { return std::isfinite(beta); }
  double inverse_beta() const { return smooth() ? 1 / beta : 0; }
  friend bool operator==(const Loss&, const Loss&) = default;
};

}  // namespace espalier
