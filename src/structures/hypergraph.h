#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"

namespace espalier {

// The outputs of one example as derivations of an acyclic hypergraph: a dynamic program with all its steps. A
// node is a part of the problem; an edge is one way to make it of smaller parts, its tails, and has the
// statistics that this step counts. An output has the root, which is the last node, and one edge of each node
// that it has, with its tails. Requires:
//   - tails come before their node, and no output has a node twice;
//   - outputs are different derivations, and chi(y) sums up what the edges of y count;
//   - all outputs have as many nodes.
//
// Clique marginals are the probabilities of edges and of nodes: edge e is clique e, node v is clique
// num_edges() + v. A distribution of which they are, and the one of largest entropy, is
//   u(y) = prod_{e in y} p(e) / prod_{v in y} p(v),   H(u) = sum_e -p(e) log p(e) - sum_v -p(v) log p(v),
// since each node of an output takes its edge by p(e)/p(v). And whatever is nowhere negative, is 1 at the
// root, and has p(v) = sum of v's edges = sum of the edges that v is a tail of, belongs to a distribution.
struct Hypergraph {
  std::span<const std::uint32_t> first_edge;  // of each node, and the end
  std::span<const std::uint32_t> first_tail;  // of each edge, and the end
  std::span<const std::uint32_t> tails;
  std::span<const std::uint32_t> first_statistic;  // of each edge, and the end
  std::span<const std::uint32_t> statistics;

  std::size_t num_nodes() const { return first_edge.size() - 1; }
  std::size_t num_edges() const { return first_tail.size() - 1; }
  std::size_t num_clique_marginals() const { return num_edges() + num_nodes(); }
  std::size_t root() const { return num_nodes() - 1; }
  std::span<const std::uint32_t> tails_of(std::size_t edge) const {
    return tails.subspan(first_tail[edge], first_tail[edge + 1] - first_tail[edge]);
  }
  std::span<const std::uint32_t> statistics_of(std::size_t edge) const {
    return statistics.subspan(first_statistic[edge], first_statistic[edge + 1] - first_statistic[edge]);
  }
};

// Writes one, node by node, into the memory of a frame.
class HypergraphWriter {
 public:
  // What there is room for.
  struct Room {
    std::size_t nodes = 0, edges = 0, tails = 0, statistics = 0;
  };
  static constexpr std::uint32_t kImpossible = static_cast<std::uint32_t>(-1);
  // A part that there is one way to make, which counts nothing: it needs no node.
  static constexpr std::uint32_t kNothing = kImpossible - 1;

  HypergraphWriter(const Room& room, Workspace::Frame& frame);

  // Of the edge at hand.
  void add_tail(std::uint32_t node) {
    possible_ = possible_ && node != kImpossible;
    if (node < kNothing && possible_) tails_[num_tails_++] = node;
  }
  void add_statistic(std::size_t k) { statistics_[num_statistics_++] = static_cast<std::uint32_t>(k); }
  // Ends it; it is left out where one of its tails is impossible.
  void finish_edge();
  // Ends a node, which has the edges that were ended since the last one; kImpossible: there are none.
  std::uint32_t finish_node();
  Hypergraph finish() const;

 private:
  std::span<std::uint32_t> first_edge_, first_tail_, tails_, first_statistic_, statistics_;
  std::size_t num_nodes_ = 0, num_edges_ = 0, num_tails_ = 0, num_statistics_ = 0;
  bool possible_ = true;
};

// The marginals of all cliques of u(y) ~ exp s.chi(y), with the statistics that they add up to; returns log
// Z. All are 0 where it is -infinity. In logarithms: scores may have any range. Requires as many elements as
// there are clique marginals.
double hypergraph_marginals(const Hypergraph& graph, std::span<const double> s, std::span<double> cliques,
                            std::span<double> mu, Workspace& ws);
// The distribution in which each node takes its edges by their share of the node's marginals: its statistics,
// and its entropy or a little less. Whatever rounding did to the marginals, it is a distribution. Throws
// Error where no output has edges with mass only.
double hypergraph_distribution(const Hypergraph& graph, std::span<const float> cliques, std::span<double> mu,
                               Workspace& ws);

// The largest cost(y)(margin + s.chi(y)) of all outputs y, where statistic k costs costs[k] each time that it
// is counted; and chi of an output that has it. Outputs that cost nothing have 0, whatever their score.
double hypergraph_best_by_cost(const Hypergraph& graph, std::span<const double> s,
                               std::span<const std::uint32_t> costs, double margin, std::span<double> chi,
                               Workspace& ws);

// An output by its cliques: first its edges, then its nodes, ascending.
//
// One with the statistics chi. False: none has them.
bool hypergraph_output(const Hypergraph& graph, std::span<const float> chi, std::span<std::uint32_t> output,
                       Workspace& ws);
// One of lowest score among those all of whose cliques have mass. False: there is none.
bool hypergraph_lowest(const Hypergraph& graph, std::span<const float> s, std::span<const float> cliques,
                       std::span<std::uint32_t> output, Workspace& ws);

}  // namespace espalier
