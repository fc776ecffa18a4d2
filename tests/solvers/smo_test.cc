#include "espalier/solvers/smo.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/frank_wolfe.h"
#include "support/all_outputs.h"
#include "support/allocations.h"
#include "support/eg_solution.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_objective.h"
#include "support/random_problem.h"
#include "support/random_treebank.h"

namespace espalier {
namespace {

using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;
using test_support::OwnedTreebankProblem;
using test_support::Transitions;
using testing::error_message;

const std::vector<Loss> kMaxima{Loss::svm(), {Loss::svm().beta, 2.5}};
const std::vector<Sampling> kOrders{Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic};

CliqueState at_gold(const Problem& problem) {
  CliqueState state(problem);
  state.start_at_gold(problem);
  return state;
}

struct Solution {
  Solution(const Objective& objective, const SmoOptions& options, const Observer& observer = {})
      : state(at_gold(objective.problem)), summary(smo(objective, options, state, theta, observer)) {}
  CliqueState state;
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

SmoOptions to_gap(double gap, double passes) {
  SmoOptions options;
  options.stopping.gap = gap;
  options.stopping.passes = passes;
  return options;
}
SmoOptions for_passes(double passes) { return to_gap(-1, passes); }

double dual_of(const Objective& objective, const CliqueState& state) {
  Sweep sweep;
  DualValue value;
  evaluate_dual(objective, state, value, sweep);
  return value.value;
}

// The certificate of the very weights and duals that a run leaves.
void expect_certified(const Objective& objective, const Solution& solution, const std::string& where) {
  EXPECT_EQ(dual_of(objective, solution.state), solution.last().dual) << where;
  EXPECT_EQ(evaluate_primal(objective, solution.theta), solution.last().primal) << where;
}

// In every order, to an optimum within EG's and Frank-Wolfe's bounds.
void expect_optimum(const Problem& problem, double l2, const std::string& name) {
  for (const Loss& loss : kMaxima) {
    const Objective objective{problem, loss, l2};
    EgOptions by_eg;
    by_eg.stopping = {1e-4, 5000};
    const test_support::EgSolution eg(objective, by_eg);
    ASSERT_EQ(eg.summary.status, Status::converged) << name << ": " << eg.summary.message;
    MeanState means(problem);
    Weights theta;
    FrankWolfeOptions by_frank_wolfe;
    by_frank_wolfe.stopping = {1e-4, 20000};
    const Summary frank_wolfes = frank_wolfe(objective, by_frank_wolfe, means, theta);
    ASSERT_EQ(frank_wolfes.status, Status::converged) << name << ": " << frank_wolfes.message;
    for (const Sampling order : kOrders) {
      SmoOptions options = to_gap(1e-4, 20000);
      options.sampling = order;
      const std::string where =
          name + ", " + loss.name() + ", order " + std::to_string(static_cast<int>(order));
      const Solution solution(objective, options);
      EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
      expect_gaps(solution.summary, where);
      expect_certified(objective, solution, where);
      for (const Progress& truth : {eg.last(), frank_wolfes.history.back()}) {
        EXPECT_LE(solution.last().dual, truth.primal) << where;
        EXPECT_GE(solution.last().primal, truth.dual) << where;
      }
    }
  }
}

TEST(Smo, ReachesTheOptimumOfClasses) {
  expect_optimum(OwnedProblem(1, {.examples = 20, .attributes = 8, .labels = 4}).problem, 2, "classes");
  expect_optimum(OwnedProblem(2, {.examples = 20, .attributes = 8, .labels = 4}).problem, 0.1,
                 "classes with little l2");
}

TEST(Smo, ReachesTheOptimumOfChains) {
  expect_optimum(OwnedChainProblem(1).problem, 2, "tied");
  expect_optimum(OwnedChainProblem(2, {.transitions = Transitions::few}).problem, 0.5, "few transitions");
  expect_optimum(OwnedChainProblem(3, {.labels = 4, .transitions = Transitions::different}).problem, 1,
                 "different transitions");
  expect_optimum(OwnedChainProblem(4, {.labels = 4, .constrained = true}).problem, 1, "constrained");
}

}  // namespace
}  // namespace espalier
