#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "structures/broadcast.h"
#include "structures/elimination.h"
#include "structures/factor_graph.h"
#include "structures/hypergraph.h"
#include "structures/markov_graph.h"

namespace espalier {

// Exact inference on a factor graph. Scores are given as double, with -infinity for what is forbidden.
class JunctionTree {
 public:
  JunctionTree(const FactorGraph& graph, const EliminationTree& tree);

  // What inference takes at the same time, beside scores and marginals: all messages, the largest table and
  // the largest separator once more.
  static double bytes(const EliminationTree& tree) {
    return sizeof(double) * (tree.separators + tree.largest + tree.widest);
  }

  // log Z, -infinity where no output is possible; mu: the marginals of every clique of the graph, all 0 in
  // that case.
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  // log Z alone, in half the time.
  double log_partition(std::span<const double> s, Workspace& ws) const;
  // The best score and a labelling that has it; of equally good ones always the same.
  double best(std::span<const double> s, std::span<std::uint32_t> y, Workspace& ws) const;
  // The k best labellings, best first, each once.
  std::vector<MarkovGraph::Scored> kbest(std::span<const double> s, std::size_t k) const;
  // Labellings drawn independently of each other from u(y) ~ exp s.chi(y). Requires that one is possible.
  std::vector<MarkovGraph::Output> samples(std::span<const double> s, std::size_t n, Random& random) const;

  // All tables at once, without the entries that the graph forbids.
  Hypergraph hypergraph(Workspace::Frame& frame) const;
  double hypergraph_bytes() const;

 private:
  struct Source {
    std::size_t begin;  // of its numbers: among the scores, or among the messages
    std::size_t size;
    Broadcast broadcast;
    std::vector<std::size_t> strides;  // one for each of the node's variables
  };
  struct Node {
    std::vector<std::uint32_t> variables;
    std::vector<std::size_t> strides;     // of its table
    std::size_t num_ending, rows, width;  // the table is rows (what ends here) x width (the separator)
    std::size_t message;                  // where the message to the parent begins
    std::vector<Source> factors, children;
    std::vector<std::uint32_t> child_nodes;
  };
  class KBest;

  static Source source(const FactorGraph& graph, std::span<const std::uint32_t> variables,
                       std::span<const std::uint32_t> scope, std::size_t begin);
  void add_sources(const Node& node, std::span<const double> s, std::span<const double> messages,
                   std::span<double> table) const;
  template <class Reduce>
  double send_up(std::span<const double> s, std::span<double> messages, std::span<double> scratch,
                 const Reduce& reduce) const;
  void set_row(const Node& node, std::size_t row, std::span<std::uint32_t> y) const;
  // consider(row, L(row, s)) for each row, given the labels of the separator. Changes those of what ends
  // here.
  template <class Consider>
  void for_each_row(const Node& node, std::span<const double> s, std::span<const double> messages,
                    std::span<double> scratch, std::span<std::uint32_t> y, const Consider& consider) const;
  void choose(const Node& node, std::span<const double> s, std::span<const double> messages,
              std::span<double> scratch, std::span<std::uint32_t> y) const;

  const FactorGraph& graph_;
  std::vector<Node> nodes_;  // children before parents
  std::vector<std::uint32_t> roots_;
  std::size_t largest_ = 0, widest_ = 0;  // entries of a table, and of a separator
  std::size_t num_messages_ = 0;          // entries of all separators
};

}  // namespace espalier
