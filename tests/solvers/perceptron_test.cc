#include "solvers/perceptron.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "support/naive_online.h"
#include "support/random_objective.h"

namespace espalier::perceptron_test {
namespace {

using test_support::distance;
using test_support::MulticlassData;
using test_support::naive_online;
using test_support::online_order;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::random_data;
using test_support::random_weights;
using test_support::RandomDataOptions;

OnlineOptions passes(double count, std::uint64_t seed = 1, bool average = true) {
  OnlineOptions options;
  options.stopping.passes = count;
  options.stopping.gap = -1;  // go on, whatever the gap
  options.report_every = 1e9;
  options.seed = seed;
  options.average = average;
  return options;
}

// omega_i(z_i - chi(y)), y the best output.
std::vector<double> naive_update(const Problem& problem, std::size_t i, const DoubleWeights& theta) {
  Workspace ws;
  std::vector<double> s(problem.num_statistics(i)), delta(s.size());
  problem.score(i, theta, 1.0, s, ws);
  problem.argmax(i, s, delta, ws);
  for (double& d : delta) d *= -problem.weight(i);
  problem.add_gold(i, problem.weight(i), delta);
  return delta;
}

void expect_naive(const Problem& problem, std::uint64_t seed) {
  // Not zero: of equal outputs one is the best by rounding.
  const Weights start = random_weights(seed, problem.weight_shape(), 0.5);
  const auto expected =
      naive_online(problem, online_order(problem.size(), seed, 4 * problem.size()), start,
                   [&](std::size_t i, const DoubleWeights& at) { return naive_update(problem, i, at); });
  Weights mean = start, last = start;
  perceptron({problem, Loss::svm(), 1}, passes(4, seed), mean);
  perceptron({problem, Loss::crf(), 100}, passes(4, seed, false), last);
  EXPECT_LT(distance(mean, expected.mean), 1e-5) << "seed " << seed;
  EXPECT_LT(distance(last, expected.last), 1e-5) << "seed " << seed;
}

TEST(Perceptron, PassesInFull) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    expect_naive(OwnedProblem(seed).problem, seed);
    expect_naive(OwnedChainProblem(seed).problem, seed);
    expect_naive(OwnedDependencyProblem(seed).problem, seed);
  }
}

TEST(Perceptron, MakesNoMoreMistakesOnSeparableData) {
  RandomDataOptions shape;
  shape.noise = 0;
  shape.density = 1;
  const OwnedProblem owned(2, shape);
  const Problem& problem = owned.problem;
  const Objective objective{problem, Loss::svm(), 1};
  Weights theta(problem.weight_shape()), later = theta;
  perceptron(objective, passes(300, 1, false), theta);
  perceptron(objective, passes(310, 1, false), later);
  ASSERT_GT(euclidean_squared_norm(theta), 0);
  EXPECT_EQ(distance(theta, later), 0);
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<float> s(problem.num_statistics(i)), wrong(s.size());
    problem.score(i, theta, 1.0f, s, ws);
    problem.argmax(i, s, wrong, ws);
    problem.add_gold(i, -1.0f, wrong);
    EXPECT_EQ(std::count_if(wrong.begin(), wrong.end(), [](float x) { return x != 0; }), 0) << i;
  }
}

TEST(Perceptron, FailsOutsideTheRangeOfFloats) {
  MulticlassData data = random_data(7);
  for (double& omega : data.omega) omega *= 2e38;
  const OwnedProblem owned(data);
  Weights theta(owned.problem.weight_shape());
  const Summary summary = perceptron({owned.problem, Loss::crf(), 1}, passes(50), theta);
  EXPECT_EQ(summary.status, Status::failed);
  ASSERT_EQ(summary.history.size(), 1u);
  EXPECT_EQ(summary.history[0].primal, std::numeric_limits<double>::infinity());
  EXPECT_LT(summary.history[0].passes, 50) << "it ends there";
}

}  // namespace
}  // namespace espalier::perceptron_test
