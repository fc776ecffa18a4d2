#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"
#include "structures/tree_parts.h"

namespace espalier {

// What scores a tree in second order. Requires the parts of all arcs that are not excluded, as TreePartLists
// has them, and finite scores of parts.
struct SecondOrderArcs {
  std::size_t words;
  bool single_root;
  std::span<const double> s;  // an arc matrix
  TreeParts parts;
  std::span<const double> part_s;  // siblings first
};

// A factor for each head h, over the arcs that lead to it and from it:
//
//   psi_h(y) = [exactly one arc leads to h, but to the root none] exp( sum of the scores of its parts )
//
// where siblings are adjacent. Each arc g -> h has two ends, one at the factor of g and one at that of h;
// values of ends come in the order of arcs(). Lives in the memory of the frame.
class HeadFactors {
 public:
  HeadFactors(std::size_t words, const TreeParts& parts, Workspace::Frame& frame);

  std::size_t num_ends() const { return arcs_.size(); }
  // The arc of each end, as a place in an arc matrix.
  std::span<const std::uint32_t> arcs() const { return arcs_; }

  // Parts count so many times their scores.
  void set_scores(std::span<const double> part_s, double scale);

  // sum_h log Z_h, where the arc at end e has the score in[e]: -infinity excludes it, and one of infinity is
  // in all that is summed, where it counts as 0. out[e]: the log odds of the arc. part_mu (or empty): the
  // probability of each part.
  double log_partition(std::span<const double> in, std::span<double> out, std::span<double> part_mu,
                       Workspace& ws) const;
  // The sum of the maxima. chosen[e]: whether the best one of the factor has the arc. Requires in < infinity.
  double best(std::span<const double> in, std::span<std::uint8_t> chosen, Workspace& ws) const;
  // The sum of the scores of a tree's parts, with the scale.
  double score(std::span<const std::uint32_t> heads) const;

 private:
  // Modifiers on one side, outward: number j, from 1 on, is end `first` + j - 1.
  struct Side {
    std::uint32_t first, count;
    std::uint32_t siblings;  // a table of (count + 1)^2 pairs, 0 for the head itself
    std::size_t pair(std::size_t i, std::size_t j) const { return siblings + i * (count + 1) + j; }
  };
  struct Head {
    std::uint32_t contexts, num_contexts;  // ends of arcs that lead to it
    Side sides[2];                         // left, right
    std::uint32_t grandparents;            // a table, a row for each context
    std::uint32_t modifiers() const { return sides[0].count + sides[1].count; }
  };
  template <class Semiring>
  class Sum;

  bool fits_probabilities(const Head& head, std::span<const double> in) const;

  static constexpr std::uint32_t kNoPart = ~std::uint32_t{0};

  std::size_t words_;
  std::span<Head> heads_;
  std::span<std::uint32_t> arcs_;
  std::span<std::uint32_t> sibling_parts_, grandparent_parts_;  // parts of the tables' entries
  std::span<double> siblings_, grandparents_;                   // their scores
  std::span<double> exp_siblings_, exp_grandparents_;
  std::span<double> highest_, lowest_;  // of an end, what parts may add to its arc
  std::span<std::uint32_t> out_end_;    // of an arc, the end at its head
};

}  // namespace espalier
