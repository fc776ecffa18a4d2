#include "solvers/sdca.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/lbfgs.h"
#include "solvers/line_search.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"
#include "support/until_gap.h"

namespace espalier::sdca_test {
namespace {

using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::Transitions;
using testing::error_message;

const std::vector<Loss> kSmooth{Loss::crf(), Loss::softmax_margin(), {0.3, 0.5}, {5, 2}};
const std::vector<Sampling> kOrders{Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic};

struct Solution {
  Solution(const Objective& objective, const SdcaOptions& options)
      : state(objective.problem), summary(sdca(objective, options, state, theta)) {}
  CliqueState state;
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

SdcaOptions to_gap(double gap, double passes) { return test_support::until_gap<SdcaOptions>(gap, passes); }
SdcaOptions for_passes(double passes) { return to_gap(-1, passes); }

// The certificate of the very weights and duals that a run leaves.
void expect_certified(const Objective& objective, const Solution& solution, const std::string& where) {
  Sweep sweep;
  DualValue value;
  evaluate_dual(objective, solution.state, value, sweep);
  EXPECT_EQ(value.value, solution.last().dual) << where;
  EXPECT_EQ(evaluate_primal(objective, solution.theta), solution.last().primal) << where;
}

void expect_optimum(const Problem& problem, double l2, const std::string& name) {
  for (const Loss& loss : kSmooth) {
    const Objective objective{problem, loss, l2};
    LbfgsOptions by_lbfgs;
    by_lbfgs.stopping.gap = 1e-10;
    Weights theta(problem.weight_shape());
    const Summary truth = lbfgs(objective, by_lbfgs, theta);
    ASSERT_EQ(truth.status, Status::converged) << name << ": " << truth.message;
    for (const Sampling order : kOrders) {
      SdcaOptions options = to_gap(1e-7, 2000);
      options.sampling = order;
      const std::string where =
          name + ", " + loss.name() + ", order " + std::to_string(static_cast<int>(order));
      const Solution solution(objective, options);
      EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
      expect_gaps(solution.summary, where);
      EXPECT_LE(solution.last().dual, truth.history.back().primal * (1 + 1e-12)) << where;
      EXPECT_GE(solution.last().primal, truth.history.back().dual * (1 - 1e-12)) << where;
      expect_certified(objective, solution, where);
    }
  }
}

TEST(Sdca, ReachesTheOptimumOfClasses) {
  expect_optimum(OwnedProblem(1, {.examples = 20, .attributes = 8, .labels = 4}).problem, 2, "classes");
  expect_optimum(OwnedProblem(2, {.examples = 20, .attributes = 8, .labels = 4}).problem, 0.05,
                 "classes with little l2");
}

TEST(Sdca, ReachesTheOptimumOfChains) {
  expect_optimum(OwnedChainProblem(1).problem, 2, "tied");
  expect_optimum(OwnedChainProblem(2, {.transitions = Transitions::few}).problem, 0.1, "few transitions");
  expect_optimum(OwnedChainProblem(3, {.labels = 4, .transitions = Transitions::different}).problem, 1,
                 "different transitions");
  expect_optimum(OwnedChainProblem(4, {.labels = 4, .constrained = true}).problem, 1, "constrained");
}

// Every visit is reported.
TEST(Sdca, NeverLowersTheDual) {
  const OwnedProblem classes(2, {.examples = 8, .attributes = 5, .labels = 3});
  const OwnedChainProblem chains(2, {.sequences = 8});
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    for (const Loss& loss : kSmooth) {
      for (const double l2 : {0.01, 0.5, 20.0}) {
        SdcaOptions options = for_passes(30);
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

// Against golden-section search on functions of the kind that visits meet: entropies with corners at both
// ends.
TEST(Sdca, LineSearchFindsTheTop) {
  for (const double p : {1e-9, 1e-4, 0.2, 0.7}) {
    for (const double q : {1e-7, 0.3, 0.999}) {
      for (const double rise : {-3.0, 0.0, 0.5, 10.0}) {
        for (const double curvature : {0.0, 0.1, 40.0}) {
          const double d = q - p;
          const auto phi = [&](double step) {
            const double x = p + step * d;
            return -x * std::log(x) - (1 - x) * std::log(1 - x) + step * rise - step * step * curvature / 2;
          };
          const auto slope = [&](double step) {
            const double x = p + step * d;
            return Slope{d * std::log((1 - x) / x) + rise - step * curvature,
                         -d * d / (x * (1 - x)) - curvature};
          };
          double low = 0, high = 1;
          for (int t = 0; t < 100; ++t) {
            const double a = low + 0.381966 * (high - low), b = high - 0.381966 * (high - low);
            (phi(a) < phi(b) ? low : high) = phi(a) < phi(b) ? a : b;
          }
          const double top = (low + high) / 2;
          for (const double start : {0.0, 0.01, 0.5, 1.0}) {
            int looks = 0;
            const double found = best_step(
                [&](double step) {
                  EXPECT_GT(step, 0);
                  EXPECT_LE(step, 1);
                  ++looks;
                  return slope(step);
                },
                start);
            // Tops below its precision are not worth a search.
            EXPECT_NEAR(found, top, 0.02 * top + 1e-3)
                << p << " to " << q << ", " << rise << ", " << curvature << " from " << start;
            EXPECT_LE(looks, 12);
          }
        }
      }
    }
  }
}

// From where the state is: the next run begins with the dual that the last one ended with.
TEST(Sdca, GoesOnFromTheStateThatItIsGiven) {
  const OwnedChainProblem owned(5);
  const Objective objective{owned.problem, Loss::crf(), 1};
  Solution solution(objective, for_passes(5));
  const double before = solution.last().dual;
  const Summary more = sdca(objective, for_passes(0.01), solution.state, solution.theta);
  EXPECT_GE(more.history.front().dual, before - 1e-6 * before);
}

TEST(Sdca, RefusesWhatItIsNotFor) {
  const OwnedProblem classes(1);
  EXPECT_EQ(error_message([&] { check_sdca(classes.problem, Loss::svm()); }),
            "sdca: the loss svm has an infinite beta; expected a finite one; frank-wolfe takes the same "
            "steps for infinite ones");
  const OwnedDependencyProblem crossing(1, {.shape = {false, false, 1}}),
      second_order(1, {.shape = {}, .second_order = true});
  const OwnedChainProblem ngrams(1, {.order = 2});
  for (const Problem* problem :
       {static_cast<const Problem*>(&crossing.problem), static_cast<const Problem*>(&second_order.problem),
        static_cast<const Problem*>(&ngrams.problem)}) {
    EXPECT_EQ(
        error_message([&] { check_sdca(*problem, Loss::crf()); }),
        "sdca: this structure has no clique marginals and entropies (Factored); expected classes, chains "
        "whose labels interact in pairs, first-order projective trees, grammars or graphs with exact "
        "inference, or eg, which trains every structure");
  }
}

}  // namespace
}  // namespace espalier::sdca_test
