#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"
#include "structures/clique_messages.h"
#include "structures/factor_graph.h"
#include "structures/markov_graph.h"

namespace espalier {

// The best labelling of a graph with loops, with a bound that tells whether it is. Scores are given as
// double, with -infinity for what is forbidden.
class DualDecomposition {
 public:
  DualDecomposition(const FactorGraph& graph, std::size_t iterations, double tolerance);

  // The value is that of y, -infinity where no possible labelling was found; the bound holds for every
  // labelling. Where y is not proven to be the best, so many moves (forest_moves.h) may improve it.
  MarkovGraph::Best best(std::span<const double> s, std::size_t moves, std::span<std::uint32_t> y,
                         Workspace& ws) const;

 private:
  using Clique = CliqueMessages::Clique;
  struct State;

  void visit(State& state, const Clique& clique) const;
  double bound(State& state) const;
  void round(State& state, std::span<std::uint32_t> y) const;
  void improve(State& state, std::span<std::uint32_t> y) const;

  CliqueMessages layout_;
  std::size_t iterations_;
  double tolerance_;
};

}  // namespace espalier
