#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "structures/factor_graph.h"

namespace espalier {

// Where messages between cliques and variables lie. Cliques of one variable send none: they are part of its
// scores.
struct CliqueMessages {
  struct Clique {
    std::size_t index;        // in the graph
    std::size_t begin, size;  // of its table, among the statistics
    std::vector<std::uint32_t> variables, labels;
    std::vector<std::size_t> messages;  // where the message to each variable begins
  };
  struct End {
    std::uint32_t clique, position;  // the variable is number `position` of the clique
  };
  struct Unary {
    std::uint32_t variable;
    std::size_t begin;
  };

  explicit CliqueMessages(const FactorGraph& graph);

  // node[label_begin[v] + x] = the scores of label x of v in cliques of one variable
  void node_scores(std::span<const double> s, std::span<double> node) const;

  // Takes out labels that no output has because of -infinity: those without an entry left in some clique.
  // Then all entries with such a label are -infinity, in node and in s (tables of cliques), and every label
  // that is left has an entry in each of its cliques. False where a variable has no label left.
  bool take_out_impossible(std::span<double> node, std::span<double> s, Workspace& ws) const;

  // Of a labelling, by those scores.
  double score(std::span<const double> node, std::span<const double> s,
               std::span<const std::uint32_t> y) const;

  static constexpr std::size_t kMostVariables = 64;  // of a clique: no memory holds a table of more

  std::vector<Clique> cliques;
  std::vector<Unary> unary;
  std::vector<std::vector<End>> ends;    // of each variable
  std::vector<std::size_t> label_begin;  // of each variable's labels, and the end
  std::size_t num_messages = 0;          // entries of all messages
  std::size_t most_labels = 0;           // of the variables of a clique, together
  std::size_t buffer = 0;                // for contract()
};

}  // namespace espalier
