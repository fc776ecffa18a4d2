#include "espalier/selection/race.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "selection/race_run.h"
#include "solvers/training.h"
#include "support/error_message.h"
#include "support/problems_of_all_kinds.h"
#include "support/random_problem.h"

namespace espalier::race_test {
namespace {

using test_support::OwnedProblem;
using test_support::ProblemsOfAllKinds;
using testing::error_message;

std::vector<SolverEntry> solvers_of(const std::vector<std::string>& names, const Loss& loss) {
  std::vector<SolverEntry> entries;
  for (const std::string& name : names) entries.push_back(find_solver(name, loss));
  return entries;
}

SolverSettings settings_with(double gap, double passes) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = passes;
  settings.report_every = 1;
  return settings;
}

Progress report(double primal, double dual, double passes = 0) {
  Progress progress;
  progress.primal = primal;
  progress.dual = dual;
  progress.passes = passes;
  return progress;
}

RaceRun run_of(std::vector<Progress> history) {
  RaceRun run;
  run.summary.history = std::move(history);
  return run;
}

TEST(Race, TheOptimumIsBetweenTheBestDualAndTheBestPrimal) {
  const ProblemsOfAllKinds problems(1);
  for (const auto& named : problems.all()) {
    for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
      SCOPED_TRACE(named.name + ", " + loss.name());
      const auto solvers = solvers_of({"eg", "sgd", "bmrm"}, loss);
      const Race result = race({named.problem, loss, named.l2}, solvers, settings_with(1e-3, 50));
      ASSERT_EQ(result.runs.size(), 3u);
      EXPECT_FALSE(result.stopped);
      EXPECT_EQ(result.inference, Inference::exact);
      double dual = -std::numeric_limits<double>::infinity(), primal = -dual;
      for (const RaceRun& run : result.runs) {
        ASSERT_FALSE(run.summary.history.empty());
        EXPECT_TRUE(run.dev.empty());
        for (const Progress& now : run.summary.history) {
          dual = std::max(dual, now.dual);
          primal = std::min(primal, now.primal);
          // Another solver's dual never makes a certificate worse.
          EXPECT_LE(result.largest_gap(now), now.relative_gap());
          EXPECT_GE(result.smallest_gap(now), 0);
          EXPECT_LE(result.smallest_gap(now), result.largest_gap(now));
          EXPECT_GE(result.largest_gap(now), result.width() * (1 - 1e-12));
        }
      }
      EXPECT_EQ(result.lower, dual);
      EXPECT_EQ(result.upper, primal);
      EXPECT_EQ(result.width(), (primal - dual) / primal);
      // The optimum, from a run that takes it further than the race did.
      Training training;
      const Summary better =
          find_solver("eg", loss)
              .run({named.problem, loss, named.l2}, settings_with(1e-6, 500), training, {});
      EXPECT_LE(result.lower, better.history.back().primal);
      EXPECT_GE(result.upper, better.history.back().dual);
    }
  }
}

// A run in a race is what the solver does on its own: nothing is left over from the one before.
TEST(Race, EveryRunIsFresh) {
  const OwnedProblem owned(2);
  const Loss loss = Loss::crf();
  const Objective objective{owned.problem, loss, 0.5};
  const SolverSettings settings = settings_with(1e-4, 100);
  const auto solvers = solvers_of({"lbfgs", "sdca", "eg", "sgd"}, loss);
  const Race result = race(objective, solvers, settings);
  ASSERT_EQ(result.runs.size(), solvers.size());
  for (std::size_t k = 0; k < solvers.size(); ++k) {
    SCOPED_TRACE(solvers[k].name);
    Training training;
    const Summary alone = solvers[k].run(objective, settings, training, {});
    const RaceRun& run = result.runs[k];
    EXPECT_EQ(run.solver, solvers[k].name);
    EXPECT_EQ(run.summary.status, alone.status);
    ASSERT_EQ(run.summary.history.size(), alone.history.size());
    for (std::size_t t = 0; t < alone.history.size(); ++t) {
      EXPECT_EQ(run.summary.history[t].passes, alone.history[t].passes);
      EXPECT_EQ(run.summary.history[t].primal, alone.history[t].primal);
      EXPECT_EQ(run.summary.history[t].dual, alone.history[t].dual);
    }
  }
}

TEST(Race, ConvergedSolversArriveAtTheToleranceAtTheLatest) {
  const OwnedProblem owned(3);
  const Loss loss = Loss::softmax_margin();
  const Race result = race({owned.problem, loss, 1}, solvers_of({"eg", "lbfgs", "sdca", "eg-batch"}, loss),
                           settings_with(1e-4, 1000));
  for (const RaceRun& run : result.runs) {
    SCOPED_TRACE(run.solver);
    ASSERT_EQ(run.summary.status, Status::converged);
    std::size_t before = 0;
    for (const double gap : {1e-1, 1e-2, 1e-3, 1e-4}) {
      const Arrival arrival = result.arrival(run, gap);
      ASSERT_TRUE(arrival.certain && arrival.possible) << gap;
      EXPECT_LE(*arrival.possible, *arrival.certain);
      EXPECT_GE(*arrival.certain, before) << "smaller gaps come later";
      before = *arrival.certain;
      const auto& history = run.summary.history;
      EXPECT_LE(result.largest_gap(history[*arrival.certain]), gap);
      for (std::size_t t = 0; t < *arrival.certain; ++t) EXPECT_GT(result.largest_gap(history[t]), gap);
      for (std::size_t t = 0; t < *arrival.possible; ++t) EXPECT_GT(result.smallest_gap(history[t]), gap);
    }
    EXPECT_FALSE(result.arrival(run, result.width() / 2).certain) << "no run can be known to be so near";
  }
}

TEST(Race, ArrivalsAreWhatTheIntervalTells) {
  Race known;
  known.lower = 90;
  known.upper = 99;
  const RaceRun run = run_of({report(200, 0), report(110, 0), report(100, 0), report(120, 0)});
  // At most (200 - 90)/200, (110 - 90)/110, (100 - 90)/100; at least (200 - 99)/200, (110 - 99)/110, (100 -
  // 99)/100.
  const Arrival easy = known.arrival(run, 0.6), middle = known.arrival(run, 0.11),
                hard = known.arrival(run, 0.05), out = known.arrival(run, 0.005);
  EXPECT_EQ(easy.possible, 0u);
  EXPECT_EQ(easy.certain, 0u);
  EXPECT_EQ(middle.possible, 1u);
  EXPECT_EQ(middle.certain, 2u);
  EXPECT_EQ(hard.possible, 2u);
  EXPECT_EQ(hard.certain, std::nullopt);
  EXPECT_EQ(out.possible, std::nullopt);
  EXPECT_EQ(out.certain, std::nullopt);
  EXPECT_DOUBLE_EQ(known.width(), 9.0 / 99);
}

TEST(Race, ReportsThatAreNotFiniteArriveNowhere) {
  Race known;
  known.lower = 1;
  known.upper = 1;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Arrival arrival = known.arrival(run_of({report(nan, nan), report(infinity, 0), report(1, nan)}), 0.1);
  EXPECT_EQ(arrival.possible, 2u);
  EXPECT_EQ(arrival.certain, 2u);
}

TEST(Race, FirstNearTheBestOnHeldOutData) {
  RaceRun run;
  EXPECT_EQ(run.first_near_best(0.1), std::nullopt);
  run.dev = {{0.09, 9}, {0.0741, 7.41}, {0.074, 7.4}, {0.08, 8}, {0.073, 7.3}, {0.0735, 7.35}};
  EXPECT_EQ(run.first_near_best(0.1), 2u) << "7.4 and 7.3, but for rounding";
  EXPECT_EQ(run.first_near_best(0.11), 1u);
  EXPECT_EQ(run.first_near_best(0), 4u);
  EXPECT_EQ(run.first_near_best(10), 0u);
  run.dev = {{0.5, 50}, {0.1, 90}, {0.0995, 90.05}};
  EXPECT_EQ(run.first_near_best(0.1), 1u) << "larger is better here";
}

TEST(Race, ScoresAreThoseOfTheReports) {
  const OwnedProblem owned(4);
  const Loss loss = Loss::crf();
  std::vector<std::string> events;
  RaceObserver observer;
  std::size_t scored = 0, reported = 0;
  double norm = 0;
  observer.started = [&](const SolverEntry& solver) {
    events.push_back("start " + std::string(solver.name));
  };
  observer.reported = [&](const SolverEntry&, const Progress& progress, const Weights& theta) {
    ++reported;
    EXPECT_EQ(scored, reported) << "before the observer";
    EXPECT_EQ(norm, euclidean_squared_norm(theta));
    EXPECT_DOUBLE_EQ(evaluate_primal({owned.problem, loss, 1}, theta), progress.primal);
    return Control::go_on;
  };
  observer.finished = [&](const RaceRun& run) {
    EXPECT_EQ(run.dev.size(), run.summary.history.size());
    EXPECT_EQ(run.dev.back().value, norm);
    EXPECT_EQ(run.dev.back().dev_error, -norm);
    events.push_back("end " + run.solver);
  };
  const Race result = race(
      {owned.problem, loss, 1}, solvers_of({"eg", "sgd"}, loss), settings_with(1e-3, 100),
      [&](const Weights& theta) {
        ++scored;
        norm = euclidean_squared_norm(theta);
        return HeldOutScore{-norm, norm};
      },
      observer);
  EXPECT_EQ(events, (std::vector<std::string>{"start eg", "end eg", "start sgd", "end sgd"}));
  EXPECT_EQ(reported, result.runs[0].summary.history.size() + result.runs[1].summary.history.size());
}

// SDCA needs clique marginals, which nonprojective trees do not have.
TEST(Race, ASolverThatRefusesTheStructureDoesNotEndIt) {
  const ProblemsOfAllKinds problems(5);
  const auto trees = problems.all().at(5);
  ASSERT_EQ(trees.problem.factored(), nullptr) << trees.name;
  const Loss loss = Loss::crf();
  const Objective objective{trees.problem, loss, trees.l2};
  const Race result = race(objective, solvers_of({"sdca", "eg"}, loss), settings_with(1e-3, 100));
  ASSERT_EQ(result.runs.size(), 2u);
  EXPECT_EQ(result.runs[0].summary.status, Status::not_run);
  EXPECT_TRUE(result.runs[0].summary.history.empty());
  Training training;
  EXPECT_EQ(result.runs[0].summary.message, error_message([&] {
              find_solver("sdca", loss).run(objective, settings_with(1e-3, 100), training, {});
            }));
  EXPECT_FALSE(result.arrival(result.runs[0], 0.1).possible);
  EXPECT_EQ(result.runs[1].summary.status, Status::converged);
  EXPECT_FALSE(result.stopped);
}

TEST(Race, NothingIsKnownWhereNobodyRan) {
  const ProblemsOfAllKinds problems(5);
  const auto trees = problems.all().at(5);
  ASSERT_EQ(trees.problem.factored(), nullptr) << trees.name;
  const Loss loss = Loss::crf();
  const Race result = race({trees.problem, loss, trees.l2}, solvers_of({"sdca"}, loss), {});
  EXPECT_EQ(result.lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(result.upper, std::numeric_limits<double>::infinity());
}

TEST(Race, TheObserversErrorsAreNoRefusals) {
  const OwnedProblem owned(6);
  const Loss loss = Loss::crf();
  RaceObserver observer;
  observer.reported = [](const SolverEntry&, const Progress&, const Weights&) -> Control {
    throw Error("no space left");
  };
  EXPECT_EQ(error_message([&] {
              race({owned.problem, loss, 1}, solvers_of({"eg", "lbfgs"}, loss), {}, {}, observer);
            }),
            "no space left");
}

TEST(Race, AStopEndsItWithTheRunAtHand) {
  const OwnedProblem owned(7);
  const Loss loss = Loss::crf();
  const auto solvers = solvers_of({"eg", "sgd", "lbfgs"}, loss);
  RaceObserver observer;
  observer.reported = [](const SolverEntry& solver, const Progress& progress, const Weights&) {
    return solver.name == "sgd" && progress.epoch == 2 ? Control::stop : Control::go_on;
  };
  const Race by_observer = race({owned.problem, loss, 1}, solvers, settings_with(1e-9, 20), {}, observer);
  EXPECT_TRUE(by_observer.stopped);
  ASSERT_EQ(by_observer.runs.size(), 2u);
  EXPECT_EQ(by_observer.runs[1].summary.status, Status::stopped);
  EXPECT_EQ(by_observer.runs[1].summary.history.size(), 2u);
  EXPECT_LT(by_observer.width(), 1);

  // Also where the solver was done by then.
  std::atomic<bool> flag = false;
  SolverSettings settings = settings_with(1e-3, 1000);
  settings.stopping.stop = &flag;
  observer.reported = [&](const SolverEntry&, const Progress& progress, const Weights&) {
    flag = progress.relative_gap() <= 1e-3;
    return Control::go_on;
  };
  const Race by_flag = race({owned.problem, loss, 1}, solvers, settings, {}, observer);
  EXPECT_TRUE(by_flag.stopped);
  ASSERT_EQ(by_flag.runs.size(), 1u);
  EXPECT_EQ(by_flag.runs[0].summary.status, Status::converged);
}

// A solver more can only narrow the interval: what was certain stays so, and what was impossible.
RC_GTEST_PROP(Race, MoreSolversKnowMore, ()) {
  const OwnedProblem owned(*rc::gen::arbitrary<std::uint64_t>());
  const Loss loss = *rc::gen::element(Loss::crf(), Loss::softmax_margin());
  const double l2 = *rc::gen::element(0.1, 1.0, 10.0), gap = *rc::gen::element(1e-1, 1e-2, 1e-3);
  const SolverSettings settings = settings_with(1e-3, *rc::gen::element(2.0, 10.0));
  const Objective objective{owned.problem, loss, l2};
  const Race few = race(objective, solvers_of({"eg", "sgd"}, loss), settings),
             more = race(objective, solvers_of({"eg", "sgd", "lbfgs"}, loss), settings);
  RC_ASSERT(more.lower >= few.lower);
  RC_ASSERT(more.upper <= few.upper);
  for (std::size_t k = 0; k < few.runs.size(); ++k) {
    const Arrival before = few.arrival(few.runs[k], gap), now = more.arrival(more.runs[k], gap);
    if (before.certain) RC_ASSERT(now.certain && *now.certain <= *before.certain);
    if (now.possible) RC_ASSERT(before.possible && *before.possible <= *now.possible);
  }
}

}  // namespace
}  // namespace espalier::race_test
