// Projective trees as a hypergraph: the items of Eisner 1996, which kernels/eisner.cc explains.
//   S(i, j) <- R(i, k) L(k + 1, j)      two halves that an arc between i and j closes
//   A(i, j) <- S(i, j)                  by the arc from i to j, with a label; B(i, j): from j to i
//   R(i, j) <- A(i, k) R(k, j)
//                                       all below i to its right; L(i, j) <- L(i, k) B(k, j): below j to its
//                                       left
// R(0, m) has all trees; with a single root they are those of L(1, k) and R(k, m) below an arc from 0 to k.
// Every arc takes three nodes, and R(i, i) and L(i, i) none.

#include "espalier/base/error.h"
#include "structures/hypergraph.h"
#include "structures/projective.h"

namespace espalier {

Hypergraph projective_hypergraph(const ArcSet& arcs, bool single_root, std::size_t labels,
                                 Workspace::Frame& frame) {
  const std::size_t m = arcs.words(), n = m + 1, first = single_root ? 1 : 0;
  ESPALIER_EXPECT(m > 0);
  const std::size_t spans = n * m / 2, splits = n * (n * n - 1) / 6;
  HypergraphWriter writer({.nodes = 5 * spans + 1,
                           .edges = 3 * splits + (2 * spans + m) * labels,
                           .tails = 6 * splits + 2 * (spans + m) * labels,
                           .statistics = (2 * spans + m) * labels},
                          frame);
  const auto take = [&] { return frame.take<std::uint32_t>(n * n); };
  const auto arc_right = take(), arc_left = take(), right = take(), left = take();
  const auto at = [n](std::size_t i, std::size_t j) { return i * n + j; };
  for (std::size_t i = 0; i < n; ++i) right[at(i, i)] = left[at(i, i)] = HypergraphWriter::kNothing;
  left[at(0, 0)] = HypergraphWriter::kImpossible;

  const auto below_arc = [&](std::size_t arc, std::uint32_t halves) {
    for (std::size_t l = 0; arc != ArcSet::kNone && l < labels; ++l) {
      writer.add_tail(halves);
      writer.add_statistic(arc * labels + l);
      writer.finish_edge();
    }
    return writer.finish_node();
  };
  for (std::size_t width = 1; width <= m; ++width) {
    for (std::size_t i = first, j = i + width; j <= m; ++i, ++j) {
      const std::size_t to_right = arcs.find(i, j), to_left = i > 0 ? arcs.find(j, i) : ArcSet::kNone;
      for (std::size_t k = i; k < j && (to_right != ArcSet::kNone || to_left != ArcSet::kNone); ++k) {
        writer.add_tail(right[at(i, k)]);
        writer.add_tail(left[at(k + 1, j)]);
        writer.finish_edge();
      }
      const std::uint32_t halves = writer.finish_node();
      arc_right[at(i, j)] = below_arc(to_right, halves);
      arc_left[at(i, j)] = below_arc(to_left, halves);
      for (std::size_t k = i; i > 0 && k < j; ++k) {
        writer.add_tail(left[at(i, k)]);
        writer.add_tail(arc_left[at(k, j)]);
        writer.finish_edge();
      }
      left[at(i, j)] = writer.finish_node();
      for (std::size_t k = i + 1; k <= j; ++k) {
        writer.add_tail(arc_right[at(i, k)]);
        writer.add_tail(right[at(k, j)]);
        writer.finish_edge();
      }
      right[at(i, j)] = writer.finish_node();
    }
  }
  if (single_root) {
    for (std::size_t k = 1; k <= m; ++k) {
      const std::size_t arc = arcs.find(0, k);
      for (std::size_t l = 0; arc != ArcSet::kNone && l < labels; ++l) {
        writer.add_tail(left[at(1, k)]);
        writer.add_tail(right[at(k, m)]);
        writer.add_statistic(arc * labels + l);
        writer.finish_edge();
      }
    }
    writer.finish_node();
  }
  return writer.finish();
}

}  // namespace espalier
