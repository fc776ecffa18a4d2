#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "solvers/lbfgs.h"
#include "support/eg_solution.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier::eg_threads_test {
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

EgOptions options_for(std::size_t workers) {
  EgOptions options;
  options.threads = workers;
  options.report_every = 1;
  options.stopping.gap = 1e-5;
  return options;
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
}  // namespace espalier::eg_threads_test
