#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "support/enumerated_objective.h"

namespace espalier::test_support {

// Primal, dual and gaps against their enumeration, for problems of every structure. Each check is to be
// called inside a property.

// What sums of the size of the objective may lose to rounding.
inline double rounding(const Certificate& certificate) {
  return 1e-11 * (1 + std::abs(certificate.primal) + std::abs(certificate.dual));
}

// u_i(y) ~ exp(s_i.chi(y)) for each example.
template <class Examples>
std::vector<std::vector<double>> probabilities(const StructuredProblem<Examples>& problem,
                                               const DualState& dual) {
  std::vector<std::vector<double>> u;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    u.push_back(enumerate(problem.examples().structure(i), dual.s(i)).probabilities);
  }
  return u;
}

// A dual value before it was lowered by what rounding may have added to it.
inline double raw_dual(const Problem& problem, double l2, const DualValue& value) {
  double sum = -problem.squared_norm(value.w) / (2 * l2);
  for (std::size_t i = 0; i < problem.size(); ++i) sum += problem.weight(i) * value.conjugate[i];
  return sum;
}

template <class Examples>
void check_dual(const StructuredProblem<Examples>& problem, const Loss& loss, double l2,
                const DualState& dual) {
  Sweep sweep;
  const DualValue value = evaluate_dual({problem, loss, l2}, dual);
  const auto expected = enumerate_dual(problem, loss, l2, probabilities(problem, dual));
  const double norm = problem.squared_norm(expected.w);
  double cancelled = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    double size = 0;  // of what cancels in H = log Z - s.mu
    for (std::size_t k = 0; k < dual.s(i).size(); ++k) size += std::abs(dual.s(i)[k]) * dual.mu(i)[k];
    cancelled += problem.weight(i) * size;
    RC_ASSERT(std::abs(value.conjugate[i] - expected.conjugate[i]) <=
              1e-11 * (1 + 1 / loss.beta) + 3e-13 * size / loss.beta);
  }
  const double raw = raw_dual(problem, l2, value);
  RC_ASSERT(value.value <= raw);
  RC_ASSERT(std::abs(raw - expected.value) <=
            1e-11 * (1 + std::abs(expected.value) + norm / l2 + 1 / loss.beta) +
                3e-13 * cancelled / loss.beta);
  for (std::size_t j = 0; j < expected.w.values().size(); ++j) {
    RC_ASSERT(std::abs(value.w.values()[j] - expected.w.values()[j]) <= 1e-12);
  }
}

template <class Examples>
void check_primal(const StructuredProblem<Examples>& problem, const Loss& loss, double l2,
                  const Weights& theta) {
  Workspace ws;
  const double expected = enumerate_primal(problem, loss, l2, theta);
  RC_ASSERT(std::abs(evaluate_primal({problem, loss, l2}, theta) - expected) <=
            1e-12 * (1 + expected + 1 / loss.beta));
}

// P - D = sum_i omega_i g_i + l2/2 |theta - w(u)/l2|^2, each g_i the divergence that it stands for.
template <class Examples>
void check_gaps(const StructuredProblem<Examples>& problem, const Loss& loss, double l2, const Weights& theta,
                const DualState& dual) {
  const Objective objective{problem, loss, l2};
  Workspace ws;
  Sweep sweep;
  const DualValue value = evaluate_dual(objective, dual);
  std::vector<double> gaps{-7};
  const Certificate certificate = certify(objective, theta, dual, value, sweep, &gaps);
  RC_ASSERT(gaps.size() == problem.size());

  const auto u = probabilities(problem, dual);
  double parts = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    RC_ASSERT(gaps[i] >= -1e-9);
    parts += problem.weight(i) * gaps[i];
    // KL(u || pi)/beta, or the maximum less the mean
    const auto at = enumerate_loss(problem, loss, i, theta);
    double expected = loss.smooth() ? 0 : at.value;
    double largest = std::abs(at.value);  // what rounding errors are measured by
    for (std::size_t y = 0; y < u[i].size(); ++y) {
      if (u[i][y] == 0) continue;
      largest = std::max(largest, std::abs(at.margins[y]));
      if (loss.smooth()) {
        // log pi(y) = beta(margin - L)
        expected += u[i][y] * (std::log(u[i][y]) / loss.beta - (at.margins[y] - at.value));
      } else {
        expected -= u[i][y] * at.margins[y];
      }
    }
    RC_ASSERT(std::abs(gaps[i] - expected) <= 1e-11 * (1 + largest + 1 / loss.beta));
  }
  DoubleWeights difference;
  difference.assign(theta);
  for (std::size_t j = 0; j < difference.values().size(); ++j) {
    difference.values()[j] -= value.w.values()[j] / l2;
  }
  parts += l2 / 2 * problem.squared_norm(difference);
  // Sums of scores of the size of 1 may cancel to a primal of rounding alone, of either sign.
  RC_ASSERT(std::abs(certificate.primal - raw_dual(problem, l2, value) - parts) <=
            1e-9 * (std::abs(certificate.primal) + std::abs(certificate.dual)) + 1e-13);

  // With gaps, without them, and with everything left to certify(): the same.
  const Certificate plain = certify(objective, theta, dual, value, sweep),
                    whole = certify(objective, theta, dual);
  RC_ASSERT(std::abs(plain.primal - certificate.primal) <= rounding(certificate));
  RC_ASSERT(plain.dual == certificate.dual);
  RC_ASSERT(whole.primal == plain.primal);
  RC_ASSERT(whole.dual == plain.dual);
}

}  // namespace espalier::test_support
