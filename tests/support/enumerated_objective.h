#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"
#include "espalier/learning/structured_problem.h"
#include "support/enumeration.h"

namespace espalier::test_support {

// The objective, its gradient and its dual by sums over all outputs, straight from their definitions. The
// problem is seen through score(), accumulate(), squared_norm(w), add_gold() and add_cost(), which have tests
// of their own, and all_outputs().

struct EnumeratedExample {
  std::vector<std::vector<double>> chi;
  std::vector<double> cost;  // p.chi(y) + q
  std::vector<double> z;
};

template <class Examples>
EnumeratedExample enumerate_example(const StructuredProblem<Examples>& problem, std::size_t i) {
  const auto& structure = problem.examples().structure(i);
  const std::size_t length = structure.num_statistics();
  EnumeratedExample e;
  std::vector<double> p(length);
  problem.add_cost(i, 1.0, p);
  for (const auto& y : all_outputs(structure)) {
    e.chi.emplace_back(length);
    structure.indicator(y, std::span<double>(e.chi.back()));
    e.cost.push_back(score_of(std::span<const double>(p), std::span<const double>(e.chi.back())) +
                     problem.cost_offset(i));
  }
  e.z.assign(length, 0);
  problem.add_gold(i, 1.0, e.z);
  return e;
}

// L_i(theta) = 1/beta log sum_y exp beta(theta.F_i(chi(y) - z_i) + gamma cost_i(y)), and the distribution
// pi_i over outputs; for beta = infinity the maximum, and no distribution.
struct EnumeratedLoss {
  double value;
  std::vector<double> pi;
  std::vector<double> margins;  // theta.F_i(chi(y) - z_i) + gamma cost_i(y)
};

template <class Examples, class Real>
EnumeratedLoss enumerate_loss(const StructuredProblem<Examples>& problem, const Loss& loss, std::size_t i,
                              const BasicWeights<Real>& theta) {
  const EnumeratedExample e = enumerate_example(problem, i);
  Workspace ws;
  std::vector<double> s(e.z.size());
  problem.score(i, theta, 1.0, s, ws);
  EnumeratedLoss result{};
  for (std::size_t y = 0; y < e.chi.size(); ++y) {
    double margin = loss.gamma * e.cost[y];
    for (std::size_t k = 0; k < s.size(); ++k) margin += s[k] * (e.chi[y][k] - e.z[k]);
    result.margins.push_back(margin);
  }
  const double highest = *std::max_element(result.margins.begin(), result.margins.end());
  result.value = highest;
  if (!loss.smooth()) return result;
  double sum = 0;
  for (const double margin : result.margins) sum += std::exp(loss.beta * (margin - highest));
  for (const double margin : result.margins)
    result.pi.push_back(std::exp(loss.beta * (margin - highest)) / sum);
  result.value += std::log(sum) / loss.beta;
  return result;
}

// Expected statistics under probabilities of the outputs.
inline std::vector<double> expectation(const EnumeratedExample& e, const std::vector<double>& probabilities) {
  std::vector<double> mu(e.z.size());
  for (std::size_t y = 0; y < e.chi.size(); ++y) {
    for (std::size_t k = 0; k < mu.size(); ++k) mu[k] += probabilities[y] * e.chi[y][k];
  }
  return mu;
}

template <class Examples>
double enumerate_primal(const StructuredProblem<Examples>& problem, const Loss& loss, double l2,
                        const Weights& theta) {
  double primal = l2 / 2 * problem.squared_norm(theta);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    primal += problem.weight(i) * enumerate_loss(problem, loss, i, theta).value;
  }
  return primal;
}

// D(u) for any distributions u_i over outputs, given as probabilities.
struct EnumeratedDual {
  double value = 0;
  DoubleWeights w;
  std::vector<double> conjugate;
};

template <class Examples>
EnumeratedDual enumerate_dual(const StructuredProblem<Examples>& problem, const Loss& loss, double l2,
                              const std::vector<std::vector<double>>& u) {
  EnumeratedDual dual;
  dual.w = DoubleWeights(problem.weight_shape());
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const EnumeratedExample e = enumerate_example(problem, i);
    double entropy = 0, cost = 0;
    for (std::size_t y = 0; y < e.chi.size(); ++y) {
      if (u[i][y] > 0) entropy -= u[i][y] * std::log(u[i][y]);
      cost += u[i][y] * e.cost[y];
    }
    dual.conjugate.push_back((loss.smooth() ? entropy / loss.beta : 0) + loss.gamma * cost);
    dual.value += problem.weight(i) * dual.conjugate.back();
    // w += omega_i F_i(z_i - mu_i)
    std::vector<double> difference = expectation(e, u[i]);
    for (std::size_t k = 0; k < difference.size(); ++k)
      difference[k] = problem.weight(i) * (e.z[k] - difference[k]);
    problem.accumulate(i, std::span<const double>(difference), dual.w, ws);
  }
  dual.value -= problem.squared_norm(dual.w) / (2 * l2);
  return dual;
}

}  // namespace espalier::test_support
