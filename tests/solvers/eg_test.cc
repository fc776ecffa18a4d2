#include "espalier/solvers/eg.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "solvers/lbfgs.h"
#include "support/counting_problem.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_problem.h"
#include "support/until_gap.h"

namespace espalier::eg_test {
namespace {

using test_support::CountingProblem;
using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::MulticlassData;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;
using test_support::random_data;
using testing::error_message;

constexpr double kNever = std::numeric_limits<double>::infinity();
const std::vector<Loss> kLosses{Loss::crf(), Loss::svm(), Loss::softmax_margin(),
                                {0.3, 0.5},  {5, 2},      {20, 1}};
const std::vector<Sampling> kOrders{Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic};
const std::vector<EgStep> kSteps{EgStep::automatic, EgStep::paper, EgStep::safe};
const std::vector<EgStart> kStarts{EgStart::gold, EgStart::uniform};

std::string describe(const Loss& loss, const EgOptions& options) {
  const char* const orders[] = {"gap", "random", "shuffled", "cyclic"};
  const char* const steps[] = {"auto", "paper", "safe"};
  const char* const starts[] = {"gold", "uniform", "warm"};
  return loss.name() + " " + orders[static_cast<int>(options.sampling)] + " " +
         steps[static_cast<int>(options.step)] + " " + starts[static_cast<int>(options.start)];
}

struct Solution {
  DualState dual;
  Weights theta;
  Summary summary;

  const Progress& last() const { return summary.history.back(); }
};

Solution solve(const Objective& objective, const EgOptions& options) {
  Solution solution{DualState(objective.problem), {}, {}};
  solution.summary = eg(objective, options, solution.dual, solution.theta);
  return solution;
}

// From duals that are somewhere already.
Solution solve_from(const DualState& dual, const Objective& objective, EgOptions options) {
  options.start = EgStart::warm;
  Solution solution{dual, {}, {}};
  solution.summary = eg(objective, options, solution.dual, solution.theta);
  return solution;
}

EgOptions to_gap(double gap, double passes = 1000) { return test_support::until_gap<EgOptions>(gap, passes); }

// Runs out of passes, whatever its gap.
EgOptions for_passes(double passes) { return to_gap(-1, passes); }

void expect_same_bits(const Solution& a, const Solution& b, bool same) {
  bool equal = std::ranges::equal(a.theta.values(), b.theta.values());
  for (std::size_t i = 0; i < a.dual.size(); ++i) {
    equal = equal && std::ranges::equal(a.dual.s(i), b.dual.s(i)) &&
            std::ranges::equal(a.dual.mu(i), b.dual.mu(i));
  }
  EXPECT_EQ(equal, same);
}

// Bounds on the optimum of a maximum loss, by accelerated projected gradient ascent on the marginals of a
// multi-class problem:
//   max sum_i omega_i gamma p_i.mu_i - |w(mu)|^2/(2 l2), each mu_i in the simplex.
Certificate plain_quadratic_program(const MulticlassProblem& problem, const Loss& loss, double l2) {
  const std::size_t n = problem.size(), labels = problem.num_statistics(0);
  Workspace ws;
  double lipschitz = 0;
  for (std::size_t i = 0; i < n; ++i) {
    lipschitz += problem.weight(i) * problem.weight(i) * problem.squared_diameter(i) / (2 * l2);
  }
  const auto weights = [&](const std::vector<std::vector<double>>& mu) {
    DoubleWeights w(problem.weight_shape());
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> difference(labels);
      for (std::size_t k = 0; k < labels; ++k) difference[k] = -problem.weight(i) * mu[i][k];
      problem.add_gold(i, problem.weight(i), difference);
      problem.accumulate(i, std::span<const double>(difference), w, ws);
    }
    return w;
  };
  const auto project = [&](std::vector<double>& v) {
    std::vector<double> sorted = v;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = 0, shift = 0;
    for (std::size_t k = 0; k < labels; ++k) {
      sum += sorted[k];
      const double candidate = (sum - 1) / static_cast<double>(k + 1);
      if (sorted[k] > candidate) shift = candidate;
    }
    for (double& x : v) x = std::max(0.0, x - shift);
  };
  std::vector<std::vector<double>> mu(n, std::vector<double>(labels, 1.0 / static_cast<double>(labels)));
  std::vector<std::vector<double>> ahead = mu;
  double momentum = 1;
  for (int t = 0; t < 20000; ++t) {
    const DoubleWeights w = weights(ahead);
    const auto before = mu;
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> gradient(labels);
      problem.score(i, w, 1 / l2, gradient, ws);
      problem.add_cost(i, loss.gamma, gradient);
      for (std::size_t k = 0; k < labels; ++k) {
        mu[i][k] = ahead[i][k] + problem.weight(i) * gradient[k] / lipschitz;
      }
      project(mu[i]);
      for (std::size_t k = 0; k < labels; ++k) {
        ahead[i][k] = mu[i][k] + (momentum - 1) / next * (mu[i][k] - before[i][k]);
      }
    }
    momentum = next;
  }
  const DoubleWeights w = weights(mu);
  Certificate certificate;
  certificate.dual = -euclidean_squared_norm(w) / (2 * l2);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> cost(labels);
    problem.add_cost(i, loss.gamma, cost);
    for (std::size_t k = 0; k < labels; ++k) certificate.dual += problem.weight(i) * cost[k] * mu[i][k];
  }
  Weights theta;
  theta.assign(w, 1 / l2);
  certificate.primal = evaluate_primal({problem, loss, l2}, theta);
  return certificate;
}

// The optimum of any loss, bracketed without EG.
Certificate reference(const MulticlassProblem& problem, const Loss& loss, double l2) {
  if (!loss.smooth()) return plain_quadratic_program(problem, loss, l2);
  LbfgsOptions options;
  options.stopping.gap = 1e-10;
  Weights theta(problem.weight_shape());
  const Summary summary = lbfgs({problem, loss, l2}, options, theta);
  return {summary.history.back().primal, summary.history.back().dual};
}

TEST(Eg, ReachesTheOptimumOfEveryLossInEveryWay) {
  const OwnedProblem owned(1, {.examples = 20, .attributes = 8, .labels = 4});
  const double l2 = 2;
  for (const Loss& loss : kLosses) {
    const Certificate truth = reference(owned.problem, loss, l2);
    ASSERT_LE(truth.relative_gap(), 1e-5) << loss.name();
    const double tolerance = loss.smooth() ? 1e-6 : 1e-3;
    for (const Sampling order : kOrders) {
      for (const EgStep step : kSteps) {
        for (const EgStart start : kStarts) {
          EgOptions options = to_gap(tolerance, 5000);
          options.sampling = order;
          options.step = step;
          options.start = start;
          const std::string where = describe(loss, options);
          const Solution solution = solve({owned.problem, loss, l2}, options);
          EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
          expect_gaps(solution.summary, where);
          EXPECT_LE(solution.last().dual, truth.primal * (1 + 1e-12)) << where;
          EXPECT_GE(solution.last().primal, truth.dual * (1 - 1e-12)) << where;
          EXPECT_LE(solution.last().primal - truth.dual, (tolerance + truth.relative_gap()) * truth.primal)
              << where;
        }
      }
    }
  }
}

// Every visit is reported: a step that its theorem or its own test vouches for never lowers the dual.
TEST(Eg, SafeAndPaperStepsNeverLowerTheDual) {
  const OwnedProblem owned(2, {.examples = 8, .attributes = 5, .labels = 3});
  for (const Loss& loss : kLosses) {
    for (const EgStep step : {EgStep::safe, EgStep::paper}) {
      for (const EgStart start : kStarts) {
        EgOptions options = for_passes(20);
        options.sampling = Sampling::random;
        options.step = step;
        options.start = start;
        options.report_every = 1e-9;
        const Summary summary = solve({owned.problem, loss, 0.5}, options).summary;
        const std::string where = describe(loss, options);
        ASSERT_GE(summary.history.size(), 15u) << where;
        expect_gaps(summary, where);
        expect_rising_dual(summary, where);
      }
    }
  }
}

// Theorem 2 of Collins et al. 2008 for Q = -D, at its own step, in expectation.
TEST(Eg, BoundsOfTheoremTwoHold) {
  const OwnedProblem owned(
      3, {.examples = 10, .attributes = 5, .labels = 3, .cost_matrix = false, .weighted = false});
  const auto n = static_cast<double>(owned.problem.size());
  const double l2 = 4;
  double largest = 0;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    largest = std::max(largest, owned.problem.squared_diameter(i) / l2);
  }
  Workspace ws;
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    const Objective objective{owned.problem, loss, l2};
    const double eta = 1 / (loss.inverse_beta() + largest);
    const Solution optimal = solve(objective, to_gap(loss.smooth() ? 1e-9 : 1e-5, 20000));
    ASSERT_EQ(optimal.summary.status, Status::converged) << optimal.summary.message;
    // D[u*|u1] = sum_i log L - H(u*_i), with u1 uniform
    double divergence = 0;
    for (std::size_t i = 0; i < owned.problem.size(); ++i) {
      const std::vector<double> s(optimal.dual.s(i).begin(), optimal.dual.s(i).end());
      const Multiclass& structure = owned.problem.examples().structure(i);
      divergence += std::log(static_cast<double>(structure.num_statistics())) - structure.entropy(s, ws);
    }
    const double best = optimal.last().primal;
    const double first = evaluate_dual(objective, DualState(owned.problem)).value;
    bool says_something = false;
    for (const double passes : {1.0, 4.0, 16.0}) {
      constexpr int kSeeds = 200;
      double mean = 0;
      for (int seed = 0; seed < kSeeds; ++seed) {
        EgOptions options = for_passes(passes);
        options.sampling = Sampling::random;
        options.step = EgStep::safe;
        options.start = EgStart::uniform;
        options.seed = static_cast<std::uint64_t>(seed);
        options.report_every = kNever;
        const Summary summary = solve(objective, options).summary;
        ASSERT_EQ(summary.history.size(), 1u);
        ASSERT_EQ(summary.history[0].passes, passes);
        mean += summary.history[0].dual / kSeeds;
      }
      const double visits = passes * n;
      const double slow = n / (eta * visits) * divergence + n / visits * (best - first);
      EXPECT_LE(best - mean, slow) << loss.name() << ", " << passes << " passes";
      if (loss.smooth()) {
        const double fast = std::exp(-eta * visits / n) * (divergence / eta + best - first);
        EXPECT_LE(best - mean, fast) << passes << " passes";
        says_something = says_something || fast < 0.01 * (best - first);
      } else {
        says_something = says_something || slow < 0.5 * (best - first);
      }
    }
    EXPECT_TRUE(says_something) << loss.name() << ": bounds that hold for the start prove nothing";
  }
}

TEST(Eg, SameSeedSameBits) {
  const OwnedProblem owned(4);
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    for (const EgStep step : kSteps) {
      EgOptions options = for_passes(7);
      options.step = step;
      const Objective objective{owned.problem, loss, 1};
      const Solution one = solve(objective, options), two = solve(objective, options);
      expect_same_bits(one, two, true);
      options.seed = 2;
      expect_same_bits(one, solve(objective, options), false);
    }
  }
}

// Marginals that are recomputed are those that would have been kept.
TEST(Eg, WithoutStoredMarginalsLeavesTheSameBits) {
  const OwnedProblem owned(12);
  for (const EgStep step : kSteps) {
    const Objective objective{owned.problem, Loss::softmax_margin(), 0.5};
    EgOptions options;
    options.step = step;
    options.stopping.gap = 1e-3;
    const Solution kept = solve(objective, options);
    DualState dual(owned.problem, false);
    Weights theta;
    const Summary summary = eg(objective, options, dual, theta);
    EXPECT_EQ(summary.history.size(), kept.summary.history.size());
    EXPECT_TRUE(std::equal(theta.values().begin(), theta.values().end(), kept.theta.values().begin(),
                           kept.theta.values().end()));
  }
}

// All mass on a wrong output, 40 nats away from the rest: marginals do not move, so no proxy sees a gap.
TEST(Eg, AutomaticStepsLeaveThePlateauOfWrongOutputs) {
  const OwnedProblem owned(5);
  const std::size_t labels = owned.data.labels;
  DualState wrong(owned.problem);
  Workspace ws;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    wrong.s(i)[(owned.data.gold[i] + 1) % labels] = 40;
    wrong.refresh(owned.problem, i, ws);
  }
  for (const Loss& loss : kLosses) {
    for (const Sampling order : kOrders) {
      for (const double l2 : {0.05, 1.0}) {
        // Hinge losses with hardly any regularisation are slow from any start; the default order copes.
        if (!loss.smooth() && l2 < 1 && order != Sampling::gap) continue;
        EgOptions options = to_gap(1e-3, l2 < 1 ? 2500 : 400);
        options.sampling = order;
        const Solution solution = solve_from(wrong, {owned.problem, loss, l2}, options);
        EXPECT_EQ(solution.summary.status, Status::converged)
            << describe(loss, options) << ", l2 " << l2 << ": " << solution.summary.message;
        expect_gaps(solution.summary, describe(loss, options));
      }
    }
  }
}

// One pass is n step sizes tried, failures included. Too few passes for a certificate on the way, after which
// exact gaps may steer, at the cost of a pass without a step.
TEST(Eg, PassesCountTheStepSizesTried) {
  const OwnedProblem owned(6);
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    for (const EgStep step : kSteps) {
      const CountingProblem counting(owned.problem);
      DualState dual(counting);
      counting.float_log_partitions = 0;
      EgOptions options = for_passes(4);
      options.start = EgStart::warm;
      options.step = step;
      Weights theta;
      const Summary summary = eg({counting, loss, 1}, options, dual, theta);
      EXPECT_EQ(summary.history.back().passes,
                static_cast<double>(counting.float_log_partitions) / static_cast<double>(counting.size()))
          << describe(loss, options);
    }
  }
}

// A visit tries several step sizes at most, so passes overrun by less than those.
TEST(Eg, KeepsToItsPasses) {
  const OwnedProblem owned(7, {.examples = 200});
  DualState wrong(owned.problem);
  Workspace ws;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    wrong.s(i)[(owned.data.gold[i] + 1) % owned.data.labels] = 40;
    wrong.refresh(owned.problem, i, ws);
  }
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    for (const EgStep step : kSteps) {
      for (const double passes : {0.1, 1.0, 2.3, 5.25, 11.0}) {
        EgOptions options = for_passes(passes);
        options.step = step;
        options.report_every = 1;
        for (const Solution& solution : {solve({owned.problem, loss, 0.1}, options),
                                         solve_from(wrong, {owned.problem, loss, 0.1}, options)}) {
          EXPECT_EQ(solution.summary.status, Status::out_of_passes);
          EXPECT_GE(solution.last().passes, passes);
          EXPECT_LE(solution.last().passes, passes + 40.0 / 200) << describe(loss, options) << " " << passes;
        }
      }
    }
  }
}

// For a maximum it is not: see run_eg in src/solvers/registry.cc.
TEST(Eg, WarmStartIsCheaperThanColdForSmoothLosses) {
  const OwnedProblem owned(9, {.examples = 100});
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{3, 0.5}}) {
    const Solution before = solve({owned.problem, loss, 1}, to_gap(1e-3));
    const Solution warm = solve_from(before.dual, {owned.problem, loss, 0.7}, to_gap(1e-3));
    const Solution cold = solve({owned.problem, loss, 0.7}, to_gap(1e-3));
    EXPECT_EQ(warm.summary.status, Status::converged) << loss.name();
    EXPECT_LT(warm.last().passes, cold.last().passes) << loss.name();
  }
}

// theta = 0 is optimal, and no dual says so.
TEST(Eg, LeavesOutAReportThatIsForecastToBeTheLastButOne) {
  const OwnedChainProblem owned(1, {.sequences = 200, .longest = 8, .labels = 4, .attributes = 300});
  const Objective objective{owned.problem, Loss::crf(), 10};
  EgOptions options;
  options.report_every = 4;
  const auto run = [&] {
    DualState dual(owned.problem);
    Weights theta;
    return eg(objective, options, dual, theta).history;
  };
  const auto healthy = run();
  ASSERT_LE(healthy.back().relative_gap(), options.stopping.gap);
  EXPECT_EQ(healthy.size(), 1u);
  EXPECT_GT(healthy.front().passes, 5);
  EXPECT_LE(healthy.front().passes, 8.5);  // twice as many at most, and a round
  // A gap that nobody reaches is never near.
  options.stopping.gap = 0;
  options.stopping.passes = 12;
  const auto endless = run();
  for (std::size_t k = 1; k < endless.size(); ++k) EXPECT_LE(endless[k].passes - endless[k - 1].passes, 4.5);
}

TEST(Eg, RefusesThePerceptron) {
  const OwnedProblem owned(1);
  EXPECT_EQ(error_message([&] {
              solve({owned.problem, Loss::perceptron(), 1}, {});
            }),
            "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) "
            "or a finite beta");
}

// Bartlett et al. 2004: s_i + eta(F_i'theta + p_i) after one visit, whether that is a better dual or not.
TEST(Eg, AFixedStepIsTakenWhateverItDoesToTheDual) {
  const OwnedProblem owned(3, {.examples = 1, .attributes = 4, .labels = 4});
  const Objective objective{owned.problem, Loss::svm(), 0.01};
  Workspace ws;
  DualState start(owned.problem);
  start.start_near_gold(owned.problem, 12);
  const DualValue before = evaluate_dual(objective, start);
  Weights w;
  w.assign(before.w, 1);
  std::vector<double> gradient(4), mu(4);
  owned.problem.score(0, w, 1 / objective.regularizer.l2, std::span<double>(gradient), ws);
  owned.problem.add_cost(0, 1.0, std::span<double>(gradient));
  bool worse = false;
  for (const double eta : {1e-3, 0.1, 100.0}) {
    EgOptions options = for_passes(1);
    options.eta = eta;
    const Solution solution = solve(objective, options);
    std::vector<double> s(4);
    for (std::size_t k = 0; k < 4; ++k) s[k] = start.s(0)[k] + eta * gradient[k];
    owned.problem.log_partition(0, std::span<const double>(s), std::span<double>(mu), ws);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(solution.dual.mu(0)[k], mu[k], 1e-5) << eta;
    worse = worse || solution.last().dual < before.value;
  }
  EXPECT_TRUE(worse);
}

TEST(Eg, LogOddsSayHowNearTheGoldOutputsItStarts) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::crf(), 1};
  EgOptions options = for_passes(3);
  options.log_odds = 0;
  EgOptions uniform = for_passes(3);
  uniform.start = EgStart::uniform;
  expect_same_bits(solve(objective, options), solve(objective, uniform), true);
  options.log_odds = 3;
  expect_same_bits(solve(objective, options), solve(objective, for_passes(3)), false);
}

// Problems of odd shapes, each to the optimum by every step.
void expect_optimum(const MulticlassData& data, double l2, double passes = 2000) {
  const OwnedProblem owned(data);
  for (const Loss& loss : kLosses) {
    for (const EgStep step : kSteps) {
      // The paper's step was made for log-linear models; on a maximum it ends up slow.
      const double tolerance = loss.smooth() ? 1e-6 : step == EgStep::paper ? 5e-3 : 1e-3;
      for (const EgStart start : kStarts) {
        EgOptions options = to_gap(tolerance, passes);
        options.step = step;
        options.start = start;
        const Solution solution = solve({owned.problem, loss, l2}, options);
        const std::string where = describe(loss, options);
        EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
        expect_gaps(solution.summary, where);
        for (const float weight : solution.theta.values()) ASSERT_TRUE(std::isfinite(weight)) << where;
      }
    }
  }
}

TEST(EgShapes, OneExample) { expect_optimum(random_data(1, {.examples = 1, .density = 1}), 1); }

TEST(EgShapes, OneAttribute) { expect_optimum(random_data(2, {.attributes = 1, .density = 1}), 1); }

TEST(EgShapes, SomeExamplesWithoutAttributes) {
  MulticlassData data = random_data(3, {.examples = 20, .weighted = false});
  for (int copies = 0; copies < 5; ++copies) {
    data.rows.finish_row();
    data.gold.push_back(static_cast<std::uint32_t>(copies) % 4);
  }
  expect_optimum(data, 1);
}

TEST(EgShapes, NoAttributesAtAll) {
  MulticlassData data;
  data.attributes = 2;
  data.labels = 3;
  for (std::uint32_t i = 0; i < 5; ++i) {
    data.rows.finish_row();
    data.gold.push_back(i % 3);
  }
  expect_optimum(data, 1);
}

TEST(EgShapes, ALabelThatNeverOccurs) {
  MulticlassData data = random_data(4);
  for (std::uint32_t& gold : data.gold) gold %= 3;
  expect_optimum(data, 1);
}

TEST(EgShapes, OneLabel) { expect_optimum(random_data(5, {.labels = 1}), 1); }

// a x with a^2 l2 is the same problem; only numbers differ.
TEST(EgShapes, ValuesOfAllSizes) {
  const MulticlassData data = random_data(6);
  for (const float size : {1e4f, 1e-4f}) {
    MulticlassData scaled = data;
    scaled.rows = {};
    for (std::size_t i = 0; i < data.gold.size(); ++i) {
      const SparseRows::Row row = data.rows.row(i);
      for (std::size_t j = 0; j < row.ids.size(); ++j) scaled.rows.add(row.ids[j], size * row.value(j));
      scaled.rows.finish_row();
    }
    expect_optimum(scaled, 1.0 * size * size);
    // A hundred times less regularisation, and a hundred times more.
    const OwnedProblem owned(scaled);
    for (const Loss& loss : kLosses) {
      const double factor = size > 1 ? 0.01 : 100;
      const Solution solution = solve({owned.problem, loss, factor * size * size}, to_gap(1e-2, 3000));
      EXPECT_EQ(solution.summary.status, Status::converged)
          << loss.name() << ", values of " << size << ": " << solution.summary.message;
      expect_gaps(solution.summary, loss.name());
    }
  }
}

}  // namespace
}  // namespace espalier::eg_test
