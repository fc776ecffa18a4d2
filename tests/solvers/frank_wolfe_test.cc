#include "solvers/frank_wolfe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "learning/forwarding_problem.h"
#include "learning/sweep.h"
#include "support/allocations.h"
#include "support/eg_solution.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"
#include "support/until_gap.h"

namespace espalier::frank_wolfe_test {
namespace {

using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::MulticlassData;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::random_data;
using test_support::Transitions;
using testing::error_message;

const std::vector<Loss> kMaxima{Loss::svm(), {Loss::svm().beta, 2.5}};
const std::vector<Sampling> kOrders{Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic};

struct Kind {
  bool corrective, average;
};
const std::vector<Kind> kKinds{{true, false}, {false, false}, {true, true}, {false, true}};

struct Solution {
  Solution(const Objective& objective, const FrankWolfeOptions& options, const Observer& observer = {})
      : means(objective.problem), summary(frank_wolfe(objective, options, means, theta, observer)) {}
  MeanState means;
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

FrankWolfeOptions to_gap(double gap, double passes) {
  return test_support::until_gap<FrankWolfeOptions>(gap, passes);
}
// Runs out of passes, whatever its gap.
FrankWolfeOptions for_passes(double passes) { return to_gap(-1, passes); }

// The certificate of the very weights and duals that a run leaves.
void expect_certified(const Objective& objective, const Solution& solution, const std::string& where) {
  Sweep sweep;
  DualValue value;
  evaluate_dual(objective, solution.means, value, sweep);
  const double primal = evaluate_primal(objective, solution.theta);
  EXPECT_EQ(value.value, solution.last().dual) << where;
  EXPECT_EQ(primal, solution.last().primal) << where;
}

// In every order, with and without averaging, to an optimum within EG's bounds.
void expect_optimum(const Problem& problem, double l2, double gap, const std::string& name) {
  for (const Loss& loss : kMaxima) {
    const Objective objective{problem, loss, l2};
    EgOptions by_eg;
    by_eg.stopping.gap = gap;
    by_eg.stopping.passes = 5000;
    const test_support::EgSolution truth(objective, by_eg);
    ASSERT_EQ(truth.summary.status, Status::converged) << name << ": " << truth.summary.message;
    for (const Sampling order : kOrders) {
      for (const auto& [corrective, average] : kKinds) {
        FrankWolfeOptions options = to_gap(gap, 20000);
        options.sampling = order;
        options.corrective = corrective;
        options.average = average;
        options.report_every = 100;
        const std::string where = name + ", " + loss.name() + (corrective ? ", corrective" : "") +
                                  (average ? ", averaged, order " : ", order ") +
                                  std::to_string(static_cast<int>(order));
        const Solution solution(objective, options);
        EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
        expect_gaps(solution.summary, where);
        EXPECT_LE(solution.last().dual, truth.last().primal) << where;
        EXPECT_GE(solution.last().primal, truth.last().dual) << where;
        expect_certified(objective, solution, where);
      }
    }
  }
}

TEST(FrankWolfe, ReachesTheOptimumOfClasses) {
  expect_optimum(OwnedProblem(1, {.examples = 20, .attributes = 8, .labels = 4}).problem, 2, 1e-3, "classes");
}

TEST(FrankWolfe, ReachesTheOptimumOfChains) {
  expect_optimum(OwnedChainProblem(1).problem, 2, 3e-3, "tied");
  expect_optimum(OwnedChainProblem(1, {.transitions = Transitions::few, .constrained = true}).problem, 2,
                 3e-3, "few transitions, constrained");
  expect_optimum(OwnedChainProblem(1, {.order = 2}).problem, 2, 3e-3, "order 2");
}

TEST(FrankWolfe, ReachesTheOptimumOfTrees) {
  for (const bool projective : {false, true}) {
    const OwnedDependencyProblem owned(2, {.sentences = 10, .longest = 6, .shape = {projective, true, 2}});
    expect_optimum(owned.problem, 100, 5e-3, projective ? "projective" : "nonprojective");
  }
}

// Every visit is reported.
TEST(FrankWolfe, NeverLowersTheDual) {
  const OwnedProblem classes(2, {.examples = 8, .attributes = 5, .labels = 3});
  const OwnedChainProblem chains(2, {.sequences = 8});
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    for (const Loss& loss : kMaxima) {
      for (const double l2 : {0.05, 0.5, 20.0}) {
        for (const bool corrective : {false, true}) {
          FrankWolfeOptions options = for_passes(30);
          options.corrective = corrective;
          options.sampling = Sampling::random;
          options.report_every = 1e-9;
          const Summary summary = Solution({*problem, loss, l2}, options).summary;
          ASSERT_GE(summary.history.size(), 25u);
          expect_gaps(summary, loss.name());
          expect_rising_dual(summary, loss.name());
        }
      }
    }
  }
}

// The first visit, from the formulas: with one example, eta = clip( l2 g / |omega F(chi* - z)|^2 omega ).
TEST(FrankWolfe, TakesTheBestStepTowardsTheBestOutput) {
  MulticlassData data = random_data(3, {.examples = 1, .attributes = 4, .labels = 3, .density = 1});
  data.omega = {1.7};
  const OwnedProblem owned(data);
  for (const double l2 : {0.01, 3.0, 1000.0}) {
    const Objective objective{owned.problem, Loss::svm(), l2};
    for (const bool corrective : {false, true}) {
      FrankWolfeOptions options = for_passes(1);
      options.corrective = corrective;
      const Solution solution(objective, options);
      // At theta = 0 the output with the largest cost is the best one.
      std::vector<double> cost(3), delta(3);
      owned.problem.add_cost(0, 1.0, cost);
      const auto best = static_cast<std::size_t>(std::max_element(cost.begin(), cost.end()) - cost.begin());
      delta[best] += 1;
      owned.problem.add_gold(0, -1.0, delta);
      Workspace ws;
      const double q = 1.7 * owned.problem.squared_norm(0, std::span<const double>(delta), ws) / l2;
      const double eta = std::min(1.0, cost[best] / q);
      for (std::size_t k = 0; k < 3; ++k) {
        const double expected = (k == data.gold[0] ? 1 - eta : 0) + (k == best ? eta : 0);
        EXPECT_NEAR(solution.means.mu(0)[k], expected, 1e-6) << l2;
      }
      EXPECT_NEAR(solution.last().dual, 1.7 * (eta * cost[best] - eta * eta * q / 2), 1e-5) << l2;
    }
  }
}

// theta of averaged duals is the mean of the weights after each visit, the k-th with weight k.
TEST(FrankWolfe, AveragesTheWeightsOfAllVisits) {
  const OwnedProblem owned(4, {.examples = 5, .attributes = 4});
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  FrankWolfeOptions options = for_passes(6);
  options.sampling = Sampling::cyclic;
  options.average = true;
  const Solution averaged(objective, options);
  DoubleWeights mean(owned.problem.weight_shape());
  double total = 0;
  for (int k = 1; k <= 30; ++k) {
    options = for_passes(k / 5.0 - 0.01);
    options.sampling = Sampling::cyclic;
    options.recent_mean = false;
    const Solution so_far(objective, options);
    ASSERT_NEAR(so_far.last().passes, k / 5.0, 1e-9);
    for (std::size_t j = 0; j < mean.values().size(); ++j)
      mean.values()[j] += k * static_cast<double>(so_far.theta.values()[j]);
    total += k;
  }
  for (std::size_t j = 0; j < mean.values().size(); ++j)
    EXPECT_NEAR(averaged.theta.values()[j], mean.values()[j] / total, 1e-5);
}

// Corrective visits are what makes the last digits affordable.
TEST(FrankWolfe, CorrectiveVisitsNeedFewerPasses) {
  const OwnedChainProblem owned(7, {.sequences = 40, .attributes = 30});
  const Objective objective{owned.problem, Loss::svm(), 1};
  FrankWolfeOptions options = to_gap(1e-4, 20000);
  const Solution corrective(objective, options);
  options.corrective = false;
  const Solution plain(objective, options);
  ASSERT_EQ(corrective.summary.status, Status::converged) << corrective.summary.message;
  EXPECT_LT(10 * corrective.last().passes, plain.last().passes);
}

// The duals are the same with the mean of recent weights and without; the primal at every third report, which
// looks at both points, is never higher, and lower most of the time.
TEST(FrankWolfe, TheMeanOfRecentWeightsLowersThePrimal) {
  const OwnedChainProblem owned(7, {.sequences = 40, .attributes = 30});
  const Objective objective{owned.problem, Loss::svm(), 0.2};
  FrankWolfeOptions options = for_passes(100);
  const Summary with = Solution(objective, options).summary;
  options.recent_mean = false;
  const Summary without = Solution(objective, options).summary;
  ASSERT_EQ(with.history.size(), without.history.size());
  std::size_t lower = 0;
  for (std::size_t k = 0; k < with.history.size(); ++k) {
    EXPECT_EQ(with.history[k].dual, without.history[k].dual) << k;
    if (k % 3 == 0) {
      EXPECT_LE(with.history[k].primal, without.history[k].primal) << k;
    }
    lower += with.history[k].primal < without.history[k].primal ? 1 : 0;
  }
  EXPECT_GT(2 * lower, with.history.size());
}

// From where the means are: the next run begins with the dual that the last one ended with.
TEST(FrankWolfe, GoesOnFromTheMeansThatItIsGiven) {
  const OwnedChainProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 1};
  Solution solution(objective, for_passes(10));
  const double before = solution.last().dual;
  FrankWolfeOptions options = for_passes(0.01);
  const Summary more = frank_wolfe(objective, options, solution.means, solution.theta);
  EXPECT_GE(more.history.front().dual, before - 1e-6 * before);
}

TEST(FrankWolfe, PassesCountInferences) {
  const OwnedProblem owned(6);
  class Counting final : public ForwardingProblem {
   public:
    using ForwardingProblem::ForwardingProblem;
    mutable std::size_t argmaxes = 0;
    using ForwardingProblem::argmax;
    double argmax(std::size_t i, In s, Out mu, Workspace& ws) const override {
      ++argmaxes;
      return inner_.argmax(i, s, mu, ws);
    }
  };
  const Counting counting(owned.problem);
  const Solution solution({counting, Loss::svm(), 1}, for_passes(10.4));
  EXPECT_EQ(counting.argmaxes, 312u);
  EXPECT_EQ(solution.last().passes, 10.4);
  EXPECT_EQ(solution.summary.status, Status::out_of_passes);
}

TEST(FrankWolfe, SameSeedSameBits) {
  const OwnedChainProblem owned(4);
  const Objective objective{owned.problem, Loss::svm(), 1};
  for (const auto& [corrective, average] : kKinds) {
    FrankWolfeOptions options = for_passes(7);
    options.corrective = corrective;
    options.average = average;
    const Solution one(objective, options), two(objective, options);
    options.seed = 2;
    const Solution other(objective, options);
    options.seed = 1;
    options.threads = 2;
    const Solution two_threads(objective, options);
    options.threads = 3;
    const Solution three_threads(objective, options);
    EXPECT_TRUE(std::ranges::equal(one.theta.values(), two.theta.values()));
    EXPECT_TRUE(std::ranges::equal(two_threads.theta.values(), three_threads.theta.values()));
    EXPECT_FALSE(std::ranges::equal(one.theta.values(), other.theta.values()));
  }
}

TEST(FrankWolfe, InterruptLeavesACertifiedTheta) {
  const OwnedProblem owned(8);
  std::atomic<bool> stop{false};
  for (const auto& [corrective, average] : kKinds) {
    stop = false;
    FrankWolfeOptions options = for_passes(1000);
    options.corrective = corrective;
    options.stopping.stop = &stop;
    options.average = average;
    options.report_every = 1;
    const Objective objective{owned.problem, Loss::svm(), 1};
    const Solution solution(objective, options, [&](const Progress& now, const Weights&) {
      if (now.epoch == 3) stop = true;
      return Control::go_on;
    });
    EXPECT_EQ(solution.summary.status, Status::stopped);
    EXPECT_EQ(solution.summary.history.size(), 3u);
    expect_certified(objective, solution, "interrupted");

    // Pressed before the start.
    const Solution early(objective, options);
    EXPECT_EQ(early.summary.status, Status::stopped);
    ASSERT_EQ(early.summary.history.size(), 1u);
    EXPECT_EQ(early.last().passes, 0);
    expect_certified(objective, early, "early");
  }
}

TEST(FrankWolfe, RefusesOtherLosses) {
  const OwnedProblem owned(1);
  const auto message = [&](const Loss& loss) {
    return error_message([&] { Solution({owned.problem, loss, 1}, {}); });
  };
  EXPECT_EQ(message(Loss::crf()),
            "frank-wolfe: the loss crf has a finite beta; expected svm, or another loss with infinite beta; "
            "sdca takes the same steps for finite ones");
  EXPECT_EQ(message(Loss::perceptron()),
            "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) "
            "or a finite beta");
}

// Allocations of a run that reports once, at its end. The program's allocator counts (eg_allocation_test.cc).
std::size_t allocations_of(const Objective& objective, FrankWolfeOptions options, double passes) {
  options.stopping.gap = -1;
  options.stopping.passes = passes;
  options.report_every = std::numeric_limits<double>::infinity();
  MeanState means(objective.problem);
  Weights theta;
  const std::size_t before = test_support::allocations;
  const Summary summary = frank_wolfe(objective, options, means, theta);
  EXPECT_EQ(summary.history.size(), 1u);
  return test_support::allocations - before;
}

TEST(FrankWolfe, AllocatesNothingInsideAnEpoch) {
  const OwnedChainProblem owned(1);
  const Objective objective{owned.problem, Loss::svm(), 1};
  for (const auto& [corrective, average] : kKinds) {
    FrankWolfeOptions options;
    options.corrective = corrective;
    options.average = average;
    const std::size_t few = allocations_of(objective, options, 5);
    EXPECT_GT(few, 0u) << "the counter does not count";
    EXPECT_EQ(allocations_of(objective, options, 50), few);
  }
}

}  // namespace
}  // namespace espalier::frank_wolfe_test
