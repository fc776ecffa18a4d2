#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "solvers/eg_qp.h"
#include "support/enumerated_objective.h"

namespace espalier::test_support {

// The dual of a maximum with a variable for each output of each example, as a minimisation: its minimum is
// minus the optimum.
template <class Examples>
SimplexQp enumerated_qp(const StructuredProblem<Examples>& problem, double gamma, double l2) {
  SimplexQp qp;
  std::vector<DoubleWeights> w;  // omega_i F_i(z_i - chi(y))
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const EnumeratedExample e = enumerate_example(problem, i);
    const double omega = problem.weight(i);
    qp.sizes.push_back(e.chi.size());
    for (std::size_t y = 0; y < e.chi.size(); ++y) {
      std::vector<double> difference(e.z.size());
      for (std::size_t k = 0; k < difference.size(); ++k) difference[k] = omega * (e.z[k] - e.chi[y][k]);
      w.emplace_back(problem.weight_shape());
      problem.accumulate(i, std::span<const double>(difference), w.back(), ws);
      qp.linear.push_back(-omega * gamma * e.cost[y]);
    }
  }
  for (const DoubleWeights& a : w) {
    for (const DoubleWeights& b : w) {
      const auto x = a.values(), y = b.values();
      qp.matrix.push_back(std::inner_product(x.begin(), x.end(), y.begin(), 0.0) / l2);
    }
  }
  return qp;
}

// The nearest point of the simplex: what is left of each value above one level.
inline void project_on_simplex(std::span<double> v) {
  std::vector<double> sorted(v.begin(), v.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, level = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const double here = (sum - 1) / static_cast<double>(k + 1);
    if (sorted[k] > here) level = here;
  }
  for (double& x : v) x = std::max(0.0, x - level);
}

struct QpMinimum {
  double value = 0;
  double gap = 0;  // no point has a value below value - gap
};

// Accelerated projected gradient, begun afresh whenever it turns against the gradient.
inline QpMinimum minimise_by_projection(const SimplexQp& qp, double gap, int most_steps) {
  const std::size_t dimension = qp.linear.size();
  const auto project = [&](std::vector<double>& u) {
    std::size_t begin = 0;
    for (const std::size_t size : qp.sizes) {
      project_on_simplex(std::span(u).subspan(begin, size));
      begin += size;
    }
  };
  const double step = 1 / std::max(qp.eigenvalue_bound(), 1e-12);
  std::vector<double> u(dimension), ahead, before, gradient(dimension);
  project(u);
  ahead = u;
  double momentum = 1;
  QpMinimum result;
  for (int t = 0; t < most_steps; ++t) {
    qp(ahead, gradient);
    before = u;
    double against = 0;
    for (std::size_t j = 0; j < dimension; ++j) u[j] = ahead[j] - step * gradient[j];
    project(u);
    for (std::size_t j = 0; j < dimension; ++j) against += (ahead[j] - u[j]) * (u[j] - before[j]);
    if (against > 0) momentum = 1;
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t j = 0; j < dimension; ++j) ahead[j] = u[j] + (momentum - 1) / next * (u[j] - before[j]);
    momentum = next;
    if (t % 50 != 0) continue;
    result.value = qp(u, gradient);
    result.gap = 0;
    std::size_t begin = 0;
    for (const std::size_t size : qp.sizes) {
      double mean = 0, least = gradient[begin];
      for (std::size_t j = begin; j < begin + size; ++j) {
        mean += u[j] * gradient[j];
        least = std::min(least, gradient[j]);
      }
      result.gap += mean - least;
      begin += size;
    }
    if (result.gap <= gap) break;
  }
  return result;
}

}  // namespace espalier::test_support
