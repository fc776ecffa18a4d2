// Every solver of the table on problems with a kernel: those that take it agree on the optimum, the others
// refuse.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "solvers/cutting_plane.h"
#include "solvers/training.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/kernel_problems.h"

namespace espalier {
namespace {

using espalier::testing::error_message;
using test_support::expect_gaps;
using test_support::KernelChains;
using test_support::KernelClasses;
using test_support::KernelGraphs;
using test_support::random_chain_data;
using test_support::random_data;
using test_support::RandomGraphs;

void expect_agreement(const Problem& problem, const Loss& loss) {
  const Objective objective{problem, loss, 1};
  double highest_dual = 0, lowest_primal = 1e300;
  std::size_t converged = 0;
  for (const SolverEntry& entry : solver_table()) {
    if (!is_for(entry, loss) || entry.needs_coordinates) continue;
    if (!problem.factored() && entry.needs_cliques) continue;
    SCOPED_TRACE(entry.name);
    const bool online = !entry.converges;
    SolverSettings settings;
    settings.stopping.gap = loss.smooth() ? 1e-6 : 1e-3;
    settings.stopping.passes = online ? 30 : 5000;
    Training training;
    const Summary summary = entry.run(objective, settings, training, {});
    expect_gaps(summary, std::string(entry.name));
    if (!online) {
      EXPECT_EQ(summary.status, Status::converged) << summary.message;
      ++converged;
    }
    for (const Progress& now : summary.history) {
      highest_dual = std::max(highest_dual, now.dual);
      lowest_primal = std::min(lowest_primal, now.primal);
    }
    EXPECT_LE(highest_dual, lowest_primal * (1 + 1e-7)) << summary.message;
    EXPECT_EQ(summary.history.back().primal, evaluate_primal(objective, training.theta));
  }
  EXPECT_GE(converged, (loss.smooth() ? 3u : 7u) - (problem.factored() ? 0u : 1u));
}

TEST(KernelSolvers, AgreeOnClasses) {
  const KernelClasses classes(random_data(5, {.examples = 12, .attributes = 5}), Kernel::parse("rbf,0.5"));
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) expect_agreement(classes.problem, loss);
}

TEST(KernelSolvers, AgreeOnChains) {
  const KernelChains chains(random_chain_data(5, {.sequences = 7, .longest = 4, .attributes = 5}),
                            Kernel::parse("poly,3,1,0.5"));
  for (const Loss& loss : {Loss::softmax_margin(), Loss::svm()}) expect_agreement(chains.problem, loss);
}

TEST(KernelSolvers, AgreeOnGraphs) {
  const KernelGraphs graphs(RandomGraphs(5, {.graphs = 7, .largest = 3}), Kernel::parse("rbf,0.5"));
  for (const Loss& loss : {Loss::softmax_margin(), Loss::svm()}) expect_agreement(graphs.problem, loss);
}

TEST(KernelSolvers, EgWithoutStoredMarginals) {
  const KernelChains chains(random_chain_data(6, {.sequences = 7}), Kernel::parse("poly,2"));
  const Objective objective{chains.problem, Loss::crf(), 1};
  double dual = 0, primal = 1e300;
  for (const std::string_view name : {"eg", "eg-batch"}) {
    SolverSettings settings;
    settings.eg.recompute = settings.eg_batch.recompute = true;
    settings.stopping.gap = 1e-6;
    Training training;
    const Summary summary = find_solver(name, objective.loss).run(objective, settings, training, {});
    EXPECT_EQ(summary.status, Status::converged) << summary.message;
    dual = std::max(dual, summary.history.back().dual);
    primal = std::min(primal, summary.history.back().primal);
  }
  EXPECT_LE(dual, primal * (1 + 1e-9));
}

TEST(KernelSolvers, SeveralThreads) {
  const KernelChains chains(random_chain_data(7, {.sequences = 40}), Kernel::parse("rbf,1"),
                            std::size_t{10} << 10);
  EXPECT_FALSE(chains.matrix->complete());
  const Objective objective{chains.problem, Loss::crf(), 1};
  SolverSettings settings;
  settings.threads = 3;
  settings.stopping.gap = 1e-4;
  Training training;
  const Summary summary = find_solver("eg", objective.loss).run(objective, settings, training, {});
  EXPECT_EQ(summary.status, Status::converged) << summary.message;

  const KernelGraphs graphs(RandomGraphs(7, {.graphs = 40}), Kernel::parse("rbf,1"), std::size_t{10} << 10);
  EXPECT_FALSE(graphs.features.kernel(0)->complete());
  Training of_graphs;
  const Summary also =
      find_solver("eg", objective.loss).run({graphs.problem, Loss::crf(), 1}, settings, of_graphs, {});
  EXPECT_EQ(also.status, Status::converged) << also.message;
}

Weights after_some_passes(const Problem& problem) {
  SolverSettings settings;
  settings.stopping.passes = 20;
  Training training;
  find_solver("eg", Loss::crf()).run({problem, Loss::crf(), 1}, settings, training, {});
  return std::move(training.theta);
}

TEST(KernelSolvers, LittleMemoryGivesTheSameModel) {
  const auto data = random_chain_data(8, {.sequences = 12});
  const Kernel kernel = Kernel::parse("poly,3,1,0.5");
  const std::size_t little = 700;
  const KernelChains chains(data, kernel), in_part(data, kernel, little);
  EXPECT_FALSE(in_part.matrix->complete());
  EXPECT_TRUE(std::ranges::equal(after_some_passes(chains.problem).values(),
                                 after_some_passes(in_part.problem).values()));
  const KernelGraphs graphs(RandomGraphs(8, {}), kernel), graphs_in_part(RandomGraphs(8, {}), kernel, little);
  EXPECT_FALSE(graphs_in_part.features.kernel(0)->complete());
  EXPECT_TRUE(std::ranges::equal(after_some_passes(graphs.problem).values(),
                                 after_some_passes(graphs_in_part.problem).values()));
}

TEST(KernelSolvers, ThoseThatTakeWeightsForCoordinatesRefuse) {
  const KernelClasses classes(random_data(9, {.examples = 6}), Kernel::parse("poly,2"));
  const auto refusal = [&](std::string_view name, const Loss& loss, const SolverSettings& settings) {
    return error_message([&] {
      Training training;
      find_solver(name, loss).run({classes.problem, loss, 1}, settings, training, {});
    });
  };
  const std::string why = ": given for a problem with a kernel; expected a solver of the dual, such as eg";
  EXPECT_EQ(refusal("lbfgs", Loss::crf(), {}), "lbfgs" + why);
  EXPECT_EQ(refusal("bmrm", Loss::svm(), {}), "bmrm" + why);
  SolverSettings one;
  one.cutting_plane.slacks = Slacks::one;
  EXPECT_EQ(refusal("cutting-plane", Loss::svm(), one), "cutting-plane slacks one" + why);
}

}  // namespace
}  // namespace espalier
