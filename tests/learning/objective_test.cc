#include "espalier/learning/objective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "support/enumerated_objective.h"
#include "support/feature_checks.h"
#include "support/problems_of_all_kinds.h"
#include "support/random_objective.h"

namespace espalier::objective_test {
namespace {

using test_support::any_data;
using test_support::any_loss;
using test_support::any_smooth_loss;
using test_support::OwnedProblem;
using test_support::random_double_weights;

double dot(const DoubleWeights& a, const DoubleWeights& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.values().size(); ++j) sum += a.values()[j] * b.values()[j];
  return sum;
}

// a + scale b
DoubleWeights sum(const DoubleWeights& a, double scale, const DoubleWeights& b) {
  DoubleWeights result = a;
  for (std::size_t j = 0; j < a.values().size(); ++j) result.values()[j] += scale * b.values()[j];
  return result;
}

DoubleWeights any_weights(WeightShape shape) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  DoubleWeights w = random_double_weights(random, shape);
  const double size = *rc::gen::element(0.01, 1.0, 10.0);
  for (double& v : w.values()) v *= size;
  return w;
}

struct LossAndGradient {
  double value;
  DoubleWeights gradient;  // F_i(pi - z_i)
};

LossAndGradient evaluate(const Objective& objective, std::size_t i, const DoubleWeights& theta) {
  const Problem& problem = objective.problem;
  Workspace ws;
  std::vector<double> s(problem.num_statistics(i)), pi(s.size());
  LossAndGradient result{example_loss(objective, i, theta, s, pi, ws), DoubleWeights(problem.weight_shape())};
  problem.add_gold(i, -1.0, pi);
  problem.accumulate(i, std::span<const double>(pi), result.gradient, ws);
  return result;
}

RC_GTEST_PROP(ExampleLoss, SinglePrecisionAgreesWithDouble, ()) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_loss(), 1};
  const Weights theta = test_support::any_weights(owned.problem);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    std::vector<double> s(owned.problem.num_statistics(i)), pi(s.size());
    std::vector<float> float_s(s.size()), float_pi(s.size());
    const double loss = example_loss(objective, i, theta, s, pi, ws);
    RC_ASSERT(std::abs(example_loss(objective, i, theta, float_s, float_pi, ws) - loss) <=
              1e-5 * (1 + std::abs(loss) + 1 / objective.loss.beta));
    for (std::size_t k = 0; k < s.size(); ++k) {
      RC_ASSERT(std::abs(float_s[k] - s[k]) <= 1e-5 * (1 + std::abs(s[k])));
      // Of outputs that are best but for rounding either may be chosen.
      if (objective.loss.smooth()) RC_ASSERT(std::abs(float_pi[k] - pi[k]) <= 1e-3);
    }
  }
}

RC_GTEST_PROP(ExampleLoss, IsThatOfEnumeration, ()) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_loss(), 1};
  const DoubleWeights theta = any_weights(owned.problem.weight_shape());
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    std::vector<double> s(owned.problem.num_statistics(i)), pi(s.size()), scores(s.size());
    const double value = example_loss(objective, i, theta, s, pi, ws);
    const auto expected = test_support::enumerate_loss(owned.problem, objective.loss, i, theta);
    RC_ASSERT(std::abs(value - expected.value) <=
              1e-12 * (1 + std::abs(expected.value) + 1 / objective.loss.beta));
    owned.problem.score(i, theta, 1.0, scores, ws);
    RC_ASSERT(s == scores);

    const auto e = test_support::enumerate_example(owned.problem, i);
    if (objective.loss.smooth()) {
      const auto mu = test_support::expectation(e, expected.pi);
      for (std::size_t k = 0; k < mu.size(); ++k) RC_ASSERT(std::abs(pi[k] - mu[k]) <= 1e-12);
    } else {
      // The statistics of an output that reaches the maximum.
      const auto found = std::find(e.chi.begin(), e.chi.end(), pi);
      RC_ASSERT(found != e.chi.end());
      const double reached = expected.margins[static_cast<std::size_t>(found - e.chi.begin())];
      RC_ASSERT(std::abs(reached - expected.value) <= 1e-12 * (1 + std::abs(expected.value)));
    }
  }
}

RC_GTEST_PROP(ExampleLoss, OfFloatWeightsIsThatOfTheSameWeightsInDouble, (std::uint64_t seed)) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_loss(), 1};
  const Weights theta = test_support::random_weights(seed, owned.problem.weight_shape());
  DoubleWeights widened;
  widened.assign(theta);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    std::vector<double> s(owned.problem.num_statistics(i)), pi(s.size());
    const double value = example_loss(objective, i, theta, s, pi, ws);
    const double expected = example_loss(objective, i, widened, s, pi, ws);
    RC_ASSERT(std::abs(value - expected) <= 1e-13 * (1 + std::abs(expected)));
  }
}

RC_GTEST_PROP(ExampleLoss, IsTheSameWithoutExpectedStatistics, (std::uint64_t seed)) {
  const test_support::ProblemsOfAllKinds problems(seed);
  const Loss loss = any_smooth_loss();
  for (const auto& [name, problem, l2] : problems.all()) {
    RC_TAG(name);
    const Objective objective{problem, loss, l2};
    const Weights theta = test_support::random_weights(seed, problem.weight_shape());
    Workspace ws;
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<double> s(problem.num_statistics(i)), pi(s.size());
      const double expected = example_loss(objective, i, theta, s, pi, ws);
      const double alone = example_loss(objective, i, theta, s, std::span<double>(), ws);
      RC_ASSERT(std::abs(alone - expected) <= 1e-12 * (1 + std::abs(expected)));
    }
  }
}

// The gold output costs nothing, so it alone makes the sum at least 1 and the maximum at least 0.
RC_GTEST_PROP(ExampleLoss, IsNeverNegative, ()) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_loss(), 1};
  const DoubleWeights theta = any_weights(owned.problem.weight_shape());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto e = test_support::enumerate_example(owned.problem, i);
    const auto gold = std::find(e.chi.begin(), e.chi.end(), e.z);
    RC_ASSERT(gold != e.chi.end());
    RC_ASSERT(e.cost[static_cast<std::size_t>(gold - e.chi.begin())] == 0);
    RC_ASSERT(evaluate(objective, i, theta).value >= -1e-9);
  }
}

RC_GTEST_PROP(ExampleLoss, GradientIsThatOfCentralDifferences, ()) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_smooth_loss(), 1};
  const WeightShape shape = owned.problem.weight_shape();
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const DoubleWeights theta = random_double_weights(random, shape);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto at = evaluate(objective, i, theta);
    DoubleWeights direction = random_double_weights(random, shape);
    const double length = std::sqrt(dot(direction, direction));
    for (double& v : direction.values()) v /= length;
    constexpr double kStep = 1e-4;
    // The fourth-order formula: its error is beyond rounding's at this step, for every beta drawn.
    const auto difference = [&](double step) {
      return evaluate(objective, i, sum(theta, step, direction)).value -
             evaluate(objective, i, sum(theta, -step, direction)).value;
    };
    const double slope = (8 * difference(kStep) - difference(2 * kStep)) / (12 * kStep);
    const double expected = dot(at.gradient, direction);
    // 1/beta multiplies a logarithm, and its rounding
    RC_ASSERT(std::abs(slope - expected) <= 1e-9 * (1 + 0.01 / objective.loss.beta));
  }
}

// For every beta, infinity too: L(other) >= L(theta) + g.(other - theta).
RC_GTEST_PROP(ExampleLoss, LiesAboveItsTangents, ()) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_loss(), 1};
  const DoubleWeights theta = any_weights(owned.problem.weight_shape());
  const DoubleWeights other = any_weights(owned.problem.weight_shape());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto at = evaluate(objective, i, theta);
    const double tangent = at.value + dot(at.gradient, sum(other, -1, theta));
    RC_ASSERT(evaluate(objective, i, other).value >=
              tangent - 1e-10 * (1 + std::abs(tangent) + 1 / objective.loss.beta));
  }
}

// Martins et al. 2010, footnote 10: l2/a, beta/a and a gamma are the same problem with weights a theta, all
// values a times.
RC_GTEST_PROP(ExampleLoss, ScalesAsInMartinsFootnoteTen, ()) {
  const OwnedProblem owned(any_data());
  const Loss loss = any_loss();
  const double a = *rc::gen::element(0.25, 0.7, 3.0, 10.0);
  const Objective objective{owned.problem, loss, 1};
  const Objective scaled{owned.problem, {loss.beta / a, a * loss.gamma}, 1};
  const DoubleWeights theta = any_weights(owned.problem.weight_shape());
  const DoubleWeights scaled_theta = sum(theta, a - 1, theta);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto at = evaluate(objective, i, theta), there = evaluate(scaled, i, scaled_theta);
    RC_ASSERT(std::abs(there.value - a * at.value) <= 1e-12 * a * (1 + std::abs(at.value) + 1 / loss.beta));
    // a g(theta) is the derivative of a L(theta) by theta, g'(a theta) that by a theta: the same.
    if (loss.smooth()) {
      const DoubleWeights difference = sum(there.gradient, -1, at.gradient);
      RC_ASSERT(std::sqrt(dot(difference, difference)) <=
                1e-12 * (1 + std::sqrt(dot(at.gradient, at.gradient))));
    }
  }
}

}  // namespace
}  // namespace espalier::objective_test
