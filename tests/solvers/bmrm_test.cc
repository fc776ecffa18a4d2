#include "solvers/bmrm.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "solvers/lbfgs.h"
#include "support/counting_problem.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_objective.h"
#include "support/random_problem.h"
#include "support/until_gap.h"

namespace espalier {
namespace {

using test_support::CountingProblem;
using test_support::expect_gaps;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::random_weights;
using testing::error_message;

const std::vector<Loss> kSmooth{Loss::crf(), Loss::softmax_margin(), {4, 1}, {0.5, 2}};

BmrmOptions to_gap(double gap, double passes = 3000) {
  return test_support::until_gap<BmrmOptions>(gap, passes);
}

struct Solution {
  Solution(const Objective& objective, const BmrmOptions& options, const Observer& observer = {})
      : theta(objective.problem.weight_shape()), summary(bmrm(objective, options, theta, observer)) {}
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

// Reaches the optimum that L-BFGS finds, never claims more than it knows, and reports what the weights really
// have.
void expect_optimum(const Problem& problem, const std::string& where) {
  for (const Loss& loss : kSmooth) {
    const Objective objective{problem, loss, 1};
    Weights theta(problem.weight_shape());
    LbfgsOptions exact;
    exact.stopping.gap = 1e-9;
    const Progress optimum = lbfgs(objective, exact, theta).history.back();
    const Solution solution(objective, to_gap(1e-6));
    EXPECT_EQ(solution.summary.status, Status::converged) << where << loss.name() << solution.summary.message;
    expect_gaps(solution.summary, where + loss.name());
    EXPECT_EQ(solution.last().primal, evaluate_primal(objective, solution.theta)) << where << loss.name();
    EXPECT_LE(solution.last().primal, optimum.dual * (1 + 1.01e-6)) << where << loss.name();
    for (std::size_t t = 1; t < solution.summary.history.size(); ++t) {
      EXPECT_GE(solution.summary.history[t].dual, solution.summary.history[t - 1].dual) << where;
      EXPECT_LE(solution.summary.history[t].primal, solution.summary.history[t - 1].primal) << where;
    }
    // Every bound on the way is one.
    EXPECT_LE(solution.last().dual, optimum.primal * (1 + 1e-12)) << where << loss.name();
  }
}

TEST(Bmrm, ReachesTheOptimumOfLbfgs) {
  expect_optimum(OwnedProblem(1).problem, "classes ");
  expect_optimum(OwnedChainProblem(2).problem, "chains ");
  expect_optimum(OwnedDependencyProblem(3).problem, "trees ");
}

RC_GTEST_PROP(Bmrm, EveryReportIsATrueCertificate, ()) {
  const OwnedProblem owned(test_support::any_data());
  Loss loss = test_support::any_loss();
  if (!loss.smooth() && loss.gamma == 0) loss = Loss::svm();
  const Objective objective{owned.problem, loss, test_support::any_l2()};
  // The optimum lies between any dual and any primal of the run.
  const Weights start = test_support::any_weights(owned.problem);
  Weights theta = start;
  const Summary summary =
      bmrm(objective, to_gap(-1, 12), theta, [&](const Progress& now, const Weights& weights) {
        RC_ASSERT(now.primal == evaluate_primal(objective, weights));
        RC_ASSERT(now.gap() >= -1e-12 * now.primal);
        return Control::go_on;
      });
  RC_ASSERT(summary.status == Status::out_of_passes || summary.status == Status::stalled);
  RC_ASSERT(summary.history.back().primal == evaluate_primal(objective, theta));
  RC_ASSERT(summary.history.back().primal <= evaluate_primal(objective, start));
}

TEST(Bmrm, APassIsOneInferenceAnExample) {
  const OwnedProblem owned(4);
  const CountingProblem counting(owned.problem);
  const Solution solution({counting, Loss::crf(), 1}, to_gap(-1, 7));
  EXPECT_EQ(solution.summary.status, Status::out_of_passes);
  EXPECT_EQ(solution.last().passes, 7);
  EXPECT_EQ(counting.double_log_partitions, 7 * owned.problem.size());
}

TEST(Bmrm, StartsFromTheWeightsThatItIsGiven) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::crf(), 1};
  const Solution cold(objective, to_gap(1e-6));
  Weights theta = cold.theta;
  const Summary warm = bmrm(objective, to_gap(1e-4), theta);
  EXPECT_EQ(warm.status, Status::converged);
  EXPECT_EQ(warm.history.front().primal, cold.last().primal);
  EXPECT_LT(warm.history.back().passes, cold.last().passes);
}

TEST(Bmrm, PassesAreNeverExceeded) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  for (const double count : {0.0, 0.5, 1.0, 2.5, 5.0}) {
    Weights theta = random_weights(3, owned.problem.weight_shape());
    const Summary summary = bmrm(objective, to_gap(-1, count), theta);
    EXPECT_EQ(summary.status, Status::out_of_passes);
    EXPECT_EQ(summary.history.back().passes, count);
    EXPECT_EQ(summary.history.back().primal, evaluate_primal(objective, theta));
  }
}

TEST(Bmrm, Interrupted) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::crf(), 1};
  std::atomic<bool> stop = true;
  BmrmOptions options = to_gap(0, 100);
  options.stopping.stop = &stop;
  Weights theta = random_weights(3, owned.problem.weight_shape());
  const Weights start = theta;
  const Summary before = bmrm(objective, options, theta);
  EXPECT_EQ(before.status, Status::stopped);
  ASSERT_EQ(before.history.size(), 1u);
  EXPECT_EQ(before.history[0].passes, 0);
  EXPECT_EQ(before.history[0].primal, evaluate_primal(objective, start));
  EXPECT_TRUE(std::ranges::equal(theta.values(), start.values()));

  stop = false;
  const Summary during = bmrm(objective, options, theta, [&](const Progress& now, const Weights&) {
    stop = now.epoch == 4;
    return Control::go_on;
  });
  EXPECT_EQ(during.status, Status::stopped);
  EXPECT_EQ(during.history.back().passes, 4);
  EXPECT_EQ(during.history.back().primal, evaluate_primal(objective, theta));

  stop = false;
  const Summary observed =
      bmrm(objective, options, theta, [](const Progress&, const Weights&) { return Control::stop; });
  EXPECT_EQ(observed.status, Status::stopped);
  EXPECT_EQ(observed.history.size(), 1u);
}

TEST(Bmrm, StallsWhereOnlyRoundingIsLeft) {
  const OwnedProblem owned(7);
  const Objective objective{owned.problem, Loss::svm(), 1};
  const Solution solution(objective, to_gap(-1, 100000));
  EXPECT_EQ(solution.summary.status, Status::stalled) << solution.summary.message;
  EXPECT_LE(solution.last().relative_gap(), 1e-6);
  EXPECT_TRUE(solution.summary.message.starts_with("stalled (no plane cuts deeper than rounding): "))
      << solution.summary.message;
}

TEST(Bmrm, RefusesThePerceptron) {
  const OwnedProblem owned(6);
  Weights theta(owned.problem.weight_shape());
  EXPECT_EQ(
      error_message([&] {
        bmrm({owned.problem, Loss::perceptron(), 1}, {}, theta);
      }),
      "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) or "
      "a finite beta");
}

}  // namespace
}  // namespace espalier
