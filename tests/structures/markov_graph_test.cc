#include "structures/markov_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "espalier/base/error.h"
#include "structures/chain.h"
#include "support/enumeration.h"
#include "support/error_message.h"
#include "support/random_graph.h"
#include "support/random_scores.h"

namespace espalier::markov_graph_test {
namespace {

using test_support::check_centre;
using test_support::check_entropy;
using test_support::check_inference;
using test_support::check_kbest;
using test_support::check_uniform;
using test_support::draw_graph;
using test_support::draw_scores;
using test_support::enumerate;
using test_support::finite_scores;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

GraphInferenceOptions options_of(GraphInference inference) {
  GraphInferenceOptions options;
  options.inference = inference;
  return options;
}

RC_GTEST_PROP(MarkovGraph, ExactInferenceIsThatOfEnumeration, ()) {
  const auto graph = draw_graph(4, true);
  const MarkovGraph structure(graph, options_of(GraphInference::exact));
  const auto s = draw_scores(*graph);
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_inference<double>(structure, std::span(s), 1e-11) == "");
  RC_ASSERT(check_inference<float>(structure, std::span(rounded), 1e-6) == "");
}

RC_GTEST_PROP(MarkovGraph, EqualScoresCountOutputs, ()) {
  const MarkovGraph structure(draw_graph(4, true), options_of(GraphInference::exact));
  RC_ASSERT(check_uniform<double>(structure, 1e-12) == "");
}

RC_GTEST_PROP(MarkovGraph, TheKBestAreThoseOfEnumeration, ()) {
  const auto graph = draw_graph(4, true);
  const MarkovGraph structure(graph, options_of(GraphInference::exact));
  const auto s = draw_scores(*graph);
  RC_ASSERT(check_kbest(structure, std::span(s), *rc::gen::element<std::size_t>(0, 1, 2, 7, 50, 100000),
                        1e-12) == "");
}

RC_GTEST_PROP(MarkovGraph, EntropyIsThatOfEnumeration, ()) {
  const auto graph = draw_graph(3, true);
  const MarkovGraph structure(graph, options_of(GraphInference::exact));
  const auto s = *finite_scores(graph->num_statistics());
  // The difference of log Z and s.mu, both of which may have thousands.
  RC_ASSERT(check_entropy(structure, std::span(s), 1e-8) == "");
}

RC_GTEST_PROP(MarkovGraph, CentringMovesAllOutputsAlike, ()) {
  const auto graph = draw_graph(3, false);
  const MarkovGraph structure(graph, options_of(GraphInference::exact));
  const auto draw = [&] {
    const auto s = *finite_scores(graph->num_statistics());
    return std::vector<float>(s.begin(), s.end());
  };
  const auto s = draw(), d = draw();
  RC_ASSERT(check_centre(structure, std::span(s), std::span(d), 2e-5) == "");
}

// A chain, as a structure of its own and as a graph.
RC_GTEST_PROP(MarkovGraph, OnAChainIsThatOfChain, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(2, 40), labels = *rc::gen::inRange<std::size_t>(1, 7);
  const auto graph =
      std::make_shared<FactorGraph>(std::vector<std::uint32_t>(length, static_cast<std::uint32_t>(labels)));
  std::vector<std::uint32_t> tables;
  for (std::uint32_t t = 0; t < length; ++t) graph->add_clique(std::vector<std::uint32_t>{t});
  for (std::uint32_t t = 1; t < length; ++t) {
    graph->add_clique(std::vector<std::uint32_t>{t - 1, t});
    tables.push_back(t - 1);
  }
  const Chain chain(length, labels, tables, length - 1);
  const auto s = *finite_scores(graph->num_statistics());
  RC_ASSERT(chain.num_statistics() == s.size());
  Workspace ws;
  std::vector<double> expected(s.size()), mu(s.size());
  const double log_z = chain.log_partition(std::span(s), std::span(expected), ws);
  for (const auto inference : {GraphInference::exact, GraphInference::bp, GraphInference::trw}) {
    const MarkovGraph structure(graph, options_of(inference));
    const double found = structure.log_partition(std::span(s), std::span(mu), ws);
    const double tolerance = inference == GraphInference::exact ? 1e-11 : 1e-5;
    RC_ASSERT(std::abs(found - log_z) <= tolerance * (1 + std::abs(log_z)));
    for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(mu[k] - expected[k]) <= tolerance);
    const double highest = chain.argmax(std::span(s), std::span(expected), ws);
    MarkovGraph::Output y(length);
    RC_ASSERT(std::abs(structure.best(s, y, ws).value - highest) <= 1e-9 * (1 + std::abs(log_z)));
    const double argmax = structure.argmax(std::span(s), std::span(mu), ws);
    // With trw a bound, which may be above the maximum where messages have not settled.
    const double above = inference == GraphInference::trw ? 1e-3 : 1e-9;
    RC_ASSERT(argmax >= highest - 1e-9 * (1 + std::abs(log_z)));
    RC_ASSERT(argmax <= highest + above * (1 + std::abs(log_z)));
    RC_ASSERT(structure.width() == 1u);
    RC_ASSERT(structure.exact() == (inference == GraphInference::exact));
    chain.log_partition(std::span(s), std::span(expected), ws);
  }
}

TEST(MarkovGraph, WithoutCliquesHasAllLabellings) {
  const MarkovGraph structure(std::make_shared<FactorGraph>(std::vector<std::uint32_t>{2, 3, 4}));
  Workspace ws;
  const std::vector<double> s;
  std::vector<double> mu;
  EXPECT_NEAR(structure.log_partition(std::span(s), std::span(mu), ws), std::log(24), 1e-14);
  EXPECT_EQ(structure.decode(std::span(s), ws), (MarkovGraph::Output{0, 0, 0}));
  EXPECT_EQ(structure.kbest(s, 100).size(), 24u);
  EXPECT_EQ(structure.width(), 0u);
}

// A grid of `side` x `side` variables with tables on nodes and edges.
std::shared_ptr<FactorGraph> grid(std::uint32_t side, std::uint32_t labels) {
  const auto graph = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(side * side, labels));
  for (std::uint32_t v = 0; v < side * side; ++v) graph->add_clique(std::vector<std::uint32_t>{v});
  for (std::uint32_t v = 0; v < side * side; ++v) {
    if (v % side + 1 < side) graph->add_clique(std::vector<std::uint32_t>{v, v + 1});
    if (v + side < side * side) graph->add_clique(std::vector<std::uint32_t>{v, v + side});
  }
  return graph;
}

std::vector<double> random_scores(std::size_t n, double range, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> s(n);
  for (double& x : s) x = range * (2 * random.uniform() - 1);
  return s;
}

TEST(MarkovGraph, SaysWhatExactInferenceNeeds) {
  GraphInferenceOptions options = options_of(GraphInference::exact);
  options.memory = 1000000;
  const auto graph = grid(8, 8);
  EXPECT_EQ(
      testing::error_message([&] { MarkovGraph(graph, options); }),
      "exact inference: a junction tree of width 8 needs 2.96 GiB of memory; expected at most 977 KiB: allow "
      "more with memory, or take inference trw or bp");
  options.inference = GraphInference::automatic;
  const MarkovGraph approximate(graph, options);
  EXPECT_FALSE(approximate.exact());
  EXPECT_FALSE(approximate.has_kbest());
  EXPECT_EQ(approximate.inference(), GraphInference::trw);
  EXPECT_EQ(approximate.width(), 8u);
  EXPECT_TRUE(MarkovGraph(grid(3, 2), options).exact());
}

// Large sparse graphs are no trouble: a tree of 5,000 variables, and a ring.
TEST(MarkovGraph, LargeGraphsOfLowWidth) {
  constexpr std::uint32_t kVariables = 5000;
  Random random(1);
  const auto tree = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(kVariables, 3));
  const auto ring = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(kVariables, 2));
  for (std::uint32_t v = 0; v < kVariables; ++v) {
    if (v > 0) tree->add_clique(std::vector<std::uint32_t>{static_cast<std::uint32_t>(random.below(v)), v});
    ring->add_clique(std::vector<std::uint32_t>{v, (v + 1) % kVariables});
  }
  Workspace ws;
  const std::vector<double> zeros(tree->num_statistics(), 0.0);
  std::vector<double> mu(zeros.size());
  const MarkovGraph on_tree(tree), on_ring(ring);
  EXPECT_EQ(on_tree.width(), 1u);
  EXPECT_NEAR(on_tree.log_partition(std::span(zeros), std::span(mu), ws), kVariables * std::log(3), 1e-8);
  EXPECT_EQ(on_ring.width(), 2u);
  // Each pair has exp(1) where it is equal: the eigenvalues of the table are e + 1 and e - 1.
  std::vector<double> s(ring->num_statistics(), 0.0);
  for (std::size_t c = 0; c < kVariables; ++c) s[4 * c] = s[4 * c + 3] = 1;
  mu.resize(s.size());
  EXPECT_NEAR(on_ring.log_partition(std::span(s), std::span(mu), ws),
              kVariables * std::log(std::exp(1.0) + 1), 1e-8);
}

TEST(MarkovGraph, PropagationIsExactOnTrees) {
  Random random(7);
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const auto graph = std::make_shared<FactorGraph>(std::vector<std::uint32_t>{2, 3, 2, 4, 2, 3, 2, 2});
    // Cliques of two and three variables, each with one that was there before.
    graph->add_clique(std::vector<std::uint32_t>{0, 1, 2});
    graph->add_clique(std::vector<std::uint32_t>{3, static_cast<std::uint32_t>(random.below(3))});
    graph->add_clique(std::vector<std::uint32_t>{4, static_cast<std::uint32_t>(random.below(4)), 5});
    graph->add_clique(std::vector<std::uint32_t>{6, static_cast<std::uint32_t>(random.below(6))});
    graph->add_clique(std::vector<std::uint32_t>{5});
    const auto s = random_scores(graph->num_statistics(), trial % 2 == 0 ? 3 : 300, trial);
    Workspace ws;
    std::vector<double> exact_mu(s.size()), mu(s.size());
    const double log_z = MarkovGraph(graph).log_partition(std::span(s), std::span(exact_mu), ws);
    for (const auto inference : {GraphInference::bp, GraphInference::trw}) {
      const MarkovGraph structure(graph, options_of(inference));
      MarkovGraph::Convergence convergence;
      EXPECT_NEAR(structure.log_partition(s, mu, convergence, ws), log_z, 1e-7 * (1 + std::abs(log_z)));
      EXPECT_TRUE(convergence.converged);
      for (std::size_t k = 0; k < s.size(); ++k) EXPECT_NEAR(mu[k], exact_mu[k], 1e-6);
      std::vector<std::uint32_t> y(graph->num_variables());
      const auto best = structure.best(s, y, ws);
      EXPECT_TRUE(best.optimal);
      EXPECT_NEAR(best.value, MarkovGraph(graph).best(s, y, ws).value, 1e-7 * (1 + std::abs(best.value)));
    }
  }
}

// With any messages: at convergence and after a sweep or two.
RC_GTEST_PROP(MarkovGraph, TheReweightedLogPartitionIsABound, ()) {
  const auto graph = draw_graph(4, true);
  GraphInferenceOptions options = options_of(GraphInference::trw);
  options.iterations = *rc::gen::element<std::size_t>(1, 2, 5, 100);
  const MarkovGraph structure(graph, options);
  const auto s = draw_scores(*graph);
  const auto e = enumerate(structure, std::span<const double>(s));
  Workspace ws;
  std::vector<double> mu(s.size());
  const double bound = structure.log_partition(std::span(s), std::span(mu), ws);
  RC_ASSERT(bound >= e.log_z - 1e-9 * (1 + e.largest));
  for (const double p : mu) RC_ASSERT(p >= 0 && p <= 1 + 1e-9);
}

// What decodes is an output, its value is right, and what calls itself the best is.
RC_GTEST_PROP(MarkovGraph, NothingThatIsCalledOptimalIsNot, ()) {
  const auto graph = draw_graph(4, true);
  const MarkovGraph structure(graph, options_of(GraphInference::trw));
  const auto s = draw_scores(*graph);
  const auto e = enumerate(structure, std::span<const double>(s));
  Workspace ws;
  MarkovGraph::Output y(graph->num_variables());
  const auto best = structure.best(s, y, ws);
  const double tolerance = 1e-8 * (1 + e.largest);
  RC_ASSERT(best.bound >= e.highest - tolerance);
  RC_ASSERT(best.value <= e.highest + tolerance);
  if (best.optimal) RC_ASSERT(std::abs(best.value - e.highest) <= tolerance);
  if (best.value > -kInfinity) {
    const std::size_t at = e.find(y);
    RC_ASSERT(at < e.outputs.size());
    RC_ASSERT(std::abs(e.scores[at] - best.value) <= tolerance);
  }
  RC_ASSERT(structure.decode(std::span(s), ws) == y);
}

// The beliefs of tree-reweighted propagation are the gradient of its log-partition.
TEST(MarkovGraph, BeliefsAreTheGradientOfTheBound) {
  for (const bool triples : {false, true}) {
    const auto graph = grid(3, 3);
    if (triples) graph->add_clique(std::vector<std::uint32_t>{0, 4, 8});
    GraphInferenceOptions options = options_of(GraphInference::trw);
    options.tolerance = 1e-10;
    const MarkovGraph structure(graph, options);
    auto s = random_scores(graph->num_statistics(), 1.5, 3);
    Workspace ws;
    std::vector<double> mu(s.size()), other(s.size());
    MarkovGraph::Convergence convergence;
    structure.log_partition(s, mu, convergence, ws);
    ASSERT_TRUE(convergence.converged);
    constexpr double kStep = 1e-4;
    for (std::size_t k = 0; k < s.size(); k += 5) {
      const double at = s[k];
      s[k] = at + kStep;
      const double above = structure.log_partition(std::span<const double>(s), std::span(other), ws);
      s[k] = at - kStep;
      const double below = structure.log_partition(std::span<const double>(s), std::span(other), ws);
      s[k] = at;
      ASSERT_NEAR((above - below) / (2 * kStep), mu[k], 1e-6) << "statistic " << k;
    }
  }
}

// At convergence beliefs agree where cliques meet, and the log-partition is s.mu + H_rho(mu).
TEST(MarkovGraph, BeliefsAreConsistentOnLoopyGraphs) {
  const auto graph = grid(6, 4);
  const auto s = random_scores(graph->num_statistics(), 1, 5);
  for (const auto inference : {GraphInference::bp, GraphInference::trw}) {
    const MarkovGraph structure(graph, options_of(inference));
    Workspace ws;
    std::vector<double> mu(s.size());
    MarkovGraph::Convergence convergence;
    structure.log_partition(s, mu, convergence, ws);
    ASSERT_TRUE(convergence.converged);
    EXPECT_LE(convergence.residual, 1e-6);
    for (std::size_t c = 36; c < graph->num_cliques(); ++c) {
      const auto scope = graph->scope(c);
      for (std::size_t x = 0; x < 4; ++x) {
        double row = 0;
        for (std::size_t y = 0; y < 4; ++y) row += mu[graph->begin(c) + 4 * x + y];
        EXPECT_NEAR(row, mu[graph->begin(scope[0]) + x], 1e-5);
      }
    }
  }
}

TEST(MarkovGraph, PropagationIsCloseOnAGrid) {
  const auto graph = grid(5, 3);
  const auto s = random_scores(graph->num_statistics(), 0.5, 11);
  Workspace ws;
  std::vector<double> mu(s.size()), other(s.size());
  const double log_z = MarkovGraph(graph).log_partition(std::span(s), std::span(mu), ws);
  const double bethe =
      MarkovGraph(graph, options_of(GraphInference::bp)).log_partition(std::span(s), std::span(other), ws);
  const double bound =
      MarkovGraph(graph, options_of(GraphInference::trw)).log_partition(std::span(s), std::span(other), ws);
  EXPECT_NEAR(bethe, log_z, 0.02);
  EXPECT_GT(bound, log_z);
  EXPECT_NEAR(bound, log_z, 0.5);
}

TEST(MarkovGraph, WithoutAPossibleOutput) {
  const auto graph = std::make_shared<FactorGraph>(std::vector<std::uint32_t>{2, 2});
  graph->add_clique(std::vector<std::uint32_t>{0, 1});
  graph->add_clique(std::vector<std::uint32_t>{0});
  const std::vector<double> s{-kInfinity, -kInfinity, 0, 0, 0, -kInfinity};
  for (const auto inference : {GraphInference::exact, GraphInference::bp, GraphInference::trw}) {
    const MarkovGraph structure(graph, options_of(inference));
    Workspace ws;
    std::vector<double> mu(s.size(), 7);
    EXPECT_EQ(structure.log_partition(std::span(s), std::span(mu), ws), -kInfinity);
    EXPECT_EQ(mu, std::vector<double>(s.size(), 0));
    std::vector<std::uint32_t> y(2);
    EXPECT_EQ(structure.best(s, y, ws).value, -kInfinity);
  }
  EXPECT_TRUE(MarkovGraph(graph).kbest(s, 3).empty());
}

TEST(GraphInference, HasNames) {
  EXPECT_EQ(graph_inference("exact"), GraphInference::exact);
  EXPECT_EQ(graph_inference("bp"), GraphInference::bp);
  EXPECT_EQ(graph_inference("trw"), GraphInference::trw);
  EXPECT_EQ(graph_inference("auto"), GraphInference::automatic);
  EXPECT_EQ(testing::error_message([] { graph_inference("magic"); }),
            "inference: found 'magic'; expected exact, bp, trw or auto");
}

}  // namespace
}  // namespace espalier::markov_graph_test
