// The forest of a sentence as a hypergraph: a node for each bottom and each top symbol over a span.

#include <algorithm>

#include "structures/cfg.h"

namespace espalier {

Hypergraph Cfg::hypergraph(Workspace::Frame& frame) const {
  const Forest all = forest(frame);
  HypergraphWriter::Room room{.nodes = all.num_bottoms() + all.num_tops(),
                              .edges = all.edges.size() + all.num_tops(),
                              .tails = 2 * all.edges.size() + all.num_tops(),
                              .statistics = 3 * all.edges.size()};
  std::size_t most_bottoms = 0;
  for (std::size_t c = 0; c < all.num_nodes(); ++c) {
    const SpanKind& kind = all.kinds[c];
    most_bottoms = std::max(most_bottoms, kind.bottoms.size());
    if (all.nodes[c].is_word()) {
      room.edges += kind.bottoms.size();
      room.statistics += kind.bottoms.size();
    }
    room.edges += kind.unaries.size();
    room.tails += kind.unaries.size();
    for (std::size_t u = 0; u < kind.unaries.size(); ++u) room.statistics += 1 + kind.slots_of(u).size();
  }
  HypergraphWriter writer(room, frame);
  const auto add_statistic = [&](std::uint32_t k) {
    if (k < num_statistics_) writer.add_statistic(k);
  };

  const auto bottoms = frame.take<std::uint32_t>(all.num_bottoms()),
             tops = frame.take<std::uint32_t>(all.num_tops());
  // The edges of a span, which lie block by block, by their bottom nodes.
  struct EdgeOf {
    std::uint32_t block, edge;
  };
  const auto by_bottom = frame.take<EdgeOf>(all.edges.size());
  const auto begins = frame.take<std::uint32_t>(most_bottoms + 1);
  for (std::size_t c = 0; c < all.num_nodes(); ++c) {
    const Node& node = all.nodes[c];
    const SpanKind& kind = all.kinds[c];
    const auto blocks = all.blocks_of(c);
    std::ranges::fill(begins, 0u);
    for (const Block& block : blocks) {
      for (const Edge& edge : all.edges_of(block)) ++begins[edge.bottom + 1];
    }
    for (std::size_t b = 0; b < kind.bottoms.size(); ++b) begins[b + 1] += begins[b];
    for (std::uint32_t k = 0; k < blocks.size(); ++k) {
      const auto edges = all.edges_of(blocks[k]);
      for (std::uint32_t e = 0; e < edges.size(); ++e) by_bottom[begins[edges[e].bottom]++] = {k, e};
    }
    // Now each begins where the one before it ended, and ends where it says.
    for (std::size_t b = 0; b < kind.bottoms.size(); ++b) {
      const std::uint32_t statistic = bottom_statistic(node, kind, b);
      if (node.is_word()) {
        add_statistic(statistic);
        writer.finish_edge();
      }
      for (std::size_t k = b == 0 ? 0 : begins[b - 1]; k < begins[b]; ++k) {
        const Block& block = blocks[by_bottom[k].block];
        const Edge& edge = all.edges_of(block)[by_bottom[k].edge];
        writer.add_tail(tops[all.nodes[block.left].first_top + edge.left]);
        writer.add_tail(tops[all.nodes[block.right].first_top + edge.right]);
        add_statistic(edge.rule);
        add_statistic(all.split_statistics[split_place(block.split, kind.bottoms[b])]);
        add_statistic(statistic);
        writer.finish_edge();
      }
      bottoms[node.first_bottom + b] = writer.finish_node();
    }
    for (std::size_t t = 0; t < kind.tops.size(); ++t) {
      if (kind.tops[t].same != SpanKind::kNone) {
        writer.add_tail(bottoms[node.first_bottom + kind.tops[t].same]);
        writer.finish_edge();
      }
      const auto [first, end] = kind.unaries_of(t);
      for (std::size_t u = first; u < end; ++u) {
        writer.add_tail(bottoms[node.first_bottom + kind.unaries[u].bottom]);
        for_each_of_unary(all, node, kind, u, add_statistic);
        writer.finish_edge();
      }
      tops[node.first_top + t] = writer.finish_node();
    }
  }
  return writer.finish();
}

}  // namespace espalier
