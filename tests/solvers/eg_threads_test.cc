#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solvers/eg_in_turns.h"
#include "solvers/lbfgs.h"
#include "support/eg_solution.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier {
namespace {

using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using Solution = test_support::EgSolution;

// A few hundred sequences that have much in common, as words have.
test_support::RandomChainOptions many_sequences() {
  test_support::RandomChainOptions options;
  options.sequences = 600;
  options.longest = 12;
  options.labels = 5;
  options.attributes = 150;
  options.density = 0.05;
  options.unit_values = true;
  return options;
}

// The gap at this many passes, between the two reports around it. Requires a report that late.
double gap_at(const Summary& summary, double passes) {
  const auto& history = summary.history;
  for (std::size_t t = 1; t < history.size(); ++t) {
    if (history[t].passes < passes) continue;
    const double part = (passes - history[t - 1].passes) / (history[t].passes - history[t - 1].passes);
    return std::exp((1 - part) * std::log(history[t - 1].gap()) + part * std::log(history[t].gap()));
  }
  return 0;
}

EgOptions options_for(std::size_t workers) {
  EgOptions options;
  options.threads = workers;
  options.report_every = 1;
  options.stopping.gap = 1e-5;
  return options;
}

// Each of them misses the steps of all the others.
TEST(EgWorkers, GetAlongInTurns) {
  const OwnedChainProblem owned(3, many_sequences());
  for (const double l2 : {10.0, 1.0}) {
    for (const Loss loss : {Loss::crf(), Loss::softmax_margin()}) {
      const Objective objective{owned.problem, loss, l2};
      const Solution alone(objective, options_for(1));
      ASSERT_EQ(alone.summary.status, Status::converged);
      for (const std::size_t workers : {2, 8, 16}) {
        const std::string where =
            loss.name() + ", l2 " + std::to_string(l2) + ", " + std::to_string(workers) + " workers";
        const Solution together(objective, options_for(workers), eg_in_turns);
        EXPECT_EQ(together.summary.status, Status::converged) << where;
        test_support::expect_gaps(together.summary, where);
        EXPECT_LE(together.last().passes, (workers == 2 ? 1.15 : 1.6) * alone.last().passes) << where;
        EXPECT_NEAR(together.last().primal, alone.last().primal, 2e-5 * alone.last().primal) << where;
      }
    }
  }
}

// One run differs from the next by more than a second worker costs: so this is the mean of several.
// Attributes are about as rare as those of words.
TEST(EgWorkers, TwoAreAsGoodAsOneAfterEachPass) {
  test_support::RandomChainOptions rare = many_sequences();
  rare.sequences = 2000;
  rare.attributes = 2000;
  rare.density = 0.004;
  const OwnedChainProblem owned(3, rare);
  for (const double l2 : {4.0, 1.0}) {
    const Objective objective{owned.problem, Loss::crf(), l2};
    std::vector<Summary> alone, together;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      EgOptions options = options_for(1);
      options.stopping.gap = 1e-4;
      options.seed = seed;
      alone.push_back(Solution(objective, options, eg_in_turns).summary);
      options.threads = 2;
      together.push_back(Solution(objective, options, eg_in_turns).summary);
    }
    double shortest = std::numeric_limits<double>::infinity();
    for (const auto* runs : {&alone, &together}) {
      for (const Summary& run : *runs) shortest = std::min(shortest, run.history.back().passes);
    }
    for (double pass = 2; pass <= shortest; ++pass) {
      double log_ratio = 0;
      for (std::size_t r = 0; r < alone.size(); ++r) {
        log_ratio += std::log(gap_at(together[r], pass) / gap_at(alone[r], pass));
      }
      EXPECT_LE(std::exp(log_ratio / static_cast<double>(alone.size())), 1.1)
          << "l2 " << l2 << ", pass " << pass;
    }
  }
}

TEST(EgWorkers, InTurnsAreRepeatable) {
  const OwnedChainProblem owned(4, many_sequences());
  const Objective objective{owned.problem, Loss::crf(), 2};
  const Solution a(objective, options_for(16), eg_in_turns), b(objective, options_for(16), eg_in_turns);
  EXPECT_TRUE(std::equal(a.theta.values().begin(), a.theta.values().end(), b.theta.values().begin()));
  EXPECT_EQ(a.summary.history.size(), b.summary.history.size());
}

// Threads reach the optimum of one, and what they report is the certificate of the weights that they leave.
void expect_same_optimum(const Problem& problem, const Loss& loss, double l2, double gap) {
  const Objective objective{problem, loss, l2};
  EgOptions options = options_for(1);
  options.stopping.gap = gap;
  const Solution alone(objective, options);
  for (const std::size_t threads : {2, 4, 16}) {
    const std::string where = loss.name() + ", " + std::to_string(threads) + " threads";
    options.threads = threads;
    const Solution together(objective, options);
    ASSERT_EQ(together.summary.status, Status::converged) << where;
    test_support::expect_gaps(together.summary, where);
    EXPECT_LE(together.last().dual, alone.last().primal) << where;
    EXPECT_LE(alone.last().dual, together.last().primal) << where;
    const Certificate truth = certify(objective, together.theta, together.dual);
    EXPECT_EQ(truth.primal, together.last().primal) << where;
    EXPECT_EQ(truth.dual, together.last().dual) << where;
  }
}

TEST(EgThreads, ReachTheOptimumOfChains) {
  const OwnedChainProblem owned(5, many_sequences());
  for (const Loss loss : {Loss::crf(), Loss::softmax_margin()})
    expect_same_optimum(owned.problem, loss, 2, 1e-5);
  expect_same_optimum(owned.problem, Loss::svm(), 10, 1e-2);
}

TEST(EgThreads, ReachTheOptimumOfClasses) {
  const OwnedProblem owned(6);
  for (const Loss loss : {Loss::crf(), Loss::softmax_margin()})
    expect_same_optimum(owned.problem, loss, 1, 1e-6);
}

// Sentences with some arcs, labelled; and with all.
std::vector<test_support::RandomDependencyOptions> two_corpora() {
  std::vector<test_support::RandomDependencyOptions> corpora(2);
  for (auto& options : corpora) {
    options.sentences = 60;
    options.longest = 7;
  }
  corpora[0].shape.num_labels = 3;
  corpora[0].pruned = true;
  corpora[1].shape.projective = false;
  return corpora;
}

TEST(EgThreads, ReachTheOptimumOfTrees) {
  for (const auto& options : two_corpora()) {
    const OwnedDependencyProblem owned(11, options);
    expect_same_optimum(owned.problem, Loss::crf(), 10, 1e-4);
    expect_same_optimum(owned.problem, Loss::svm(), 100, 2e-2);
  }
}

TEST(EgThreads, TakeTheStepsOfThePaperToo) {
  const OwnedChainProblem owned(7, many_sequences());
  const Objective objective{owned.problem, Loss::crf(), 4};
  for (const EgStep step : {EgStep::paper, EgStep::safe}) {
    EgOptions options = options_for(3);
    options.step = step;
    options.stopping.gap = 1e-2;
    EXPECT_EQ(Solution(objective, options).summary.status, Status::converged);
  }
}

TEST(EgThreads, StopWhenOutOfPasses) {
  const OwnedChainProblem owned(8, many_sequences());
  EgOptions options = options_for(4);
  options.stopping.gap = 0;
  options.stopping.passes = 3.5;
  const Solution solution({owned.problem, Loss::crf(), 1}, options);
  EXPECT_EQ(solution.summary.status, Status::out_of_passes);
  EXPECT_NEAR(solution.last().passes, 3.5, 0.3);
}

TEST(EgThreads, StopWhenInterrupted) {
  const OwnedChainProblem owned(9, many_sequences());
  std::atomic<bool> stop{true};
  EgOptions options = options_for(4);
  options.stopping.stop = &stop;
  const Solution solution({owned.problem, Loss::crf(), 1}, options);
  EXPECT_EQ(solution.summary.status, Status::stopped);
  EXPECT_LT(solution.last().passes, 0.1);
}

void expect_same_bits(const Problem& problem, double l2) {
  const auto solve = [&](std::size_t threads) {
    LbfgsOptions options;
    options.threads = threads;
    options.stopping.gap = 1e-6;
    Weights theta(problem.weight_shape());
    const Summary summary = lbfgs({problem, Loss::crf(), l2}, options, theta);
    EXPECT_EQ(summary.status, Status::converged);
    return theta;
  };
  const Weights alone = solve(1);
  for (const std::size_t threads : {2, 5}) {
    const Weights together = solve(threads);
    EXPECT_TRUE(std::equal(alone.values().begin(), alone.values().end(), together.values().begin()))
        << threads;
  }
}

TEST(LbfgsThreads, LeaveTheSameBitsOfChains) {
  expect_same_bits(OwnedChainProblem(10, many_sequences()).problem, 1);
}

TEST(LbfgsThreads, LeaveTheSameBitsOfTrees) {
  for (const auto& options : two_corpora()) expect_same_bits(OwnedDependencyProblem(12, options).problem, 10);
}

}  // namespace
}  // namespace espalier
