#include "solvers/extragradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "support/counting_problem.h"
#include "support/dual_distances.h"
#include "support/eg_solution.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/problems_of_all_kinds.h"
#include "support/until_gap.h"

namespace espalier {
namespace {

using test_support::CountingProblem;
using test_support::EgSolution;
using test_support::expect_gaps;
using test_support::OwnedProblem;
using test_support::ProblemsOfAllKinds;
using test_support::weighted_log_outputs;
using test_support::weighted_squared_diameters;
using testing::error_message;

const std::vector<ExtragradientStep> kSteps{ExtragradientStep::automatic, ExtragradientStep::safe};
const Loss kDearMistakes{Loss::svm().beta, 2.5};

ExtragradientOptions to_gap(double gap, double passes) {
  return test_support::until_gap<ExtragradientOptions>(gap, passes);
}

// Every iteration is reported. The start takes one pass, each iteration two.
ExtragradientOptions for_iterations(int iterations, ExtragradientStep step) {
  ExtragradientOptions options = to_gap(-1, 2 * iterations + 1);
  options.report_every = 0;
  options.step = step;
  return options;
}

TEST(Extragradient, ReachesTheOptimum) {
  const ProblemsOfAllKinds problems(1);
  for (const auto& named : problems.all()) {
    for (const Loss& loss : {Loss::svm(), kDearMistakes}) {
      const Objective objective{named.problem, loss, named.l2};
      EgOptions exact;
      exact.stopping.gap = 1e-3;
      exact.stopping.passes = 3000;
      const EgSolution reference(objective, exact);
      ASSERT_EQ(reference.summary.status, Status::converged) << named.name << reference.summary.message;
      const std::string where = named.name + ": " + loss.name();
      Weights theta;
      const Summary summary = extragradient(objective, to_gap(1e-3, 5000), theta);
      EXPECT_EQ(summary.status, Status::converged) << where << ": " << summary.message;
      expect_gaps(summary, where);
      EXPECT_LE(summary.history.back().dual, reference.last().primal * (1 + 1e-12)) << where;
      EXPECT_GE(summary.history.back().primal, reference.last().dual * (1 - 1e-12)) << where;
      EXPECT_EQ(summary.history.back().primal, evaluate_primal(objective, theta)) << where;
    }
  }
}

// P - D <= 1/T ( |w(u)/l2 - theta_1|^2/(2a) + sum_i omega_i log|Y_i| / b ) for the means of T safe
// iterations. For any duals, l2/2 |w(u)/l2|^2 = gamma cost(u) - D(u), which bounds the distance by what the
// largest costs allow.
TEST(Extragradient, BoundOfTheSafeStepHolds) {
  const ProblemsOfAllKinds problems(2);
  for (const auto& named : problems.all()) {
    const Problem& problem = named.problem;
    const Objective objective{problem, Loss::svm(), named.l2};
    const double log_outputs = weighted_log_outputs(problem), diameters = weighted_squared_diameters(problem);
    const DoubleWeights start = evaluate_dual(objective, DualState(problem)).w;
    DoubleWeights theta_1;
    theta_1.assign(start, 1 / named.l2);
    const double distance = euclidean_squared_norm(theta_1);
    const double ratio = distance / (2 * log_outputs);
    const double a = std::sqrt(ratio / diameters), b = std::sqrt(1 / (ratio * diameters));
    // sum_i omega_i max_y cost_i(y): the primal at zero
    const double costs = evaluate_primal(objective, Weights(problem.weight_shape()));

    const int iterations = 1000;
    Weights theta;
    const Summary summary =
        extragradient(objective, for_iterations(iterations, ExtragradientStep::safe), theta);
    ASSERT_EQ(summary.history.size(), iterations + 1u) << named.name;
    double last = 0;
    for (int t = 1; t <= iterations; ++t) {
      const Progress& now = summary.history[static_cast<std::size_t>(t)];
      const double farthest = std::sqrt(2 * (costs - now.dual) / named.l2) + std::sqrt(distance);
      const double bound = (farthest * farthest / (2 * a) + log_outputs / b) / t;
      EXPECT_LE(now.gap(), bound) << named.name << ", iteration " << t;
      last = bound;
    }
    EXPECT_LT(last, summary.history.front().gap())
        << named.name << ": a bound that holds for the start proves nothing";
  }
}

TEST(Extragradient, AutomaticStepsTakeFewerPasses) {
  const ProblemsOfAllKinds problems(3);
  for (const auto& named : problems.all()) {
    ExtragradientOptions options = to_gap(0.1, 5000);
    Weights theta;
    const Objective objective{named.problem, Loss::svm(), named.l2};
    const Summary automatic = extragradient(objective, options, theta);
    options.step = ExtragradientStep::safe;
    const Summary safe = extragradient(objective, options, theta);
    EXPECT_EQ(automatic.status, Status::converged) << named.name << ": " << automatic.message;
    EXPECT_EQ(safe.status, Status::converged) << named.name << ": " << safe.message;
    expect_gaps(safe, named.name);
    EXPECT_LT(2 * automatic.history.back().passes, safe.history.back().passes) << named.name;
  }
}

TEST(Extragradient, PassesCountInferences) {
  const OwnedProblem owned(6);
  for (const ExtragradientStep step : kSteps) {
    const CountingProblem counting(owned.problem);
    Weights theta;
    const Summary summary = extragradient({counting, Loss::svm(), 0.1}, for_iterations(20, step), theta);
    EXPECT_EQ(summary.history.back().passes, 41);
    EXPECT_EQ(counting.double_log_partitions, 41 * counting.size());
    EXPECT_EQ(counting.float_log_partitions, 0u);
  }
}

TEST(Extragradient, RefusesLossesThatItIsNotFor) {
  const OwnedProblem owned(1);
  Weights theta;
  EXPECT_EQ(error_message([&] {
              extragradient({owned.problem, Loss::crf(), 1}, {}, theta);
            }),
            "extragradient: the loss crf is smooth; expected one with infinite beta");
  EXPECT_EQ(error_message([&] {
              extragradient({owned.problem, Loss::perceptron(), 1}, {}, theta);
            }),
            "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) "
            "or a finite beta");
}

}  // namespace
}  // namespace espalier
