#include "solvers/eg_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "solvers/lbfgs.h"
#include "support/counting_problem.h"
#include "support/dual_distances.h"
#include "support/eg_solution.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/problems_of_all_kinds.h"
#include "support/until_gap.h"

namespace espalier::eg_batch_test {
namespace {

using test_support::CountingProblem;
using test_support::EgSolution;
using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedProblem;
using test_support::ProblemsOfAllKinds;
using test_support::weighted_divergence;
using test_support::weighted_divergence_from_uniform;
using test_support::weighted_squared_diameters;
using testing::error_message;

const std::vector<Loss> kLosses{Loss::crf(), Loss::svm(), Loss::softmax_margin(), {0.3, 0.5}, {5, 2}};
const std::vector<EgBatchStep> kSteps{EgBatchStep::automatic, EgBatchStep::safe};

enum class Form { stored, implied };
const std::vector<Form> kForms{Form::stored, Form::implied};

std::string describe(const std::string& kind, const Loss& loss, EgBatchStep step, Form form) {
  return kind + ": " + loss.name() + (step == EgBatchStep::safe ? " safe" : " auto") +
         (form == Form::stored ? " stored" : " implied");
}

EgBatchOptions to_gap(double gap, double passes) {
  auto options = test_support::until_gap<EgBatchOptions>(gap, passes);
  options.start = EgStart::uniform;  // as the form without stored duals
  return options;
}

// Every step is reported.
EgBatchOptions for_passes(double passes) {
  EgBatchOptions options = to_gap(-1, passes);
  options.report_every = 0;
  return options;
}

Summary solve(Form form, const Objective& objective, const EgBatchOptions& options, Weights& theta,
              const Observer& observer = {}) {
  if (form == Form::implied) return eg_batch(objective, options, theta, observer);
  DualState dual(objective.problem);
  return eg_batch(objective, options, dual, theta, observer);
}

double safe_eta(const Objective& objective) {
  return 1 / (objective.loss.inverse_beta() +
              weighted_squared_diameters(objective.problem) / objective.regularizer.l2);
}

TEST(EgBatch, ReachesTheOptimumOfEveryLossInBothForms) {
  const ProblemsOfAllKinds problems(1);
  for (const auto& named : problems.all()) {
    const std::string& kind = named.name;
    const Problem& problem = named.problem;
    const double l2 = named.l2;
    for (const Loss& loss : kLosses) {
      const Objective objective{problem, loss, l2};
      double low, high;
      if (loss.smooth()) {
        LbfgsOptions options;
        options.stopping.gap = 1e-9;
        Weights theta(problem.weight_shape());
        const Summary summary = lbfgs(objective, options, theta);
        ASSERT_EQ(summary.status, Status::converged) << kind << loss.name() << ": " << summary.message;
        low = summary.history.back().dual;
        high = summary.history.back().primal;
      } else {
        EgOptions options;
        options.stopping.gap = 1e-3;
        options.stopping.passes = 3000;
        const EgSolution solution(objective, options);
        ASSERT_EQ(solution.summary.status, Status::converged) << kind << ": " << solution.summary.message;
        low = solution.last().dual;
        high = solution.last().primal;
      }
      for (const Form form : kForms) {
        const std::string where = describe(kind, loss, EgBatchStep::automatic, form);
        const double tolerance = loss.smooth() ? 1e-6 : 2e-3;
        Weights theta;
        const Summary summary = solve(form, objective, to_gap(tolerance, 3000), theta);
        EXPECT_EQ(summary.status, Status::converged) << where << ": " << summary.message;
        expect_gaps(summary, where);
        expect_rising_dual(summary, where);
        EXPECT_LE(summary.history.back().dual, high * (1 + 1e-12)) << where;
        EXPECT_GE(summary.history.back().primal, low * (1 - 1e-12)) << where;
        EXPECT_EQ(summary.history.back().primal, evaluate_primal(objective, theta)) << where;
      }
    }
  }
}

// Bartlett et al. 2004, section 3. Stored scores are rounded to floats; that is all the difference: 6e-8 of a
// score at each of 40 steps, which later steps enlarge (to 4e-5 of the weights at most, on these problems).
TEST(EgBatch, BothFormsGiveTheSameIterates) {
  const ProblemsOfAllKinds problems(2);
  for (const auto& named : problems.all()) {
    const std::string& kind = named.name;
    const Problem& problem = named.problem;
    const double l2 = named.l2;
    for (const Loss& loss : kLosses) {
      for (const EgBatchStep step : kSteps) {
        const std::string where = describe(kind, loss, step, Form::stored);
        const Objective objective{problem, loss, l2};
        EgBatchOptions options = for_passes(40);
        options.step = step;
        std::vector<Weights> points;
        Weights theta;
        const Summary stored =
            solve(Form::stored, objective, options, theta, [&](const Progress&, const Weights& now) {
              points.push_back(now);
              return Control::go_on;
            });
        std::size_t t = 0;
        double largest = 0, apart = 0;
        const Summary implied =
            solve(Form::implied, objective, options, theta, [&](const Progress&, const Weights& now) {
              if (t >= points.size()) return Control::stop;
              for (std::size_t j = 0; j < now.values().size(); ++j) {
                const double a = now.values()[j], b = points[t].values()[j];
                largest = std::max(largest, std::abs(a));
                apart = std::max(apart, std::abs(a - b));
              }
              ++t;
              return Control::go_on;
            });
        ASSERT_EQ(stored.history.size(), implied.history.size()) << where;
        ASSERT_GE(stored.history.size(), 40u) << where;
        EXPECT_LE(apart, 1e-4 * largest) << where;
        for (std::size_t k = 0; k < stored.history.size(); ++k) {
          EXPECT_EQ(stored.history[k].passes, implied.history[k].passes) << where;
          EXPECT_NEAR(stored.history[k].dual, implied.history[k].dual, 1e-6 * stored.history[k].primal)
              << where << ", report " << k;
        }
      }
    }
  }
}

// What is stored is what is certified.
TEST(EgBatch, StoredDualsAreThoseOfTheReport) {
  const ProblemsOfAllKinds problems(3);
  for (const auto& named : problems.all()) {
    const std::string& kind = named.name;
    const Problem& problem = named.problem;
    const double l2 = named.l2;
    for (const Loss& loss : kLosses) {
      for (const bool keep_marginals : {true, false}) {
        const Objective objective{problem, loss, l2};
        DualState dual(problem, keep_marginals);
        Weights theta;
        const Summary summary = eg_batch(objective, for_passes(25), dual, theta);
        const DualValue value = evaluate_dual(objective, dual);
        const std::string where = kind + ": " + loss.name();
        EXPECT_NEAR(value.value, summary.history.back().dual, 1e-12 * summary.history.back().primal) << where;
        double apart = 0;
        for (std::size_t j = 0; j < theta.values().size(); ++j) {
          apart = std::max(apart, std::abs(theta.values()[j] - value.w.values()[j] / l2));
        }
        EXPECT_LE(apart, 1e-7 * std::sqrt(euclidean_squared_norm(theta))) << where;
      }
    }
  }
}

// Lemma 2: D(u^{t+1}) - D(u^t) >= 1/eta sum_i omega_i KL(u^t_i | u^{t+1}_i) at the safe step.
TEST(EgBatch, EverySafeStepImprovesByTheDistanceItGoes) {
  const ProblemsOfAllKinds problems(4);
  for (const auto& named : problems.all()) {
    const std::string& kind = named.name;
    const Problem& problem = named.problem;
    const double l2 = named.l2;
    for (const Loss& loss : kLosses) {
      const Objective objective{problem, loss, l2};
      DualState dual(problem), before(problem);
      EgBatchOptions options = for_passes(15);
      options.step = EgBatchStep::safe;
      Weights theta;
      double dual_before = 0;
      int steps = 0;
      eg_batch(objective, options, dual, theta, [&](const Progress& now, const Weights&) {
        if (now.epoch > 1) {
          const double least = weighted_divergence(problem, before, dual) / safe_eta(objective);
          EXPECT_GT(least, 0);
          EXPECT_GE(now.dual - dual_before, least - 1e-6 * std::abs(now.dual)) << kind << ": " << loss.name();
          ++steps;
        }
        before = dual;
        dual_before = now.dual;
        return Control::go_on;
      });
      EXPECT_EQ(steps, 14);
    }
  }
}

TEST(EgBatch, StepsNeverLowerTheDual) {
  const ProblemsOfAllKinds problems(5);
  for (const auto& named : problems.all()) {
    const std::string& kind = named.name;
    const Problem& problem = named.problem;
    const double l2 = named.l2;
    for (const Loss& loss : kLosses) {
      for (const EgBatchStep step : kSteps) {
        for (const Form form : kForms) {
          const std::string where = describe(kind, loss, step, form);
          EgBatchOptions options = for_passes(60);
          options.step = step;
          Weights theta;
          const Summary summary = solve(form, {problem, loss, l2 / 4}, options, theta);
          ASSERT_EQ(summary.history.size(), 60u) << where;
          expect_gaps(summary, where);
          expect_rising_dual(summary, where);
        }
      }
    }
  }
}

// Theorem 1 of Collins et al. 2008, with weights of examples: both duals, at the theorem's step, after every
// step.
TEST(EgBatch, BoundsOfTheoremOneHold) {
  const OwnedProblem owned(3, {.examples = 5, .attributes = 4, .labels = 3});
  const double l2 = 8;
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{3, 0.5}, Loss::svm()}) {
    const Objective objective{owned.problem, loss, l2};
    EgOptions exact;
    exact.stopping.gap = loss.smooth() ? 1e-9 : 1e-5;
    exact.stopping.passes = 20000;
    const EgSolution optimal(objective, exact);
    ASSERT_EQ(optimal.summary.status, Status::converged) << optimal.summary.message;
    const double best = optimal.last().dual;  // the lemmas are about any duals, so about these
    const double divergence = weighted_divergence_from_uniform(owned.problem, optimal.dual);
    const double eta = safe_eta(objective);
    for (const Form form : kForms) {
      EgBatchOptions options = for_passes(400);
      options.step = EgBatchStep::safe;
      Weights theta;
      const Summary summary = solve(form, objective, options, theta);
      const double first = summary.history.front().dual;
      ASSERT_EQ(summary.history.size(), 400u);
      bool says_something = false;
      for (std::size_t t = 1; t < summary.history.size(); ++t) {
        const double missing = best - summary.history[t].dual;
        const auto steps = static_cast<double>(t);
        // Rounding of scores is left when little else is.
        const double rounding = 1e-7 * best;
        const double slow = divergence / (eta * steps);
        EXPECT_LE(missing, slow + rounding) << loss.name() << ", step " << t;
        if (loss.smooth()) {
          const double fast = std::exp(-eta * loss.inverse_beta() * steps) / eta * divergence;
          EXPECT_LE(missing, fast + rounding) << loss.name() << ", step " << t;
          says_something = says_something || fast < 0.01 * (best - first);
        } else {
          says_something = says_something || slow < 0.5 * (best - first);
        }
      }
      EXPECT_TRUE(says_something) << loss.name() << ": bounds that hold for the start prove nothing";
    }
  }
}

TEST(EgBatch, PassesCountTheStepsTried) {
  const OwnedProblem owned(6);
  for (const Form form : kForms) {
    const CountingProblem counting(owned.problem);
    Weights theta;
    // The primal of a maximum takes no log-partition: all of them are the solver's.
    const Summary summary = solve(form, {counting, Loss::svm(), 0.1}, for_passes(50), theta);
    EXPECT_EQ(summary.history.back().passes, 50);
    EXPECT_EQ(counting.double_log_partitions, 50 * counting.size());
  }
}

TEST(EgBatch, WarmStartGoesOnWhereTheDualsAre) {
  const OwnedProblem owned(9);
  for (const Loss& loss : kLosses) {
    const Objective objective{owned.problem, loss, 1};
    DualState dual(owned.problem);
    Weights theta;
    EgBatchOptions options = for_passes(20);
    const Summary first = eg_batch(objective, options, dual, theta);
    options.start = EgStart::warm;
    options.stopping.passes = 1;
    const Weights before = theta;
    const Summary again = eg_batch(objective, options, dual, theta);
    EXPECT_EQ(again.history.back().dual, first.history.back().dual) << loss.name();
    EXPECT_TRUE(std::ranges::equal(before.values(), theta.values())) << loss.name();
  }
}

TEST(EgBatch, ReachesTheSameOptimumFromTheGoldOutputs) {
  const ProblemsOfAllKinds problems(10);
  for (const auto& named : problems.all()) {
    for (const Loss& loss : kLosses) {
      const Objective objective{named.problem, loss, named.l2};
      const double tolerance = loss.smooth() ? 1e-6 : 2e-3;
      EgBatchOptions options = to_gap(tolerance, 3000);
      Weights theta;
      const Summary from_uniform = solve(Form::stored, objective, options, theta);
      options.start = EgStart::gold;
      const Summary from_gold = solve(Form::stored, objective, options, theta);
      const std::string where = named.name + ": " + loss.name();
      EXPECT_EQ(from_gold.status, Status::converged) << where << ": " << from_gold.message;
      expect_gaps(from_gold, where);
      expect_rising_dual(from_gold, where);
      EXPECT_LE(from_gold.history.back().dual, from_uniform.history.back().primal) << where;
      EXPECT_GE(from_gold.history.back().primal, from_uniform.history.back().dual) << where;
    }
  }
}

TEST(EgBatch, GoesToTheEndOfDoublePrecision) {
  const OwnedProblem owned(4);
  Weights theta;
  const Summary summary = eg_batch({owned.problem, Loss::crf(), 1}, to_gap(-1, 5000), theta);
  EXPECT_LT(summary.history.back().relative_gap(), 1e-11) << summary.message;
  expect_gaps(summary, "to the end");
}

TEST(EgBatch, RefusesThePerceptron) {
  const OwnedProblem owned(1);
  for (const Form form : kForms) {
    EXPECT_EQ(
        error_message([&] {
          Weights theta;
          solve(form, {owned.problem, Loss::perceptron(), 1}, {}, theta);
        }),
        "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) "
        "or a finite beta");
  }
}

}  // namespace
}  // namespace espalier::eg_batch_test
