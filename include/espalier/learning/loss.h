#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace espalier {

// One family of losses (Martins et al. 2010, eq. 3), by its temperature beta and the scale gamma of the
// task's cost:
//   L_i(theta) = 1/beta log sum_y exp beta( theta.F_i(chi(y) - z_i) + gamma cost_i(y) )
// beta = infinity turns the log-sum-exp into a maximum.
struct Loss {
  double beta = 1, gamma = 0;

  static Loss crf() { return {1, 0}; }
  static Loss svm() { return {std::numeric_limits<double>::infinity(), 1}; }
  static Loss softmax_margin() { return {1, 1}; }
  static Loss perceptron() { return {std::numeric_limits<double>::infinity(), 0}; }

  // "crf", "svm", "softmax-margin", "perceptron", or "BETA,GAMMA" with BETA in (0, inf] and GAMMA >= 0.
  // Throws Error for anything else.
  static Loss parse(std::string_view text);
  // The name, or "BETA,GAMMA": what parse() reads.
  std::string name() const;

  bool smooth() const { return std::isfinite(beta); }
  double inverse_beta() const { return smooth() ? 1 / beta : 0; }
  friend bool operator==(const Loss&, const Loss&) = default;
};

}  // namespace espalier
