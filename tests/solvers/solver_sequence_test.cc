// Chains of solvers, `--solver smo,eg`.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/options.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/hand_over.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier::solver_sequence_test {
namespace {

using test_support::expect_gaps;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::Transitions;
using testing::error_message;

SolverSettings to_gap(double gap, double passes = 5000) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = passes;
  return settings;
}

// All weights that were reported, with what was said of them.
struct Outcome {
  Outcome(const std::string& solver, const Objective& objective, const SolverSettings& settings,
          Training from = {})
      : training(std::move(from)) {
    summary = find_solver(solver, objective.loss)
                  .run(objective, settings, training, [&](const Progress& now, const Weights& theta) {
                    seen.push_back(now);
                    primals.push_back(evaluate_primal(objective, theta));
                    return Control::go_on;
                  });
  }
  const Progress& last() const { return summary.history.back(); }

  Training training;
  Summary summary;
  std::vector<Progress> seen;
  std::vector<double> primals;
};

// Reports are numbered throughout, passes and seconds run on, and each report has the primal of its very
// weights.
void expect_one_history(const Outcome& run, const std::string& where) {
  ASSERT_EQ(run.seen.size(), run.summary.history.size()) << where;
  for (std::size_t t = 0; t < run.seen.size(); ++t) {
    const Progress &seen = run.seen[t], &kept = run.summary.history[t];
    EXPECT_EQ(seen.epoch, static_cast<int>(t) + 1) << where;
    EXPECT_EQ(kept.epoch, seen.epoch) << where;
    EXPECT_EQ(kept.passes, seen.passes) << where;
    // L-BFGS keeps its weights in double precision.
    EXPECT_NEAR(run.primals[t], seen.primal, 1e-6 * seen.primal) << where << ", report " << t;
    if (t == 0) continue;
    EXPECT_GE(seen.passes, run.seen[t - 1].passes) << where;
    EXPECT_GE(seen.seconds, run.seen[t - 1].seconds) << where;
    EXPECT_GE(seen.wall_seconds, run.seen[t - 1].wall_seconds) << where;
  }
  expect_gaps(run.summary, where);
}

TEST(SolverSequence, HaveTheNamesOfTheirStages) {
  const SolverEntry sequence = find_solver("dca,smo,eg", Loss::svm());
  EXPECT_EQ(sequence.name, "dca,smo,eg");
  EXPECT_EQ(sequence.duals, Duals::scores);
  EXPECT_TRUE(sequence.needs_cliques);
  EXPECT_TRUE(sequence.converges);
}

TEST(SolverSequence, RefuseStagesThatAreNone) {
  const auto message = [](const std::string& name, const Loss& loss) {
    return error_message([&] { find_solver(name, loss); });
  };
  const std::string names = [] {
    std::vector<std::string> all;
    for (const SolverEntry& entry : solver_table()) all.push_back(entry.name);
    return listed(all);
  }();
  EXPECT_EQ(message("eg,nonsense", Loss::svm()), "solver: unknown solver 'nonsense'; expected " + names);
  EXPECT_EQ(message("eg,", Loss::svm()), "solver: unknown solver ''; expected " + names);
  EXPECT_EQ(message("smo,lbfgs", Loss::svm()),
            "solver lbfgs: not for loss svm; expected a loss of finite beta, or solver eg");
  EXPECT_EQ(message("smo,eg", Loss::crf()), "solver smo: not for loss crf; expected loss svm, or solver eg");
  const OwnedDependencyProblem trees(1, {.shape = {false, false, 1}});
  EXPECT_EQ(error_message([&] {
              Outcome("smo,eg", {trees.problem, Loss::svm(), 1}, {});
            }),
            "smo: this structure has no clique marginals (Factored); expected classes, chains whose labels "
            "interact in pairs, first-order projective trees, grammars or graphs with exact inference, or "
            "frank-wolfe, which makes similar moves on every structure");
}

// Every sequence of two that makes sense, to the optimum that EG finds alone.
TEST(SolverSequence, ReachTheOptimum) {
  const OwnedProblem classes(1, {.examples = 25, .attributes = 8, .labels = 4});
  const OwnedChainProblem tied(1), few(2, {.transitions = Transitions::few, .constrained = true});
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&tied.problem),
        static_cast<const Problem*>(&few.problem)}) {
    for (const Loss& loss : {Loss::svm(), Loss::crf()}) {
      const Objective objective{*problem, loss, 1};
      const double gap = loss.smooth() ? 1e-6 : 1e-3;
      const Outcome truth("eg", objective, to_gap(gap));
      ASSERT_EQ(truth.summary.status, Status::converged);
      const std::vector<std::string> sequences =
          loss.smooth() ? std::vector<std::string>{"sgd,eg",  "dca,eg-batch", "sdca,eg",
                                                   "eg,sdca", "eg,lbfgs",     "perceptron,lbfgs,eg"}
                        : std::vector<std::string>{"smo,eg",
                                                   "smo,eg-batch",
                                                   "frank-wolfe,eg",
                                                   "dca,eg",
                                                   "eg,frank-wolfe",
                                                   "smo,frank-wolfe",
                                                   "dca,frank-wolfe",
                                                   "eg,smo",
                                                   "perceptron,smo,eg",
                                                   "frank-wolfe,cutting-plane"};
      for (const std::string& name : sequences) {
        const Outcome run(name, objective, to_gap(gap));
        const std::string where = name + ", " + loss.name();
        EXPECT_EQ(run.summary.status, Status::converged) << where << ": " << run.summary.message;
        EXPECT_LE(run.last().dual, truth.last().primal) << where;
        EXPECT_GE(run.last().primal, truth.last().dual) << where;
        expect_one_history(run, where);
      }
    }
  }
}

// The first report of the second stage, from what was handed over: EG reports it before its first step.
TEST(SolverSequence, HandOverAnHonestCertificate) {
  const OwnedProblem classes(3, {.examples = 60, .attributes = 20, .labels = 4});
  const OwnedChainProblem chains(3, {.sequences = 40, .labels = 4, .attributes = 20});
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    const Objective objective{*problem, Loss::svm(), 2};
    for (const std::string first : {"smo", "frank-wolfe"}) {
      const SolverEntry entry = find_solver(first, objective.loss);
      Training training;
      const Summary before = entry.run(objective, to_gap(0.1), training, {});
      ASSERT_EQ(before.status, Status::converged);
      const std::size_t inferences = hand_over(objective, entry.duals, Duals::scores, {}, training);
      EXPECT_GT(inferences, problem->size());
      ASSERT_TRUE(training.dual.has_value());
      EXPECT_FALSE(training.means || training.cliques);
      const double dual = evaluate_dual(objective, *training.dual).value;

      const Outcome sequence(first + ",eg", objective, to_gap(1e-3));
      ASSERT_EQ(sequence.summary.status, Status::converged) << sequence.summary.message;
      const std::size_t stage = before.history.size();
      ASSERT_GT(sequence.seen.size(), stage);
      EXPECT_EQ(sequence.seen[stage - 1].dual, before.history.back().dual);
      EXPECT_EQ(sequence.seen[stage].dual, dual) << first;
      // The next one begins where the last one ended, plus what it took to hand over.
      EXPECT_NEAR(sequence.seen[stage].passes,
                  before.history.back().passes +
                      static_cast<double>(inferences) / static_cast<double>(problem->size()),
                  1e-9);
      expect_one_history(sequence, first);
    }
  }
}

// Of classes nothing is lost but what is mixed in; of chains, whose statistics are tied, what the rounds do
// not find.
TEST(SolverSequence, HandOverMostOfTheDual) {
  const auto lost = [](const Problem& problem, const std::string& from) {
    const Objective objective{problem, Loss::svm(), 1};
    const SolverEntry entry = find_solver(from, objective.loss);
    Training training;
    const double before = entry.run(objective, to_gap(0.1), training, {}).history.back().dual;
    hand_over(objective, entry.duals, Duals::scores, {}, training);
    return 1 - evaluate_dual(objective, *training.dual).value / before;
  };
  for (const std::string from : {"smo", "frank-wolfe"}) {
    EXPECT_LT(lost(OwnedProblem(1, {.examples = 200, .attributes = 40, .labels = 6}).problem, from), 1e-3);
    EXPECT_LT(lost(OwnedChainProblem(1, {.sequences = 100, .attributes = 60}).problem, from), 0.1);
  }
}

// Where a state fits the next solver as it is, it loses nothing.
TEST(SolverSequence, HandOverScoresAsMeansAndCliques) {
  const OwnedChainProblem owned(4);
  for (const Loss& loss : {Loss::svm(), Loss::crf()}) {
    const Objective objective{owned.problem, loss, 1};
    Training training;
    const double before =
        find_solver("eg", loss).run(objective, to_gap(0.05), training, {}).history.back().dual;
    const Duals to = loss.smooth() ? Duals::cliques : Duals::means;
    hand_over(objective, Duals::scores, to, {}, training);
    Sweep sweep;
    DualValue value;
    if (loss.smooth()) evaluate_dual(objective, *training.cliques, value, sweep);
    if (!loss.smooth()) evaluate_dual(objective, *training.means, value, sweep);
    EXPECT_NEAR(value.value, before, 1e-5 * before) << loss.name();
    EXPECT_FALSE(training.dual.has_value());
  }
}

TEST(SolverSequence, ConvergeWhereTheFirstStageIsStoppedEarly) {
  const OwnedChainProblem owned(7, {.sequences = 40, .attributes = 30});
  const Objective objective{owned.problem, Loss::svm(), 5};
  const Outcome alone("smo", objective, to_gap(0.1));
  ASSERT_EQ(alone.summary.status, Status::converged);
  ASSERT_GT(alone.last().relative_gap(), 1e-3);
  const Outcome sequence("smo,eg", objective, to_gap(1e-3));
  EXPECT_EQ(sequence.summary.status, Status::converged);
  EXPECT_LE(sequence.last().relative_gap(), 1e-3);
}

// A stage that is good enough for the user is the last; so is one that the limits end.
TEST(SolverSequence, EndWhereTheUserIsContent) {
  const OwnedProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 1};
  const Outcome content("smo,eg", objective, to_gap(0.2));
  EXPECT_EQ(content.summary.status, Status::converged);
  EXPECT_TRUE(content.summary.message.ends_with(" passes (smo)")) << content.summary.message;
  EXPECT_FALSE(content.training.dual.has_value());
  const Outcome exhausted("smo,eg", objective, to_gap(1e-9, 2));
  EXPECT_EQ(exhausted.summary.status, Status::out_of_passes);
  EXPECT_NEAR(exhausted.last().passes, 2, 0.1);
  EXPECT_TRUE(exhausted.summary.message.ends_with(" passes (smo)")) << exhausted.summary.message;
  const Outcome both("smo,eg", objective, to_gap(1e-9, 100));
  EXPECT_EQ(both.summary.status, Status::out_of_passes);
  EXPECT_NEAR(both.last().passes, 100, 0.1);
  EXPECT_NE(both.summary.message.find("(smo until "), std::string::npos) << both.summary.message;
  EXPECT_TRUE(both.summary.message.ends_with(" passes, then eg)")) << both.summary.message;
}

TEST(SolverSequence, ObserverAndInterruptEndAllStages) {
  const OwnedProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 1};
  const SolverEntry sequence = find_solver("smo,eg", objective.loss);
  SolverSettings settings = to_gap(1e-9);
  settings.report_every = 1;
  Training training;
  const Summary stopped = sequence.run(
      objective, settings, training,
      [](const Progress& now, const Weights&) { return now.epoch == 2 ? Control::stop : Control::go_on; });
  EXPECT_EQ(stopped.status, Status::stopped);
  EXPECT_EQ(stopped.history.size(), 2u);
  EXPECT_TRUE(stopped.message.ends_with(" passes (smo)")) << stopped.message;

  std::atomic<bool> stop{true};
  settings.stopping.stop = &stop;
  Training other;
  const Summary interrupted = sequence.run(objective, settings, other, {});
  EXPECT_EQ(interrupted.status, Status::stopped);
  EXPECT_EQ(interrupted.history.size(), 1u);
}

// Between two stages: the weights of the first one stay, with their certificate.
TEST(SolverSequence, InterruptOnTheWayKeepsTheFirstStage) {
  const OwnedChainProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 1};
  std::atomic<bool> stop{false};
  SolverSettings settings = to_gap(1e-9);
  settings.stopping.stop = &stop;
  Training training;
  const Summary summary = find_solver("smo,eg", objective.loss)
                              .run(objective, settings, training, [&](const Progress& now, const Weights&) {
                                if (now.relative_gap() <= 0.1) stop = true;
                                return Control::go_on;
                              });
  EXPECT_EQ(summary.status, Status::stopped);
  EXPECT_TRUE(summary.message.starts_with("stopped: relative gap 0.0")) << summary.message;
  EXPECT_TRUE(summary.message.ends_with(", then interrupted)")) << summary.message;
  EXPECT_EQ(evaluate_primal(objective, training.theta), summary.history.back().primal);
}

// What it takes to hand over may use up the passes: then what was handed over is certified.
TEST(SolverSequence, LimitsHoldAcrossTheHandOver) {
  const OwnedChainProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 1};
  const Outcome first("smo", objective, to_gap(0.1));
  ASSERT_EQ(first.summary.status, Status::converged);
  const Outcome both("smo,eg", objective, to_gap(1e-9, first.last().passes + 1));
  EXPECT_EQ(both.summary.status, Status::out_of_passes);
  EXPECT_EQ(both.summary.history.size(), first.summary.history.size() + 1);
  expect_one_history(both, "out of passes on the way");
}

// Solvers that do not converge hand over when they get no further.
TEST(SolverSequence, DoNotWaitForStagesThatGetNoFurther) {
  const OwnedChainProblem owned(2, {.sequences = 40});
  const Objective objective{owned.problem, Loss::crf(), 0.1};
  const Outcome alone("perceptron", objective, to_gap(1e-3, 60));
  ASSERT_EQ(alone.summary.status, Status::out_of_passes);
  ASSERT_GT(alone.last().relative_gap(), 0.1);
  const Outcome sequence("perceptron,eg", objective, to_gap(1e-3, 1000));
  EXPECT_EQ(sequence.summary.status, Status::converged) << sequence.summary.message;
  EXPECT_TRUE(sequence.summary.message.ends_with(", then eg)")) << sequence.summary.message;
}

// The next l2 of a path, or a run that is resumed, has the last stage alone.
TEST(SolverSequence, GoOnWithTheLastStage) {
  const OwnedProblem owned(6);
  const Objective first{owned.problem, Loss::svm(), 2}, second{owned.problem, Loss::svm(), 1};
  Outcome sequence("smo,eg", first, to_gap(1e-3));
  ASSERT_EQ(sequence.summary.status, Status::converged);
  ASSERT_TRUE(sequence.training.dual.has_value());
  const Outcome next("smo,eg", second, to_gap(1e-3), std::move(sequence.training));
  EXPECT_EQ(next.summary.status, Status::converged);
  EXPECT_TRUE(next.summary.message.ends_with("(eg alone, from the weights at hand)")) << next.summary.message;
}

}  // namespace
}  // namespace espalier::solver_sequence_test
