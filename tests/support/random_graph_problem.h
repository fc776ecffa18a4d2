#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "features/graph_features.h"
#include "learning/graph_problem.h"

namespace espalier::test_support {

struct RandomGraphOptions {
  std::size_t graphs = 12, largest = 4;  // nodes of the first type: 1 to largest
  bool constrained = true;               // some labels and joint labellings are forbidden
  bool weighted = true;                  // weights and costs in [0.5, 2); or all 1
  GraphInferenceOptions inference = {};
};

// Graphs of two types of nodes, with three and two labels, and cliques of two and three nodes; some have
// loops. Gold labels follow the features, with noise. The same seed and options give the same data.
struct RandomGraphs {
  static constexpr std::size_t kNodeTypes = 2;  // the first ones
  static std::size_t arity(std::size_t type);

  RandomGraphs(std::uint64_t seed, const RandomGraphOptions& options);
  GraphFeatures features;
  std::vector<GraphExample> examples;
};

// A problem with the data that it refers to. Stays where it was built.
struct OwnedGraphProblem {
  explicit OwnedGraphProblem(std::uint64_t seed, const RandomGraphOptions& options = {})
      : data(seed, options), problem(GraphExamples(data.features, data.examples)) {}
  OwnedGraphProblem(const OwnedGraphProblem&) = delete;
  OwnedGraphProblem& operator=(const OwnedGraphProblem&) = delete;

  const RandomGraphs data;
  const GraphProblem problem;
};

}  // namespace espalier::test_support
