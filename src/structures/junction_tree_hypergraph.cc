// A junction tree as a hypergraph: a node for each labelling of a separator, an edge for each entry of a
// table, with the child's separators as its tails. The roots meet in one more node.

#include <algorithm>

#include "structures/junction_tree.h"

namespace espalier {

double JunctionTree::hypergraph_bytes() const {
  double edges = 1, others = static_cast<double>(roots_.size());
  for (const Node& node : nodes_) {
    const auto entries = static_cast<double>(node.rows) * static_cast<double>(node.width);
    edges += entries;
    others += entries * static_cast<double>(node.factors.size() + node.children.size());
  }
  return sizeof(std::uint32_t) * (2 * edges + others + static_cast<double>(num_messages_));
}

Hypergraph JunctionTree::hypergraph(Workspace::Frame& frame) const {
  HypergraphWriter::Room room{
      .nodes = num_messages_ + 1, .edges = 1, .tails = roots_.size(), .statistics = 0};
  std::size_t most_variables = 0;
  for (const Node& node : nodes_) {
    const std::size_t entries = node.rows * node.width;
    room.edges += entries;
    room.tails += entries * node.children.size();
    room.statistics += entries * node.factors.size();
    most_variables = std::max(most_variables, node.variables.size());
  }
  HypergraphWriter writer(room, frame);
  const auto forbidden = frame.take<std::uint8_t>(graph_.num_statistics());
  std::ranges::fill(forbidden, std::uint8_t{0});
  for (const std::size_t k : graph_.forbidden()) forbidden[k] = 1;
  const auto of_messages = frame.take<std::uint32_t>(num_messages_);
  const auto labels = frame.take<std::size_t>(most_variables);

  for (const Node& node : nodes_) {
    const auto entry_of = [&](const Source& from) {
      std::size_t entry = from.begin;
      for (std::size_t i = 0; i < node.variables.size(); ++i) entry += from.strides[i] * labels[i];
      return entry;
    };
    for (std::size_t separator = 0; separator < node.width; ++separator) {
      for (std::size_t row = 0; row < node.rows; ++row) {
        const std::size_t at = row * node.width + separator;
        for (std::size_t i = 0; i < node.variables.size(); ++i)
          labels[i] = at / node.strides[i] % graph_.cardinality(node.variables[i]);
        for (const Source& factor : node.factors) {
          const std::size_t k = entry_of(factor);
          if (forbidden[k]) writer.add_tail(HypergraphWriter::kImpossible);
          writer.add_statistic(k);
        }
        for (const Source& child : node.children) writer.add_tail(of_messages[entry_of(child)]);
        writer.finish_edge();
      }
      of_messages[node.message + separator] = writer.finish_node();
    }
  }
  for (const std::uint32_t root : roots_) writer.add_tail(of_messages[nodes_[root].message]);
  writer.finish_edge();
  writer.finish_node();
  return writer.finish();
}

}  // namespace espalier
