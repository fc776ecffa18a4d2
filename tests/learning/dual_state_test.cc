#include "espalier/learning/dual_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "support/random_problem.h"

namespace espalier::dual_state_test {
namespace {

using test_support::OwnedProblem;

constexpr float kKappa = 3;

// Seven labels: scores of neighbouring examples share vectors, so that a step outside shows.
OwnedProblem problem_with(bool cost_matrix) {
  test_support::RandomDataOptions options;
  options.labels = 7;
  options.cost_matrix = cost_matrix;
  return OwnedProblem(5, options);
}

// log Z and mu of an example are those of its scores.
void expect_consistent(const DualState& dual, std::size_t i) {
  double sum = 0;
  for (const float s : dual.s(i)) sum += std::exp(static_cast<double>(s));
  EXPECT_NEAR(dual.log_z(i), std::log(sum), 1e-6);
  for (std::size_t k = 0; k < dual.s(i).size(); ++k) {
    EXPECT_NEAR(dual.mu(i)[k], std::exp(static_cast<double>(dual.s(i)[k])) / sum, 1e-6);
  }
}

TEST(DualState, StartsUniform) {
  const OwnedProblem owned = problem_with(true);
  const DualState dual(owned.problem);
  ASSERT_EQ(dual.size(), owned.problem.size());
  for (std::size_t i = 0; i < dual.size(); ++i) {
    ASSERT_EQ(dual.s(i).size(), 7u);
    // H = log Z - s.mu = log Z, since s = 0
    EXPECT_NEAR(dual.log_z(i), std::log(7.0), 1e-7);
    for (std::size_t k = 0; k < 7; ++k) {
      EXPECT_EQ(dual.s(i)[k], 0);
      EXPECT_NEAR(dual.mu(i)[k], 1.0 / 7, 1e-8);
    }
  }
}

TEST(DualState, NearGoldEveryUnitOfCostIsKappaNats) {
  const OwnedProblem owned = problem_with(false);
  DualState dual(owned.problem);
  dual.start_near_gold(owned.problem, kKappa);
  // 0/1 cost: gold has 1 / (1 + 6 exp(-kappa))
  const double gold = 1 / (1 + 6 * std::exp(-static_cast<double>(kKappa)));
  for (std::size_t i = 0; i < dual.size(); ++i) {
    for (std::size_t k = 0; k < 7; ++k) {
      const bool is_gold = k == owned.data.gold[i];
      EXPECT_EQ(dual.s(i)[k], is_gold ? 0 : -kKappa);
      EXPECT_NEAR(dual.mu(i)[k], is_gold ? gold : (1 - gold) / 6, 1e-7);
    }
    expect_consistent(dual, i);
  }
}

TEST(DualState, NearGoldWithACostMatrix) {
  const OwnedProblem owned = problem_with(true);
  DualState dual(owned.problem);
  dual.start_near_gold(owned.problem, kKappa);
  for (std::size_t i = 0; i < dual.size(); ++i) {
    for (std::size_t k = 0; k < 7; ++k)
      EXPECT_EQ(dual.s(i)[k], -kKappa * owned.data.costs[owned.data.gold[i] * 7 + k]);
    expect_consistent(dual, i);
  }
}

TEST(DualState, RefreshFollowsTheScoresOfItsExampleAlone) {
  const OwnedProblem owned = problem_with(true);
  DualState dual(owned.problem);
  Random random(8);
  Workspace ws;
  for (std::size_t i = 0; i < dual.size(); i += 2) {
    for (float& s : dual.s(i)) s = static_cast<float>(8 * random.uniform() - 4);
    dual.refresh(owned.problem, i, ws);
  }
  const DualState untouched(owned.problem);
  for (std::size_t i = 0; i < dual.size(); ++i) {
    expect_consistent(dual, i);
    if (i % 2 == 0) continue;
    EXPECT_EQ(dual.log_z(i), untouched.log_z(i));
    for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(dual.mu(i)[k], untouched.mu(i)[k]);
  }
}

TEST(DualState, StartsForgetWhatWasThere) {
  const OwnedProblem owned = problem_with(true);
  DualState dual(owned.problem);
  dual.start_near_gold(owned.problem, kKappa);
  dual.start_uniform(owned.problem);
  const DualState fresh(owned.problem);
  for (std::size_t i = 0; i < dual.size(); ++i) {
    EXPECT_EQ(dual.log_z(i), fresh.log_z(i));
    for (std::size_t k = 0; k < 7; ++k) {
      EXPECT_EQ(dual.s(i)[k], 0);
      EXPECT_EQ(dual.mu(i)[k], fresh.mu(i)[k]);
    }
  }
}

TEST(DualState, StartsAtTheDistributionsThatWeightsImply) {
  const OwnedProblem owned = problem_with(true);
  const Weights theta = test_support::random_weights(3, owned.problem.weight_shape());
  DualState dual(owned.problem);
  dual.curvature(0) = 5;
  dual.start_at(owned.problem, theta, 2, 0.5);
  EXPECT_EQ(dual.curvature(0), 0);
  Workspace ws;
  for (std::size_t i = 0; i < dual.size(); ++i) {
    std::vector<double> s(7);
    owned.problem.score(i, theta, 2.0, s, ws);
    owned.problem.add_cost(i, 2 * 0.5, s);
    for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(dual.s(i)[k], s[k], 1e-5);
    expect_consistent(dual, i);
  }
}

TEST(DualState, IsRestoredFromScoresAndCurvatures) {
  const OwnedProblem owned = problem_with(true);
  DualState dual(owned.problem);
  dual.start_near_gold(owned.problem, kKappa);
  for (std::size_t i = 0; i < dual.size(); ++i) dual.curvature(i) = static_cast<float>(i);
  DualState other(owned.problem);
  other.restore(owned.problem, dual.scores(), dual.curvatures());
  for (std::size_t i = 0; i < dual.size(); ++i) {
    EXPECT_TRUE(std::equal(dual.s(i).begin(), dual.s(i).end(), other.s(i).begin()));
    EXPECT_TRUE(std::equal(dual.mu(i).begin(), dual.mu(i).end(), other.mu(i).begin()));
    EXPECT_EQ(dual.log_z(i), other.log_z(i));
    EXPECT_EQ(other.curvature(i), static_cast<float>(i));
  }
}

}  // namespace
}  // namespace espalier::dual_state_test
