#include "espalier/selection/repeat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "selection/repeat_run.h"
#include "solvers/training.h"
#include "support/random_problem.h"

namespace espalier {
namespace {

using test_support::OwnedProblem;
using test_support::random_weights;

SolverSettings for_passes(double passes, std::uint64_t seed) {
  SolverSettings settings;
  settings.stopping.gap = -1;
  settings.stopping.passes = passes;
  settings.seed = seed;
  return settings;
}

// Each run is the one of its seed, and the best dual of them is kept.
TEST(Repeat, KeepsTheRunOfTheBestDual) {
  const OwnedProblem owned(1);
  const Objective objective{owned.problem, Loss::crf(), 0.1};
  for (const char* name : {"eg", "sdca", "dca"}) {
    const SolverEntry& solver = find_solver(name, objective.loss);
    constexpr std::size_t kTimes = 6;
    const SolverSettings settings = for_passes(3, 20);
    std::vector<std::uint64_t> seen;
    std::size_t finished = 0;
    const RepeatedTraining repeats = repeat(
        objective, kTimes, solver, settings, {},
        [&](std::uint64_t seed, const Progress&, const Weights&) {
          if (seen.empty() || seen.back() != seed) seen.push_back(seed);
          return Control::go_on;
        },
        [&](const RepeatedRun& run) { EXPECT_EQ(run.seed, 20 + finished++); });
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{20, 21, 22, 23, 24, 25})) << name;
    EXPECT_EQ(finished, kTimes);
    ASSERT_EQ(repeats.runs.size(), kTimes);
    EXPECT_EQ(repeats.confidence(), 1 - 1 / 64.0);

    double best = repeats.runs[0].certificate.dual, worst = best;
    for (std::size_t k = 0; k < kTimes; ++k) {
      Training training;
      SolverSettings alone = settings;
      alone.seed = 20 + k;
      const Summary summary = solver.run(objective, alone, training, {});
      const RepeatedRun& run = repeats.runs[k];
      EXPECT_EQ(run.seed, alone.seed);
      EXPECT_EQ(run.certificate.dual, summary.history.back().dual) << name;
      EXPECT_EQ(run.certificate.primal, summary.history.back().primal) << name;
      EXPECT_EQ(run.certificate.passes, 3) << name;
      EXPECT_EQ(run.status, Status::out_of_passes);
      EXPECT_EQ(run.message, summary.message);
      best = std::max(best, run.certificate.dual);
      worst = std::min(worst, run.certificate.dual);
      if (k == repeats.best) {
        EXPECT_TRUE(std::ranges::equal(repeats.training.theta.values(), training.theta.values())) << name;
        EXPECT_EQ(repeats.training.dual.has_value(), training.dual.has_value());
      }
    }
    EXPECT_EQ(repeats.runs[repeats.best].certificate.dual, best) << name;
    EXPECT_LT(worst, best) << name << ": nothing to choose from";
  }
}

// Collins et al. 2008, section 5.1: the best of k is more than twice as far off as the mean in at most 2^-k
// of all cases.
TEST(Repeat, BestOfKIsWithinTwiceTheMean) {
  const OwnedProblem owned(2, {.examples = 10, .attributes = 5, .labels = 3});
  const Objective objective{owned.problem, Loss::crf(), 0.5};
  const SolverEntry& solver = find_solver("eg", objective.loss);
  SolverSettings exact;
  exact.stopping.gap = 1e-9;
  Training training;
  const double optimum = solver.run(objective, exact, training, {}).history.back().primal;

  SolverSettings settings = for_passes(2, 1);
  settings.eg.step = EgStep::safe;
  settings.eg.sampling = Sampling::random;
  settings.eg.start = EgStart::uniform;
  constexpr std::size_t kTrials = 60, kTimes = 3;
  std::vector<double> missing, best;
  for (std::size_t t = 0; t < kTrials; ++t) {
    settings.seed = 1 + kTimes * t;
    const RepeatedTraining repeats = repeat(objective, kTimes, solver, settings);
    for (const RepeatedRun& run : repeats.runs) missing.push_back(optimum - run.certificate.dual);
    best.push_back(optimum - repeats.runs[repeats.best].certificate.dual);
  }
  double mean = 0;
  for (const double x : missing) mean += x / static_cast<double>(missing.size());
  const auto beyond =
      static_cast<double>(std::count_if(best.begin(), best.end(), [&](double x) { return x > 2 * mean; }));
  EXPECT_LE(beyond / kTrials, std::exp2(-static_cast<double>(kTimes)));
  EXPECT_GT(mean, 0.01 * optimum) << "runs that are all at the optimum prove nothing";
}

TEST(Repeat, TheFirstOfEqualsIsKept) {
  const OwnedProblem owned(3);
  const RepeatedTraining repeats =
      repeat({owned.problem, Loss::crf(), 1}, 3, find_solver("lbfgs", Loss::crf()), for_passes(10, 5));
  ASSERT_EQ(repeats.runs.size(), 3u);
  EXPECT_EQ(repeats.runs[0].certificate.dual, repeats.runs[2].certificate.dual);
  EXPECT_EQ(repeats.best, 0u);
}

TEST(Repeat, EveryRunBeginsAtTheSameStart) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::svm(), 1};
  Training start;
  start.theta = random_weights(1, owned.problem.weight_shape());
  std::vector<double> first;
  std::uint64_t last_seed = 0;
  repeat(objective, 3, find_solver("sgd", objective.loss), for_passes(0, 1), start,
         [&](std::uint64_t seed, const Progress& now, const Weights&) {
           if (seed != last_seed) first.push_back(now.primal);
           last_seed = seed;
           return Control::go_on;
         });
  ASSERT_EQ(first.size(), 3u);
  for (const double primal : first) EXPECT_EQ(primal, evaluate_primal(objective, start.theta));
}

// The run at hand is the last one. It counts if it is the best, but not for the confidence.
TEST(Repeat, AStopEndsIt) {
  const OwnedProblem owned(5);
  const Objective objective{owned.problem, Loss::crf(), 0.1};
  const SolverEntry& solver = find_solver("eg", objective.loss);
  const RepeatedTraining observed = repeat(objective, 5, solver, for_passes(3, 1), {},
                                           [](std::uint64_t seed, const Progress&, const Weights&) {
                                             return seed == 3 ? Control::stop : Control::go_on;
                                           });
  ASSERT_EQ(observed.runs.size(), 3u);
  EXPECT_EQ(observed.runs[2].status, Status::stopped);
  EXPECT_EQ(observed.ended(), 2u);
  EXPECT_EQ(observed.confidence(), 0.75);

  const std::atomic<bool> stop = true;
  SolverSettings settings = for_passes(3, 1);
  settings.stopping.stop = &stop;
  const RepeatedTraining interrupted = repeat(objective, 5, solver, settings);
  ASSERT_EQ(interrupted.runs.size(), 1u);
  EXPECT_EQ(interrupted.confidence(), 0);
  EXPECT_EQ(interrupted.runs[0].certificate.primal, evaluate_primal(objective, interrupted.training.theta));
}

}  // namespace
}  // namespace espalier
