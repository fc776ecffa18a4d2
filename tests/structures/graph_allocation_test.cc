// Inference on a graph allocates nothing once it has seen one like it.

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "structures/markov_graph.h"
#include "support/allocations.h"

namespace espalier::graph_allocation_test {
namespace {

TEST(MarkovGraph, InferenceAllocatesNothingAfterItsFirstRun) {
  const auto graph = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(9, 3));
  for (std::uint32_t v = 0; v < 9; ++v) {
    graph->add_clique(std::vector<std::uint32_t>{v, (v + 1) % 9});
    graph->add_clique(std::vector<std::uint32_t>{v, (v + 2) % 9, (v + 4) % 9});
  }
  // Finite scores, and some that exclude.
  std::vector<float> s(graph->num_statistics());
  for (std::size_t k = 0; k < s.size(); ++k) s[k] = static_cast<float>(k % 7) / 7;
  std::vector<float> excluding = s;
  excluding[3] = excluding[40] = -std::numeric_limits<float>::infinity();
  std::vector<float> mu(s.size());
  for (const auto inference : {GraphInference::exact, GraphInference::bp, GraphInference::trw}) {
    GraphInferenceOptions options;
    options.inference = inference;
    const MarkovGraph structure(graph, options);
    Workspace ws;
    const auto run = [&] {
      for (const auto& scores : {std::span<const float>(s), std::span<const float>(excluding)}) {
        structure.log_partition(scores, std::span(mu), ws);
        structure.argmax(scores, std::span(mu), ws);
      }
    };
    run();
    const std::size_t before = test_support::allocations;
    run();
    EXPECT_EQ(test_support::allocations - before, 0u);
  }
}

}  // namespace
}  // namespace espalier::graph_allocation_test
