#include "learning/clique_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/subset_problem.h"
#include "support/log_conditionals.h"
#include "support/random_objective.h"

namespace espalier::clique_state_test {
namespace {

using test_support::any_chain_data;
using test_support::any_data;
using test_support::any_dual;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;

// The distributions of scores, as clique marginals.
CliqueState cliques_of(const Problem& problem, const DualState& dual) {
  CliqueState state(problem);
  Workspace ws;
  for (std::size_t i = 0; i < dual.size(); ++i)
    problem.factored()->clique_marginals(i, dual.s(i), state.cliques(i), state.mu(i), ws);
  return state;
}

// Clique marginals and statistics in double precision.
void exact_cliques(const ChainProblem& problem, std::size_t i, DoubleIn s, DoubleOut cliques, DoubleOut mu,
                   Workspace& ws) {
  const Chain chain = problem.examples().structure(i);
  chain.clique_marginals(s, cliques, ws);
  chain.statistics(cliques, mu);
}
void exact_cliques(const MulticlassProblem& problem, std::size_t i, DoubleIn s, DoubleOut cliques,
                   DoubleOut mu, Workspace& ws) {
  problem.log_partition(i, s, mu, ws);
  std::copy(mu.begin(), mu.end(), cliques.begin());
}

template <class AProblem>
void check_float_marginals(const AProblem& problem) {
  const DualState dual = any_dual(problem);
  const CliqueState state = cliques_of(problem, dual);
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const std::vector<double> s(dual.s(i).begin(), dual.s(i).end());
    std::vector<double> cliques(state.cliques(i).size()), mu(s.size());
    std::vector<float> again(cliques.size()), again_mu(s.size());
    exact_cliques(problem, i, s, cliques, mu, ws);
    for (std::size_t k = 0; k < cliques.size(); ++k)
      RC_ASSERT(std::abs(state.cliques(i)[k] - cliques[k]) <= 2e-5);
    for (std::size_t k = 0; k < mu.size(); ++k) RC_ASSERT(std::abs(state.mu(i)[k] - mu[k]) <= 5e-5);
    const double log_z = problem.factored()->clique_marginals(i, dual.s(i), again, again_mu, ws);
    RC_ASSERT(std::abs(log_z - dual.log_z(i)) <= 1e-5 * (1 + std::abs(log_z)));
  }
}
RC_GTEST_PROP(CliqueState, FloatMarginalsOfClassesAreThoseOfDoubles, ()) {
  check_float_marginals(OwnedProblem(any_data()).problem);
}
RC_GTEST_PROP(CliqueState, FloatMarginalsOfChainsAreThoseOfDoubles, ()) {
  check_float_marginals(OwnedChainProblem(any_chain_data()).problem);
}

// KL(x|to) on the way, by entropies and log conditionals in double precision, and its derivatives by central
// differences.
template <class AProblem>
void check_divergence_along(const AProblem& problem) {
  const Factored& factored = *problem.factored();
  // No mass so small that floats have none of it: divergences would be infinite.
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto draw = [&] {
    DualState dual(problem);
    for (std::size_t i = 0; i < dual.size(); ++i) {
      for (float& x : dual.s(i)) x = static_cast<float>(4 * random.uniform());
    }
    return cliques_of(problem, dual);
  };
  const CliqueState from = draw(), to = draw();
  const float step = *rc::gen::element(0.1f, 0.35f, 0.8f);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const auto along = factored.divergence_along(i, from.means(i), to.means(i), step);
    std::vector<double> target(to.cliques(i).begin(), to.cliques(i).end()), log_target(target.size());
    const auto structure = problem.examples().structure(i);
    test_support::log_conditionals(structure, target, log_target);
    const auto divergence_at = [&](double at) {
      std::vector<double> x(target.size());
      double sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] = (1 - at) * from.cliques(i)[k] + at * target[k];
        if (x[k] > 0) sum -= x[k] * log_target[k];
      }
      return sum - structure.clique_entropy(x);
    };
    constexpr double kStep = 1e-4;
    const double before = divergence_at(step - kStep), here = divergence_at(step),
                 after = divergence_at(step + kStep);
    const double first = (after - before) / (2 * kStep),
                 second = (after - 2 * here + before) / (kStep * kStep);
    // Rounded marginals of pairs and of the nodes that they share do not quite fit together, times
    // logarithms.
    RC_ASSERT(std::abs(along.value - here) <= 1e-4 * (1 + here));
    RC_ASSERT(std::abs(along.first - first) <= 2e-3 * (1 + std::abs(first)));
    RC_ASSERT(std::abs(along.second - second) <= 1e-2 * (1 + std::abs(second)));
  }
}
RC_GTEST_PROP(CliqueState, DivergenceOfClassesAlongALine, ()) {
  check_divergence_along(OwnedProblem(any_data()).problem);
}
RC_GTEST_PROP(CliqueState, DivergenceOfChainsAlongALine, ()) {
  check_divergence_along(OwnedChainProblem(any_chain_data()).problem);
}

// What is rebuilt is a distribution, with the marginals up to their rounding, and has the dual that scores
// have.
void check_dual(const Problem& problem) {
  const Objective objective{problem, test_support::any_smooth_loss(), test_support::any_l2()};
  const DualState dual = any_dual(problem);
  const CliqueState state = cliques_of(problem, dual);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> mu(state.mu(i).size());
    problem.factored()->rebuild(i, state.cliques(i), mu);
    for (std::size_t k = 0; k < mu.size(); ++k) RC_ASSERT(std::abs(mu[k] - state.mu(i)[k]) <= 5e-5);
  }
  const DualValue expected = evaluate_dual(objective, dual);
  DualValue value;
  Sweep sweep;
  evaluate_dual(objective, state, value, sweep);
  const double size = std::abs(expected.value) + problem.squared_norm(expected.w) / objective.regularizer.l2 +
                      1 + objective.loss.inverse_beta();
  RC_ASSERT(std::abs(value.value - expected.value) <= 1e-4 * size);
}
RC_GTEST_PROP(CliqueState, HasTheDualOfTheScoresOfClasses, ()) {
  check_dual(OwnedProblem(any_data()).problem);
}
RC_GTEST_PROP(CliqueState, HasTheDualOfTheScoresOfChains, ()) {
  check_dual(OwnedChainProblem(any_chain_data()).problem);
}

// Marginals that are wrong by more than rounding still give a distribution: its dual is a bound.
RC_GTEST_PROP(CliqueState, ADisturbedStateStillBounds, ()) {
  const OwnedChainProblem owned(any_chain_data());
  const Objective objective{owned.problem, test_support::any_smooth_loss(), test_support::any_l2()};
  CliqueState state = cliques_of(owned.problem, any_dual(owned.problem));
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t i = 0; i < state.size(); ++i) {
    for (float& p : state.cliques(i)) p *= static_cast<float>(0.5 + random.uniform());
  }
  DualValue value;
  Sweep sweep;
  evaluate_dual(objective, state, value, sweep);
  Weights theta;
  theta.assign(value.w, 1 / objective.regularizer.l2);
  const double primal = evaluate_primal(objective, theta);
  RC_ASSERT(value.value <= primal + 1e-11 * (1 + std::abs(primal) + std::abs(value.value)));
}

TEST(CliqueState, BeginsNearTheGoldOutputs) {
  const OwnedChainProblem owned(1);
  const CliqueState state(owned.problem);
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::vector<float> gold(state.mu(i).size());
    owned.problem.add_gold(i, 1.0f, gold);
    for (std::size_t k = 0; k < gold.size(); ++k) EXPECT_NEAR(state.mu(i)[k], gold[k], 1e-3);
    EXPECT_GE(state.entropy(i), 0);
    EXPECT_LE(state.entropy(i), 1e-2);
  }
}

TEST(CliqueState, OfASubsetIsThatOfTheWhole) {
  const OwnedChainProblem owned(2);
  const SubsetProblem subset(owned.problem, {5, 1});
  const CliqueState whole(owned.problem), part(subset);
  ASSERT_EQ(part.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(part.cliques(0), whole.cliques(5)));
  EXPECT_TRUE(std::ranges::equal(part.mu(1), whole.mu(1)));
  EXPECT_EQ(part.entropy(0), whole.entropy(5));
  std::vector<double> a(part.mu(0).size()), b(a.size());
  EXPECT_EQ(subset.factored()->rebuild(0, part.cliques(0), a),
            owned.problem.factored()->rebuild(5, whole.cliques(5), b));
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace espalier::clique_state_test
