#include "espalier/learning/regularizer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/team.h"
#include "support/feature_checks.h"
#include "support/random_chain.h"
#include "support/random_problem.h"

namespace espalier::regularizer_test {
namespace {

using test_support::check_thresholds;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;
using test_support::random_double_weights;

// Any of them, with some rows left out or none.
Regularizer any_regularizer(std::size_t rows) {
  const auto first = *rc::gen::inRange<std::size_t>(0, rows),
             last = *rc::gen::inRange<std::size_t>(first, rows + 1);
  return {std::pow(10.0, *rc::gen::inRange(-3, 3)), {*rc::gen::element(0.0, 0.1, 0.5, 3.0), first, last}};
}

double product(const DoubleWeights& a, const DoubleWeights& b) { return euclidean_inner_product(a, b); }

// g(theta), written the plain way.
double plain_value(const Regularizer& regularizer, const DoubleWeights& theta) {
  double sum = 0;
  for (std::size_t r = 0; r < theta.shape().rows; ++r) {
    const bool charged = r >= regularizer.l1.first && r < regularizer.l1.last;
    for (std::size_t k = 0; k < theta.shape().width; ++k) {
      const double x = theta.row(r)[k];
      sum += regularizer.l2 / 2 * x * x + (charged ? regularizer.l1.value * std::abs(x) : 0);
    }
  }
  return sum;
}

RC_GTEST_PROP(Regularizer, ConjugateIsTheMaximum, (std::uint64_t seed)) {
  const OwnedProblem owned(seed % 100);
  const WeightShape shape = owned.problem.weight_shape();
  const Regularizer regularizer = any_regularizer(shape.rows);
  Random random(seed);
  const DoubleWeights w = random_double_weights(random, shape);
  Team alone(1);
  DoubleWeights theta;
  regularizer.assign(theta, w, alone);
  const double conjugate = regularizer.conjugate(owned.problem, w);
  const auto close = [&](double a, double b) {
    return std::abs(a - b) <= 1e-12 * (1 + std::abs(a) + std::abs(b));
  };
  RC_ASSERT(close(regularizer.value(owned.problem, theta), plain_value(regularizer, theta)));
  RC_ASSERT(close(conjugate, product(theta, w) - plain_value(regularizer, theta)));
  // No other weights have more.
  for (int round = 0; round < 10; ++round) {
    DoubleWeights other = random_double_weights(random, shape);
    const double size = std::pow(10.0, *rc::gen::inRange(-4, 2));
    for (std::size_t j = 0; j < other.values().size(); ++j)
      other.values()[j] = theta.values()[j] + size * other.values()[j];
    const double value = product(other, w) - plain_value(regularizer, other);
    RC_ASSERT(value <= conjugate + 1e-12 * (1 + std::abs(value)));
    // g(theta) + g*(w) - theta.w
    const double mismatch = regularizer.mismatch(owned.problem, other, w);
    RC_ASSERT(mismatch >= 0);
    RC_ASSERT(std::abs(mismatch - (conjugate - value)) <=
              1e-11 * (1 + conjugate + std::abs(product(other, w)) + plain_value(regularizer, other)));
  }
}

// What steps in the dual count with.
RC_GTEST_PROP(Regularizer, ConjugateIsSmooth, (std::uint64_t seed)) {
  const OwnedProblem owned(seed % 100);
  const WeightShape shape = owned.problem.weight_shape();
  const Regularizer regularizer = any_regularizer(shape.rows);
  Random random(seed);
  const DoubleWeights w = random_double_weights(random, shape), step = random_double_weights(random, shape);
  Team alone(1);
  DoubleWeights theta, moved = w;
  regularizer.assign(theta, w, alone);
  for (std::size_t j = 0; j < moved.values().size(); ++j) moved.values()[j] += step.values()[j];
  const double bound = regularizer.conjugate(owned.problem, w) + product(theta, step) +
                       euclidean_squared_norm(step) / (2 * regularizer.l2);
  RC_ASSERT(regularizer.conjugate(owned.problem, moved) <= bound + 1e-12 * (1 + std::abs(bound)));
}

RC_GTEST_PROP(Regularizer, ProximalStepIsTheMinimum, (std::uint64_t seed)) {
  const OwnedProblem owned(seed % 100);
  const WeightShape shape = owned.problem.weight_shape();
  const Regularizer regularizer = any_regularizer(shape.rows);
  Random random(seed);
  const DoubleWeights x = random_double_weights(random, shape);
  const double step = std::pow(10.0, *rc::gen::inRange(-2, 2));
  const auto value_at = [&](const DoubleWeights& theta) {
    DoubleWeights difference = theta;
    for (std::size_t j = 0; j < x.values().size(); ++j) difference.values()[j] -= x.values()[j];
    return plain_value(regularizer, theta) + euclidean_squared_norm(difference) / (2 * step);
  };
  DoubleWeights least = x;
  regularizer.proximal_step(step, least);
  for (int round = 0; round < 10; ++round) {
    DoubleWeights other = random_double_weights(random, shape);
    const double size = std::pow(10.0, *rc::gen::inRange(-4, 2));
    for (std::size_t j = 0; j < other.values().size(); ++j)
      other.values()[j] = least.values()[j] + size * other.values()[j];
    RC_ASSERT(value_at(least) <= value_at(other) * (1 + 1e-12) + 1e-12);
  }
}

// Rows that l1 leaves out are scored as they are.
RC_GTEST_PROP(Regularizer, ThresholdsMayLeaveRowsOut, (std::uint64_t seed)) {
  Random random(seed);
  const auto check = [&](const Problem& problem) {
    const std::size_t rows = problem.weight_shape().rows;
    const auto first = *rc::gen::inRange<std::size_t>(0, rows),
               last = *rc::gen::inRange<std::size_t>(first, rows + 1);
    const std::string found = check_thresholds(problem, {0, first, last}, random);
    if (!found.empty()) RC_FAIL(found);
  };
  const OwnedProblem classes(seed % 100);
  check(classes.problem);
  const OwnedChainProblem chains(seed % 100);
  check(chains.problem);
}

}  // namespace
}  // namespace espalier::regularizer_test
