// Chains of solvers, `--solver smo,eg`.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "solvers/hand_over.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_problem.h"
#include "support/random_treebank.h"

namespace espalier {
namespace {

using test_support::expect_gaps;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;
using test_support::OwnedTreebankProblem;
using test_support::Transitions;
using testing::error_message;

SolverSettings to_gap(double gap, double passes = 5000) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = passes;
  return settings;
}

// All weights that were reported, with what was said of them.
struct Run {
  Run(const std::string& solver, const Objective& objective, const SolverSettings& settings,
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

// Reports are numbered throughout, passes and seconds run on, and each report has the primal of its very weights.
void expect_one_history(const Run& run, const std::string& where) {
  ASSERT_EQ(run.seen.size(), run.summary.history.size()) << where;
  for (std::size_t t = 0; t < run.seen.size(); ++t) {
    const Progress &seen = run.seen[t], &kept = run.summary.history[t];
    EXPECT_EQ(seen.epoch, static_cast<int>(t) + 1) << where;
    EXPECT_EQ(kept.epoch, seen.epoch) << where;
    EXPECT_EQ(kept.passes, seen.passes) << where;
    EXPECT_EQ(run.primals[t], seen.primal) << where << ", report " << t;
    if (t == 0) continue;
    EXPECT_GE(seen.passes, run.seen[t - 1].passes) << where;
    EXPECT_GE(seen.seconds, run.seen[t - 1].seconds) << where;
    EXPECT_GE(seen.wall_seconds, run.seen[t - 1].wall_seconds) << where;
  }
  expect_gaps(run.summary, where);
}

TEST(ChainedSolvers, HaveTheNamesOfTheirStages) {
  const SolverEntry chain = find_solver("dca,smo,eg", Loss::svm());
  EXPECT_EQ(chain.name, "dca,smo,eg");
  EXPECT_EQ(chain.duals, Duals::scores);
  EXPECT_TRUE(chain.factored);
  EXPECT_FALSE(chain.perceptron_loss);
}

TEST(ChainedSolvers, RefuseStagesThatAreNone) {
  const auto message = [](const std::string& name, const Loss& loss) {
    return error_message([&] { find_solver(name, loss); });
  };
  const std::string names = [] {
    std::string all;
    for (const SolverEntry& entry : solver_table()) all += (all.empty() ? "" : ", ") + entry.name;
    return all;
  }();
  EXPECT_EQ(message("eg,nonsense", Loss::svm()),
            "--solver: 'nonsense' is no solver; expected one of " + names);
  EXPECT_EQ(message("eg,", Loss::svm()), "--solver: '' is no solver; expected one of " + names);
  EXPECT_EQ(message("smo,lbfgs", Loss::svm()),
            "--solver lbfgs: not for loss svm; expected a loss of finite beta, or --solver eg");
  EXPECT_EQ(message("smo,eg", Loss::crf()),
            "--solver smo: not for loss crf; expected --loss svm, or --solver eg");
  const OwnedTreebankProblem trees(1);
  EXPECT_EQ(error_message([&] { Run("smo,eg", {trees.problem, Loss::svm(), 1}, {}); }),
            "smo: this structure offers no clique marginals (Factored); expected classes or chains whose labels "
            "interact in pairs, or --solver frank-wolfe, which makes similar moves on every structure");
}

// Every chain of two that makes sense, to the optimum that EG finds alone.
TEST(ChainedSolvers, ReachTheOptimum) {
  const OwnedProblem classes(1, {.examples = 25, .attributes = 8, .labels = 4});
  const OwnedChainProblem tied(1), few(2, {.transitions = Transitions::few, .constrained = true});
  for (const Problem* problem : {static_cast<const Problem*>(&classes.problem),
                                 static_cast<const Problem*>(&tied.problem),
                                 static_cast<const Problem*>(&few.problem)}) {
    for (const Loss& loss : {Loss::svm(), Loss::crf()}) {
      const Objective objective{*problem, loss, 1};
      const double gap = loss.smooth() ? 1e-6 : 1e-3;
      const Run truth("eg", objective, to_gap(gap));
      ASSERT_EQ(truth.summary.status, Status::converged);
      const std::vector<std::string> chains =
          loss.smooth() ? std::vector<std::string>{"sgd,eg", "dca,eg-batch", "sdca,eg", "eg,sdca", "eg,lbfgs",
                                                   "perceptron,lbfgs,eg"}
                        : std::vector<std::string>{"smo,eg", "smo,eg-batch", "frank-wolfe,eg", "dca,eg",
                                                   "eg,frank-wolfe", "smo,frank-wolfe", "dca,frank-wolfe",
                                                   "eg,smo", "perceptron,smo,eg", "frank-wolfe,cutting-plane"};
      for (const std::string& name : chains) {
        const Run run(name, objective, to_gap(gap));
        const std::string where = name + ", " + loss.name();
        EXPECT_EQ(run.summary.status, Status::converged) << where << ": " << run.summary.message;
        EXPECT_LE(run.last().dual, truth.last().primal) << where;
        EXPECT_GE(run.last().primal, truth.last().dual) << where;
        expect_one_history(run, where);
      }
    }
  }
}

}  // namespace
}  // namespace espalier
