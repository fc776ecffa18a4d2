#include "support/random_graph_problem.h"

#include <algorithm>
#include <memory>

#include "base/random.h"
#include "structures/factor_graph.h"
#include "structures/markov_graph.h"

namespace espalier::test_support {
namespace {

enum Type : std::size_t { kFirst, kSecond, kPair, kMixed, kTriple };
constexpr std::size_t kLabels[] = {3, 2};

std::vector<GraphTypeSize> type_sizes() { return {{4, 3, 1}, {3, 2, 1}, {2, 9, 2}, {3, 6, 2}, {1, 18, 3}}; }

}  // namespace

std::size_t RandomGraphs::arity(std::size_t type) { return type_sizes()[type].arity; }

RandomGraphs::RandomGraphs(std::uint64_t seed, const RandomGraphOptions& options) : features(type_sizes()) {
  Random random(seed);
  const auto sizes = type_sizes();
  const auto size = [&] { return options.weighted ? 0.5 + 1.5 * random.uniform() : 1.0; };
  for (std::size_t i = 0; i < options.graphs; ++i) {
    const std::size_t num_first = 1 + random.below(options.largest), num_second = random.below(3);
    const std::size_t num_nodes = num_first + num_second;
    std::vector<std::uint32_t> cardinalities;
    for (std::size_t v = 0; v < num_nodes; ++v)
      cardinalities.push_back(static_cast<std::uint32_t>(kLabels[v < num_first ? kFirst : kSecond]));
    auto graph = std::make_shared<FactorGraph>(cardinalities);
    GraphExample example;
    example.weight = size();
    // The sum of the row's values, by which gold labels go.
    const auto add_row = [&](std::size_t type) {
      double sum = 0;
      for (std::uint32_t a = 0; a < sizes[type].attributes; ++a) {
        if (random.uniform() < 0.3) continue;
        const double value = random.below(3) == 0 ? 1 : 2 * random.uniform() - 1;
        features.add(type, a, static_cast<float>(value));
        sum += value;
      }
      features.finish_row(type);
      return sum;
    };
    const auto add = [&](std::size_t type, std::vector<std::uint32_t> scope) {
      const std::size_t clique = graph->add_clique(scope);
      if (type > kSecond) add_row(type);
      if (!options.constrained) return;
      const std::size_t gold = graph->entry(clique, example.gold), entry = random.below(graph->size(clique));
      if (entry != gold && random.below(3) == 0) graph->forbid(clique, entry);
    };
    for (std::size_t v = 0; v < num_nodes; ++v) {
      const std::size_t type = v < num_first ? kFirst : kSecond;
      const double sum = add_row(type);
      const std::size_t ruled = sum > 0.5 ? 1 : sum < -0.5 ? kLabels[type] - 1 : 0;
      const std::size_t label = random.uniform() < 0.2 ? random.below(kLabels[type]) : ruled;
      example.gold.push_back(static_cast<std::uint32_t>(label));
      for (std::size_t y = 0; y < kLabels[type]; ++y) {
        const double cost = size();
        example.cost.push_back(y == label ? 0.0f : static_cast<float>(cost));
      }
    }
    const auto first = [&] { return static_cast<std::uint32_t>(random.below(num_first)); };
    for (std::uint32_t v = 0; v < num_nodes; ++v) add(v < num_first ? kFirst : kSecond, {v});
    for (std::uint32_t v = 1; v < num_first; ++v) add(kPair, {v - 1, v});
    if (num_first > 2) add(kPair, {static_cast<std::uint32_t>(num_first - 1), 0});
    for (std::uint32_t v = static_cast<std::uint32_t>(num_first); v < num_nodes; ++v)
      add(kMixed, {first(), v});
    if (num_first > 1 && num_second > 0) add(kTriple, {1, 0, static_cast<std::uint32_t>(num_first)});
    features.finish_graph();
    example.structure = std::make_shared<MarkovGraph>(std::move(graph), options.inference);
    examples.push_back(std::move(example));
  }
}

}  // namespace espalier::test_support
