#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "structures/markov_graph.h"
#include "support/random_scores.h"

namespace espalier {

inline std::vector<MarkovGraph::Output> all_outputs(const MarkovGraph& structure) {
  const FactorGraph& graph = structure.graph();
  std::vector<std::uint8_t> forbidden(graph.num_statistics(), 0);
  for (const std::size_t k : graph.forbidden()) forbidden[k] = 1;
  std::vector<MarkovGraph::Output> outputs;
  MarkovGraph::Output y(graph.num_variables(), 0);
  for (;;) {
    bool allowed = true;
    for (std::size_t c = 0; c < graph.num_cliques(); ++c) {
      allowed = allowed && !forbidden[graph.begin(c) + graph.entry(c, y)];
    }
    if (allowed) outputs.push_back(y);
    std::size_t v = 0;
    while (v < y.size() && ++y[v] == graph.cardinality(v)) y[v++] = 0;
    if (v == y.size()) return outputs;
  }
}

}  // namespace espalier

namespace espalier::test_support {

// Graphs that can be enumerated. The labelling of zeros is always possible.
inline std::shared_ptr<FactorGraph> draw_graph(std::size_t largest_clique, bool may_forbid) {
  const auto variables = *rc::gen::inRange<std::size_t>(1, 8);
  const auto graph = std::make_shared<FactorGraph>(*rc::gen::container<std::vector<std::uint32_t>>(
      variables, rc::gen::inRange<std::uint32_t>(1, variables > 4 ? 4 : 5)));
  const auto cliques = *rc::gen::inRange<std::size_t>(0, 11);
  for (std::size_t c = 0; c < cliques; ++c) {
    const auto size = *rc::gen::inRange<std::size_t>(1, std::min(largest_clique, variables) + 1);
    std::vector<std::uint32_t> scope;
    while (scope.size() < size) {
      const auto v = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(variables));
      if (std::find(scope.begin(), scope.end(), v) == scope.end()) scope.push_back(v);
    }
    const std::size_t clique = graph->add_clique(scope);
    if (!may_forbid || *rc::gen::arbitrary<bool>()) continue;
    for (std::size_t e = 1; e < graph->size(clique); ++e) {
      if (*rc::gen::inRange(0, 5) == 0) graph->forbid(clique, e);
    }
  }
  return graph;
}

// Scores with some of -infinity, but not for the labelling of zeros.
inline std::vector<double> draw_scores(const FactorGraph& graph) {
  auto s = *scores(graph.num_statistics());
  for (std::size_t c = 0; c < graph.num_cliques(); ++c) {
    double& first = s[graph.begin(c)];
    if (first == -std::numeric_limits<double>::infinity()) first = 0;
  }
  return s;
}

}  // namespace espalier::test_support
