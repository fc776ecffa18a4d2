#pragma once

#include <cstddef>
#include <vector>

#include "espalier/learning/dual_state.h"

namespace espalier::test_support {

// sum_i omega_i KL(u_i | v_i) in double precision, from stored scores: KL = (s_u - s_v).mu_u - log Z_u + log
// Z_v.
inline double weighted_divergence(const Problem& problem, const DualState& u, const DualState& v) {
  Workspace ws;
  double sum = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const std::vector<double> s_u(u.s(i).begin(), u.s(i).end()), s_v(v.s(i).begin(), v.s(i).end());
    std::vector<double> mu_u(s_u.size()), mu_v(s_u.size());
    const double log_z_v = problem.log_partition(i, s_v, mu_v, ws),
                 log_z_u = problem.log_partition(i, s_u, mu_u, ws);
    double divergence = log_z_v - log_z_u;
    for (std::size_t k = 0; k < s_u.size(); ++k) divergence += (s_u[k] - s_v[k]) * mu_u[k];
    sum += problem.weight(i) * divergence;
  }
  return sum;
}

// sum_i omega_i KL(u_i | uniform)
inline double weighted_divergence_from_uniform(const Problem& problem, const DualState& u) {
  return weighted_divergence(problem, u, DualState(problem));
}

// sum_i omega_i log|Y_i|
inline double weighted_log_outputs(const Problem& problem) {
  Workspace ws;
  double sum = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const std::vector<double> zeros(problem.num_statistics(i));
    std::vector<double> mu(zeros.size());
    sum += problem.weight(i) * problem.log_partition(i, zeros, mu, ws);
  }
  return sum;
}

// sum_i omega_i R_i^2
inline double weighted_squared_diameters(const Problem& problem) {
  double sum = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) sum += problem.weight(i) * problem.squared_diameter(i);
  return sum;
}

}  // namespace espalier::test_support
