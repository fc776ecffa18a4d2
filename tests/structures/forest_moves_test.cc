#include "structures/forest_moves.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/random.h"
#include "structures/factor_graph.h"
#include "structures/markov_graph.h"
#include "support/enumeration.h"
#include "support/random_graph.h"

namespace espalier {
namespace {

using test_support::draw_graph;
using test_support::draw_scores;
using test_support::enumerate;

// Scores as improve_by_forests() takes them.
struct Scores {
  Scores(const FactorGraph& graph, std::span<const double> all)
      : layout(graph), node(layout.label_begin.back()), s(all.begin(), all.end()) {
    for (const std::size_t k : graph.forbidden()) s[k] = -std::numeric_limits<double>::infinity();
    layout.node_scores(s, node);
    Workspace ws;
    EXPECT_TRUE(layout.take_out_impossible(node, s, ws));
  }

  const CliqueMessages layout;
  std::vector<double> node, s;
};

RC_GTEST_PROP(ForestMoves, NeverMakeALabellingWorse, ()) {
  const auto graph = draw_graph(4, true);
  const auto all = draw_scores(*graph);
  const auto e = enumerate(MarkovGraph(graph), std::span<const double>(all));
  const Scores scores(*graph, all);
  const std::size_t from = *rc::gen::inRange<std::size_t>(0, e.outputs.size());
  RC_PRE(e.scores[from] > -std::numeric_limits<double>::infinity());
  auto y = e.outputs[from];
  const double tolerance = 1e-11 * (1 + e.largest);
  RC_ASSERT(std::abs(scores.layout.score(scores.node, scores.s, y) - e.scores[from]) <= tolerance);
  Workspace ws;
  improve_by_forests(scores.layout, scores.node, scores.s, *rc::gen::inRange<std::size_t>(0, 30), y, ws);
  const std::size_t reached = e.find(y);
  RC_ASSERT(reached < e.outputs.size());
  RC_ASSERT(e.scores[reached] >= e.scores[from] - tolerance);
}

// Without loops all variables are free at once.
RC_GTEST_PROP(ForestMoves, FindTheBestOfATreeAtOnce, ()) {
  const auto variables = *rc::gen::inRange<std::uint32_t>(1, 8);
  const auto graph = std::make_shared<FactorGraph>(
      *rc::gen::container<std::vector<std::uint32_t>>(variables, rc::gen::inRange<std::uint32_t>(1, 4)));
  // Each clique has one variable of the tree so far, and one or two others.
  for (std::uint32_t v = 1; v < variables;) {
    std::vector<std::uint32_t> scope = {*rc::gen::inRange<std::uint32_t>(0, v), v++};
    if (v < variables && *rc::gen::arbitrary<bool>()) scope.push_back(v++);
    if (*rc::gen::arbitrary<bool>()) std::swap(scope.front(), scope.back());
    graph->add_clique(scope);
  }
  graph->add_clique(std::vector<std::uint32_t>{0});
  const auto all = draw_scores(*graph);
  const auto e = enumerate(MarkovGraph(graph), std::span<const double>(all));
  const Scores scores(*graph, all);
  MarkovGraph::Output y(variables, 0);
  Workspace ws;
  improve_by_forests(scores.layout, scores.node, scores.s, 1, y, ws);
  RC_ASSERT(std::abs(e.scores[e.find(y)] - e.highest) <= 1e-11 * (1 + e.largest));
}

// Couplings of both signs on a torus: the labels of single variables are soon as good as they get, and far
// from the best.
TEST(ForestMoves, FindTheBestOfASpinGlass) {
  constexpr std::uint32_t kSide = 6;
  Random random(3);
  const auto graph = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(kSide * kSide, 2));
  std::vector<double> all;
  for (std::uint32_t v = 0; v < kSide * kSide; ++v) {
    const std::uint32_t row = v / kSide, column = v % kSide;
    for (const std::uint32_t u : {row * kSide + (column + 1) % kSide, (row + 1) % kSide * kSide + column}) {
      graph->add_clique(std::vector<std::uint32_t>{v, u});
      const double coupling = 10 * random.uniform() - 5;
      all.insert(all.end(), {coupling, -coupling, -coupling, coupling});
    }
  }
  Workspace ws;
  MarkovGraph::Output y(graph->num_variables()), exact(graph->num_variables());
  const auto best = MarkovGraph(graph, {.inference = GraphInference::exact}).best(all, exact, ws);
  const auto found = MarkovGraph(graph, {.inference = GraphInference::trw}).best(all, y, ws);
  EXPECT_FALSE(found.optimal);
  EXPECT_GT(found.bound, best.value + 1);
  EXPECT_NEAR(found.value, best.value, 1e-9);
}

}  // namespace
}  // namespace espalier
