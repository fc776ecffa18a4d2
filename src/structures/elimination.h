#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "structures/factor_graph.h"

namespace espalier {

// A junction tree of a graph, without its tables: what is left to know is whether they fit in memory.
struct EliminationTree {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    std::vector<std::uint32_t>
        variables;  // in the order of elimination: first those that end here, then the separator
    std::size_t num_ending;
    std::uint32_t parent;  // a later node, which has all of the separator; kNone: the separator is empty
  };

  std::vector<Node> nodes;               // children before parents
  std::vector<std::uint32_t> ending_at;  // of each variable: the node where it ends
  std::size_t width = 0;                 // variables of the largest node, less one
  double largest = 0;                    // entries of the largest table
  double widest = 0;                     // entries of the largest separator
  double separators = 0;                 // entries of all separators
  double total = 0;                      // entries of all tables
};

// By greedy elimination: the variable next that joins the fewest pairs of its neighbours that are not joined
// (min-fill), of several the one whose clique is smallest. Where the tables are large, random choices among
// ties, the rule of the smallest clique (min-weight), the order of the variables' numbers and a breadth-first
// one are tried, too (the last two are good for grids), and the smallest tree is taken. Always the same for
// the same graph.
EliminationTree eliminate(const FactorGraph& graph);

}  // namespace espalier
