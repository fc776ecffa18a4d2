// sdca and smo on structures whose cliques are hyperedges: trees, grammars and graphs.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/sdca.h"
#include "solvers/smo.h"
#include "solvers/training.h"
#include "support/eg_solution.h"
#include "support/history_checks.h"
#include "support/random_cfg_problem.h"
#include "support/random_dependencies.h"
#include "support/random_graph_problem.h"
#include "support/until_gap.h"

namespace espalier::hyperedges_test {
namespace {

using test_support::EgSolution;
using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::until_gap;

class HyperedgeProblems {
 public:
  struct Named {
    std::string name;
    const Problem& problem;
    double l2;
  };
  explicit HyperedgeProblems(std::uint64_t seed)
      : trees_(seed, {.sentences = 8, .shape = {}}),
        labelled_(seed + 1, {.sentences = 8, .shape = {true, true, 3}, .pruned = true}),
        grammar_(seed + 2, {.sentences = 8, .most_derivations = 60}),
        graphs_(seed + 3, {.graphs = 8}) {}
  std::vector<Named> all() const {
    return {{"trees", trees_.problem, 10},
            {"trees, one root, labels, some arcs", labelled_.problem, 5},
            {"grammar", grammar_.problem, 5},
            {"graphs", graphs_.problem, 1}};
  }

 private:
  test_support::OwnedDependencyProblem trees_, labelled_;
  test_support::OwnedCfgProblem grammar_;
  test_support::OwnedGraphProblem graphs_;
};

struct Outcome {
  Summary summary;
  Training training;
  const Progress& last() const { return summary.history.back(); }
};

Outcome run(const std::string& solver, const Objective& objective, const SolverSettings& settings) {
  Outcome outcome;
  outcome.summary = find_solver(solver, objective.loss).run(objective, settings, outcome.training, {});
  return outcome;
}

// Whose bounds meet those of eg, and whose last certificate is that of what it leaves.
void expect_optimum(const std::string& solver, const Objective& objective, const SolverSettings& settings,
                    const Progress& truth, const std::string& name) {
  const std::string where = name + ", " + objective.loss.name() + ", " + solver;
  const Outcome outcome = run(solver, objective, settings);
  EXPECT_EQ(outcome.summary.status, Status::converged) << where << ": " << outcome.summary.message;
  expect_gaps(outcome.summary, where);
  EXPECT_LE(outcome.last().dual, truth.primal * (1 + 1e-12)) << where;
  EXPECT_GE(outcome.last().primal, truth.dual * (1 - 1e-12)) << where;
  EXPECT_EQ(evaluate_primal(objective, outcome.training.theta), outcome.last().primal) << where;
  if (!outcome.training.cliques) return;
  Sweep sweep;
  DualValue value;
  evaluate_dual(objective, *outcome.training.cliques, value, sweep);
  EXPECT_EQ(value.value, outcome.last().dual) << where;
}

TEST(Hyperedges, SdcaReachesTheOptimumOfEg) {
  const HyperedgeProblems problems(1);
  for (const auto& [name, problem, l2] : problems.all()) {
    ASSERT_NE(problem.factored(), nullptr) << name;
    for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{5, 2}}) {
      const Objective objective{problem, loss, l2};
      const EgSolution eg(objective, until_gap<EgOptions>(1e-6, 2000));
      ASSERT_EQ(eg.summary.status, Status::converged) << name << ": " << eg.summary.message;
      SolverSettings settings;
      settings.stopping = {1e-6, 2000};
      for (const Sampling order : {Sampling::gap, Sampling::cyclic}) {
        settings.sdca.sampling = order;
        expect_optimum("sdca", objective, settings, eg.last(), name);
      }
      for (const char* sequence : {"eg,sdca", "sdca,eg", "sgd,sdca"})
        expect_optimum(sequence, objective, settings, eg.last(), name);
    }
  }
}

TEST(Hyperedges, SmoReachesTheOptimumOfEg) {
  const HyperedgeProblems problems(11);
  for (const auto& [name, problem, l2] : problems.all()) {
    for (const Loss& loss : {Loss::svm(), Loss{Loss::svm().beta, 2.5}}) {
      const Objective objective{problem, loss, l2};
      const EgSolution eg(objective, until_gap<EgOptions>(5e-3, 5000));
      ASSERT_EQ(eg.summary.status, Status::converged) << name << ": " << eg.summary.message;
      SolverSettings settings;
      settings.stopping = {1e-3, 5000};
      for (const Sampling order : {Sampling::gap, Sampling::random}) {
        settings.smo.sampling = order;
        expect_optimum("smo", objective, settings, eg.last(), name);
      }
      expect_optimum("smo,frank-wolfe", objective, settings, eg.last(), name);
      settings.stopping = {1e-2, 5000};
      expect_optimum("smo,eg", objective, settings, eg.last(), name);
    }
  }
}

// Every visit is reported.
TEST(Hyperedges, TheDualNeverFalls) {
  const HyperedgeProblems problems(21);
  for (const auto& [name, problem, l2] : problems.all()) {
    for (const double times : {0.1, 10.0}) {
      SdcaOptions by_sdca = until_gap<SdcaOptions>(-1, 15);
      by_sdca.sampling = Sampling::random;
      by_sdca.report_every = 1e-9;
      CliqueState state(problem);
      Weights theta;
      const Summary smooth = sdca({problem, Loss::crf(), times * l2}, by_sdca, state, theta);
      expect_gaps(smooth, name);
      expect_rising_dual(smooth, name);
      for (const SmoMass mass : {SmoMass::cliques, SmoMass::factored}) {
        SmoOptions by_smo = until_gap<SmoOptions>(-1, 30);
        by_smo.mass = mass;
        by_smo.sampling = Sampling::random;
        by_smo.report_every = 1e-9;
        state.start_at_gold(problem);
        const Summary maximum = smo({problem, Loss::svm(), times * l2}, by_smo, state, theta);
        ASSERT_GE(maximum.history.size(), 10u) << name;
        expect_gaps(maximum, name);
        expect_rising_dual(maximum, name);
      }
    }
  }
}

// The gold outputs, whole.
TEST(Hyperedges, SmoStartsAtTheGoldOutputs) {
  const HyperedgeProblems problems(31);
  for (const auto& [name, problem, l2] : problems.all()) {
    CliqueState state(problem);
    state.start_at_gold(problem);
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<double> mu(problem.num_statistics(i)), gold(mu.size(), 0.0);
      EXPECT_EQ(problem.factored()->rebuild(i, std::as_const(state).cliques(i), mu), 0) << name;
      problem.add_gold(i, 1.0, gold);
      // Of derivations, one that has nothing which the gold one lacks: it may have less, or some of it more
      // often.
      for (std::size_t k = 0; k < mu.size(); ++k) {
        EXPECT_TRUE(name == "grammar" ? mu[k] == 0 || gold[k] > 0 : mu[k] == gold[k]) << name;
      }
      std::vector<std::uint32_t> output(problem.factored()->num_cliques(i));
      problem.factored()->cliques_of(i, state.mu(i), output);
      EXPECT_EQ(problem.factored()->probability(i, std::as_const(state).cliques(i), output), 1) << name;
    }
  }
}

}  // namespace
}  // namespace espalier::hyperedges_test
