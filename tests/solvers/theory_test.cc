// What the papers prove of the algorithms, on fixed problems: how far each may be from the optimum after so
// many visits, and how the passes grow with the accuracy.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "solvers/eg_batch.h"
#include "solvers/excessive_gap.h"
#include "solvers/frank_wolfe.h"
#include "solvers/sdca.h"
#include "support/dual_distances.h"
#include "support/eg_solution.h"
#include "support/history_checks.h"
#include "support/problems_of_all_kinds.h"

namespace espalier::theory_test {
namespace {

using test_support::EgSolution;
using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::ProblemsOfAllKinds;
using test_support::weighted_divergence_from_uniform;
using test_support::weighted_squared_diameters;

constexpr double kNever = 1e9;

// Problems with weights and costs, so small that the bounds say something after few passes.
class SmallProblems {
 public:
  struct Named {
    std::string name;
    const Problem& problem;
    double l2;
  };
  std::vector<Named> all() const {
    return {
        {"classes", classes_.problem, 1}, {"chains", chains_.problem, 20}, {"trees", trees_.problem, 300}};
  }

 private:
  OwnedProblem classes_{7, {.examples = 8, .attributes = 5, .labels = 3}};
  OwnedChainProblem chains_{7, {.sequences = 8, .longest = 4, .labels = 3}};
  OwnedDependencyProblem trees_{7, {.sentences = 8, .longest = 4, .shape = {true, false, 1}}};
};

// What the bounds of Collins et al. 2008 are made of, for duals that start uniform. Weights of examples are
// those of their divergences; the norm of A is that of one example where one is visited, and the sum of all
// in a batch.
struct Constants {
  Constants(const Objective& objective, const EgSolution& optimal)
      : best(optimal.last().dual),  // the lemmas are about any duals, so about these
        excess(best - evaluate_dual(objective, DualState(objective.problem)).value),
        divergence(weighted_divergence_from_uniform(objective.problem, optimal.dual)),
        inverse_beta(objective.loss.inverse_beta()),
        batch_tau(inverse_beta + weighted_squared_diameters(objective.problem) / objective.regularizer.l2) {
    double largest = 0;
    for (std::size_t i = 0; i < objective.problem.size(); ++i) {
      largest = std::max(largest, objective.problem.weight(i) * objective.problem.squared_diameter(i));
    }
    online_tau = inverse_beta + largest / objective.regularizer.l2;
  }

  // Table 1 in passes: steps of a batch that surely are enough for an error of epsilon, and visits over n
  // that are enough on average.
  double batch_passes(double epsilon) const {
    if (inverse_beta == 0) return batch_tau * divergence / epsilon;
    return batch_tau / inverse_beta * std::log(batch_tau * divergence / epsilon);
  }
  double online_passes(double epsilon) const {
    const double c2 = online_tau * divergence + excess;
    if (inverse_beta == 0) return c2 / epsilon;
    return online_tau / inverse_beta * std::log(c2 / epsilon);
  }

  double best, excess, divergence, inverse_beta, batch_tau, online_tau = 0;
};

EgSolution optimal_duals(const Objective& objective) {
  EgOptions options;
  options.stopping.gap = objective.loss.smooth() ? 1e-9 : 1e-4;
  options.stopping.passes = 20000;
  EgSolution solution(objective, options);
  EXPECT_EQ(solution.summary.status, Status::converged) << solution.summary.message;
  return solution;
}

EgOptions online_theorem(double passes, std::uint64_t seed) {
  EgOptions options;
  options.stopping.gap = -1;
  options.stopping.passes = passes;
  options.step = EgStep::safe;
  options.sampling = Sampling::random;
  options.start = EgStart::uniform;
  options.report_every = kNever;
  options.seed = seed;
  return options;
}

EgBatchOptions batch_theorem(double steps) {
  EgBatchOptions options;
  options.stopping.gap = -1;
  options.stopping.passes = steps + 1;  // the last one is looked at, too
  options.step = EgBatchStep::safe;
  options.start = EgStart::uniform;
  options.report_every = 0;
  return options;
}

// The mean over seeds, and its standard error.
struct Estimate {
  double mean = 0, error = 0;
};
Estimate estimate(const std::vector<double>& draws) {
  Estimate result;
  const auto n = static_cast<double>(draws.size());
  for (const double x : draws) result.mean += x / n;
  for (const double x : draws) result.error += (x - result.mean) * (x - result.mean);
  result.error = std::sqrt(result.error / (n * (n - 1)));
  return result;
}

class TableOneTest : public ::testing::TestWithParam<Loss> {};

// Collins et al. 2008, Table 1: so much computation is enough at the theorems' steps, in a batch and, in
// expectation, online.
TEST_P(TableOneTest, ComputationIsEnough) {
  const Loss& loss = GetParam();
  const SmallProblems problems;
  for (const auto& named : problems.all()) {
    const Objective objective{named.problem, loss, named.l2};
    const EgSolution optimal = optimal_duals(objective);
    const Constants of(objective, optimal);
    const std::vector<double> shares = loss.smooth() ? std::vector{0.3, 0.01, 1e-4} : std::vector{0.5, 0.1};
    for (const double share : shares) {
      const double epsilon = share * of.excess;
      const std::string where = named.name + ": " + loss.name() + ", " + std::to_string(share);

      const double steps = std::ceil(of.batch_passes(epsilon));
      EgBatchOptions batch = batch_theorem(steps);
      batch.report_every = kNever;
      Weights theta;
      const Summary summary = eg_batch(objective, batch, theta);
      EXPECT_EQ(summary.history.back().passes, steps + 1) << where;
      EXPECT_LE(of.best - summary.history.back().dual, epsilon) << where;

      constexpr std::uint64_t kSeeds = 25;
      const double passes = std::ceil(of.online_passes(epsilon));
      ASSERT_LT(passes, steps) << where
                               << ": visits of one example are to be worth more than a share of a batch";
      std::vector<double> missing;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const EgSolution run(objective, online_theorem(passes, seed));
        ASSERT_EQ(run.last().passes, passes) << where;
        missing.push_back(of.best - run.last().dual);
      }
      const Estimate expected = estimate(missing);
      EXPECT_LE(expected.mean + 2 * expected.error, epsilon) << where;
    }
  }
}

// Theorem 2 after every pass, where Table 1 is about the last one.
TEST_P(TableOneTest, TheoremTwoHoldsOnEveryStructure) {
  const Loss& loss = GetParam();
  const SmallProblems problems;
  for (const auto& named : problems.all()) {
    const Objective objective{named.problem, loss, named.l2};
    const EgSolution optimal = optimal_duals(objective);
    const Constants of(objective, optimal);
    constexpr std::size_t kSeeds = 25, kPasses = 30;
    std::vector<std::vector<double>> missing(kPasses);  // after each pass, with each seed
    for (std::size_t seed = 1; seed <= kSeeds; ++seed) {
      EgOptions options = online_theorem(kPasses, seed);
      options.report_every = 1;
      const EgSolution run(objective, options);
      ASSERT_EQ(run.summary.history.size(), kPasses);
      for (std::size_t t = 0; t < kPasses; ++t) missing[t].push_back(of.best - run.summary.history[t].dual);
    }
    for (std::size_t t = 0; t < kPasses; ++t) {
      const auto passes = static_cast<double>(t + 1);
      const Estimate expected = estimate(missing[t]);
      const double at_most = expected.mean + 2 * expected.error,
                   slow = (of.online_tau * of.divergence + of.excess) / passes;
      EXPECT_LE(at_most, slow) << named.name << ": " << loss.name() << ", pass " << t + 1;
      const double fast =
          std::exp(-of.inverse_beta / of.online_tau * passes) * (of.online_tau * of.divergence + of.excess);
      EXPECT_LE(at_most, fast) << named.name << ": " << loss.name() << ", pass " << t + 1;
    }
  }
}

// What both theorems have in common with what is seen: visits of one example at a time need a fraction of a
// batch's passes.
TEST_P(TableOneTest, OnlineTakesAFractionOfTheBatch) {
  const Loss& loss = GetParam();
  const SmallProblems problems;
  for (const auto& named : problems.all()) {
    const Objective objective{named.problem, loss, named.l2};
    const EgSolution optimal = optimal_duals(objective);
    const Constants of(objective, optimal);
    const double enough = of.best - (loss.smooth() ? 1e-3 : 0.03) * of.excess;
    const auto passes_to = [enough](const Summary& summary) {
      for (const Progress& now : summary.history) {
        if (now.dual >= enough) return now.passes;
      }
      ADD_FAILURE() << "not reached";
      return 0.0;
    };
    Weights theta;
    const double steps = passes_to(eg_batch(objective, batch_theorem(1000), theta)) - 1;
    EgOptions options = online_theorem(1000, 1);
    options.report_every = 1;
    const double passes = passes_to(EgSolution(objective, options).summary);
    RecordProperty(named.name + "_batch", std::to_string(steps));
    RecordProperty(named.name + "_online", std::to_string(passes));
    EXPECT_LE(2 * passes, steps) << named.name << ": " << loss.name();
  }
}

INSTANTIATE_TEST_SUITE_P(BothDuals, TableOneTest, ::testing::Values(Loss::crf(), Loss::svm()),
                         [](const auto& info) { return info.param.smooth() ? "LogLinear" : "MaxMargin"; });

// How the passes to an error grow with 1/error: the slope of their logarithms, fitted to errors from
// `largest` down to `smallest`, four to a power of ten. O(1/eps) has slope 1, O(1/sqrt(eps)) 1/2, and O(log
// 1/eps) less than any.
double fitted_slope(const Summary& summary, const std::function<double(const Progress&)>& error,
                    double largest, double smallest) {
  std::vector<double> x, y;
  std::size_t t = 0;
  for (double level = largest; level >= smallest; level *= std::pow(10, -0.25)) {
    while (t < summary.history.size() && !(error(summary.history[t]) <= level)) ++t;
    if (t == summary.history.size()) {
      ADD_FAILURE() << "stops before an error of " << level;
      return 0;
    }
    x.push_back(-std::log(level));
    y.push_back(std::log(summary.history[t].passes));
  }
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (std::size_t k = 0; k < x.size(); ++k) mean_x += x[k] / n, mean_y += y[k] / n;
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += (x[k] - mean_x) * (x[k] - mean_x);
    xy += (x[k] - mean_x) * (y[k] - mean_y);
  }
  return xy / xx;
}

class RatesTest : public ::testing::Test {
 protected:
  // More examples than weights, and noise: the optimum is no corner, where every method would be fast in the
  // end.
  const OwnedProblem owned_{11, {.examples = 40, .attributes = 3, .labels = 4, .density = 0.8, .noise = 0.4}};
  const Objective maximum_{owned_.problem, Loss::svm(), 1}, smooth_{owned_.problem, Loss::crf(), 1};

  double optimum() const {
    FrankWolfeOptions options;
    options.stopping.gap = 1e-8;
    MeanState means(owned_.problem);
    Weights theta;
    const Summary summary = frank_wolfe(maximum_, options, means, theta);
    EXPECT_EQ(summary.status, Status::converged) << summary.message;
    return summary.history.back().primal;
  }
  static StoppingRule for_passes(double passes) {
    StoppingRule rule;
    rule.gap = -1;
    rule.passes = passes;
    return rule;
  }
};

// Theorem 2: O(1/eps) of the dual.
TEST_F(RatesTest, PlainEgOnAMaximum) {
  const double best = optimum();
  EgOptions options = online_theorem(4000, 1);
  options.report_every = 1;
  const EgSolution run(maximum_, options);
  const double slope = fitted_slope(
      run.summary, [&](const Progress& now) { return (best - now.dual) / best; }, 0.1, 1e-4);
  RecordProperty("slope", std::to_string(slope));
  EXPECT_LE(slope, 1);
}

// Lacoste-Julien et al. 2013 on their Algorithm 3: E[D* - D] <= 2n/(k + 2n) (C + D* - D_0) after k visits in
// random order, where C is the sum of the blocks' curvatures, each at most |omega_i F_i(chi - chi')|^2/l2.
// Outputs are at most twice as far from each other as from the gold one.
TEST(FrankWolfeTheory, BoundHoldsInExpectation) {
  const SmallProblems problems;
  for (const auto& named : problems.all()) {
    const Objective objective{named.problem, Loss::svm(), named.l2};
    FrankWolfeOptions options;
    options.stopping.gap = 1e-8;
    MeanState best_means(named.problem);
    Weights theta;
    const double best = frank_wolfe(objective, options, best_means, theta).history.back().primal;
    double curvature = 0;
    for (std::size_t i = 0; i < named.problem.size(); ++i) {
      const double omega = named.problem.weight(i);
      curvature += 4 * omega * omega * named.problem.squared_diameter(i) / named.l2;
    }
    options.stopping.gap = -1;
    options.corrective = false;
    options.sampling = Sampling::random;
    options.report_every = kNever;
    for (const double passes : {1.0, 4.0, 16.0, 64.0, 256.0}) {
      options.stopping.passes = passes;
      std::vector<double> missing;
      for (options.seed = 1; options.seed <= 25; ++options.seed) {
        MeanState means(named.problem);
        const Summary summary = frank_wolfe(objective, options, means, theta);
        ASSERT_EQ(summary.history.back().passes, passes);
        missing.push_back(best - summary.history.back().dual);
      }
      const Estimate expected = estimate(missing);
      // From the gold outputs, whose dual is 0.
      const double bound = 2 / (passes + 2) * (curvature + best);
      EXPECT_LE(expected.mean + 2 * expected.error, bound) << named.name << ", " << passes << " passes";
      if (passes == 256) {
        EXPECT_LT(bound, 0.5 * best) << named.name << ": bounds that hold for the start prove nothing";
      }
    }
  }
}

// The same as a rate: O(1/eps) of the dual.
TEST_F(RatesTest, FrankWolfeWithoutCorrections) {
  const double best = optimum();
  FrankWolfeOptions options;
  options.stopping = for_passes(4000);
  options.corrective = false;
  options.sampling = Sampling::random;
  options.report_every = 1;
  MeanState means(owned_.problem);
  Weights theta;
  const Summary summary = frank_wolfe(maximum_, options, means, theta);
  const double slope = fitted_slope(
      summary, [&](const Progress& now) { return (best - now.dual) / best; }, 0.1, 1e-4);
  RecordProperty("slope", std::to_string(slope));
  EXPECT_LE(slope, 1);
}

// Zhang et al. 2011, Theorem 4: O(1/sqrt(eps)) of the gap.
TEST_F(RatesTest, ExcessiveGap) {
  ExcessiveGapOptions options;
  options.stopping = for_passes(4000);
  options.smoothing = Smoothing::paper;
  options.report_every = 1;
  Weights theta;
  const Summary summary = excessive_gap(maximum_, options, theta);
  const double slope = fitted_slope(
      summary, [](const Progress& now) { return now.relative_gap(); }, 0.1, 1e-4);
  RecordProperty("slope", std::to_string(slope));
  EXPECT_LE(slope, 0.55);
}

// O(log 1/eps) of the gap: each digit costs about the same.
TEST_F(RatesTest, EgAndSdcaOnASmoothLoss) {
  const auto check = [](const Summary& summary, const std::string& name) {
    const auto error = [](const Progress& now) { return now.relative_gap(); };
    const double slope = fitted_slope(summary, error, 1e-2, 1e-7);
    RecordProperty(name, std::to_string(slope));
    EXPECT_LE(slope, 0.25) << name;
  };
  EgOptions options = online_theorem(1000, 1);
  options.report_every = 1;
  check(EgSolution(smooth_, options).summary, "eg_safe");
  options = {};
  options.stopping = for_passes(100);
  options.sampling = Sampling::random;
  options.report_every = 1;
  check(EgSolution(smooth_, options).summary, "eg_auto");
  SdcaOptions sdca_options;
  sdca_options.stopping = for_passes(100);
  sdca_options.sampling = Sampling::random;
  sdca_options.report_every = 1;
  CliqueState state(owned_.problem);
  Weights theta;
  check(sdca(smooth_, sdca_options, state, theta), "sdca");
}

// Automatic steps improve the very objective, from the first visit where nothing is annealed, and from where
// l2 has come down to its value where something is. (For beta = infinity they improve smoothed objectives.)
TEST(DualNeverFalls, WithAutomaticStepsOfEg) {
  const ProblemsOfAllKinds problems(3);
  for (const auto& named : problems.all()) {
    for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{5, 2}}) {
      for (const EgStart start : {EgStart::gold, EgStart::uniform}) {
        for (const EgAnneal anneal : {EgAnneal::none, EgAnneal::automatic}) {
          EgOptions options;
          options.stopping.gap = -1;
          options.stopping.passes = 25;
          options.report_every = 1e-9;
          options.start = start;
          options.anneal = anneal;
          const Objective objective{named.problem, loss, named.l2 / 8};
          double mean = 0;
          const auto n = static_cast<double>(objective.problem.size());
          for (std::size_t i = 0; i < objective.problem.size(); ++i) {
            mean += objective.problem.weight(i) * objective.problem.squared_change(i) / n;
          }
          Summary summary = EgSolution(objective, options).summary;
          const std::string where = named.name + ": " + loss.name();
          expect_gaps(summary, where);
          if (anneal == EgAnneal::automatic) {
            // mean/2 2^-passes = l2
            const double annealed = std::log2(mean / 2 / objective.regularizer.l2);
            std::erase_if(summary.history, [&](const Progress& now) { return now.passes < annealed + 1; });
          }
          ASSERT_GE(summary.history.size(), 20u) << where;
          expect_rising_dual(summary, where);
        }
      }
    }
  }
}

TEST(DualNeverFalls, WithFrankWolfeOnAnyStructureAndInAnyOrder) {
  const ProblemsOfAllKinds problems(4);
  for (const auto& named : problems.all()) {
    for (const Sampling sampling : {Sampling::gap, Sampling::shuffled, Sampling::cyclic}) {
      FrankWolfeOptions options;
      options.stopping.gap = -1;
      options.stopping.passes = 15;
      options.report_every = 1e-9;
      options.sampling = sampling;
      MeanState means(named.problem);
      Weights theta;
      const Summary summary = frank_wolfe({named.problem, Loss::svm(), named.l2 / 8}, options, means, theta);
      ASSERT_GE(summary.history.size(), 15u) << named.name;
      expect_gaps(summary, named.name);
      expect_rising_dual(summary, named.name);
    }
  }
}

TEST(DualNeverFalls, WithSdcaInAnyOrder) {
  const ProblemsOfAllKinds problems(5);
  for (const auto& named : problems.all()) {
    if (!named.problem.factored()) continue;
    for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{5, 2}}) {
      for (const Sampling sampling : {Sampling::gap, Sampling::shuffled, Sampling::cyclic}) {
        SdcaOptions options;
        options.stopping.gap = -1;
        options.stopping.passes = 15;
        options.report_every = 1e-9;
        options.sampling = sampling;
        CliqueState state(named.problem);
        Weights theta;
        const Summary summary = sdca({named.problem, loss, named.l2 / 8}, options, state, theta);
        const std::string where = named.name + ": " + loss.name();
        ASSERT_GE(summary.history.size(), 15u) << where;
        expect_gaps(summary, where);
        expect_rising_dual(summary, where);
      }
    }
  }
}

}  // namespace
}  // namespace espalier::theory_test
