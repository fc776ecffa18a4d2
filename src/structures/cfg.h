#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"
#include "structures/grammar.h"
#include "structures/hypergraph.h"
#include "structures/span_kinds.h"

namespace espalier {

// The tags that each word of a sentence may have; each list ascends.
using TagSets = std::vector<std::vector<std::uint32_t>>;

// Which symbols may stand over which spans of a sentence. Tags over words are always allowed.
class SpanMask {
 public:
  // Allows nothing yet.
  SpanMask(std::size_t num_words, std::size_t num_symbols);

  std::size_t num_words() const { return num_words_; }
  bool allows(std::uint32_t symbol, std::size_t begin, std::size_t end) const {
    const std::uint64_t word = bits_[span_index(begin, end) * words_a_span_ + symbol / 64];
    return (word >> (symbol % 64) & 1) != 0;
  }
  void allow(std::uint32_t symbol, std::size_t begin, std::size_t end) {
    bits_[span_index(begin, end) * words_a_span_ + symbol / 64] |= std::uint64_t{1} << (symbol % 64);
  }
  // Symbol a is bit a % 64 of word a / 64.
  std::span<const std::uint64_t> row(std::size_t begin, std::size_t end) const {
    return {bits_.data() + span_index(begin, end) * words_a_span_, words_a_span_};
  }
  // What this derivation needs.
  void allow(const Grammar& grammar, const Derivation& derivation);

 private:
  // Spans by where they end.
  static std::size_t span_index(std::size_t begin, std::size_t end) { return end * (end - 1) / 2 + begin; }

  std::size_t num_words_, words_a_span_;
  std::vector<std::uint64_t> bits_;
};

// The rules of a grammar by what is below them.
class GrammarIndex {
 public:
  // A rule of two children that are known. The last one of their list has kNoRule.
  struct Above {
    std::uint32_t parent, rule;
  };
  explicit GrammarIndex(Grammar grammar);

  const Grammar& grammar() const { return grammar_; }
  std::size_t num_rules() const { return grammar_.binaries.size() + grammar_.unaries.size(); }
  // Binary rules with these children, up to one with kNoRule.
  const Above* above(std::uint32_t left, std::uint32_t right) const {
    const Pair& pair = pairs_[first_pair_[left] + right];
    return above_.data() + (pair.left == left ? pair.first : 0);
  }
  // Unary rules with this child.
  std::span<const std::uint32_t> above(std::uint32_t symbol) const {
    return {unaries_.data() + first_unary_[symbol], first_unary_[symbol + 1] - first_unary_[symbol]};
  }
  // The labels that a unary rule puts over its span.
  std::span<const std::uint32_t> unary_labels(std::uint32_t unary) const {
    return {unary_labels_.data() + first_unary_label_[unary],
            first_unary_label_[unary + 1] - first_unary_label_[unary]};
  }

 private:
  // Rows of a table by left and right children, most of which would be empty, laid over each other: what an
  // entry is of is beside it.
  struct Pair {
    std::uint32_t left, first;
  };
  void index_pairs();

  Grammar grammar_;
  std::vector<std::uint32_t> first_pair_, first_unary_, first_unary_label_;
  std::vector<Pair> pairs_;
  std::vector<Above> above_;
  std::vector<std::uint32_t> unaries_, unary_labels_;
};

// The derivations of one sentence by a grammar, packed into a forest of what can occur in them. chi(y) counts
//   rules:  how often y uses a rule, wherever it does,
//   spans:  how often label l stands over words begin, ..., end - 1 (twice where a unary rule repeats it),
//   splits: how often a binary rule whose parent has label l puts the border of its two children before word
//   m,
//   tags:   whether word t has tag a, for words with a choice,
// in this order; each only where a derivation left by the mask can have it.
class Cfg {
 public:
  using Output = Derivation;
  struct Scored {
    Derivation output;
    double score;
  };
  // A place in the sentence, and the statistics of its labels (or tags): labels[k] is statistic `first + k`.
  struct Place {
    std::uint32_t begin, end;  // of a span; a split or a word: both are its position
    std::uint32_t first;
    std::span<const std::uint16_t> labels;
  };

  // Keeps a reference to the index. Kinds of spans may be shared with other sentences, which saves memory,
  // and become more. Throws Error if the sentence has more than 65,535 words or rules, or a span as many
  // symbols.
  Cfg(const GrammarIndex& index, const TagSets& tags, const SpanMask* mask = nullptr,
      std::shared_ptr<SpanKinds> kinds = nullptr);

  // Whether there is any derivation; nothing else may be asked if there is none.
  bool possible() const { return !cells_.empty(); }
  std::size_t num_words() const { return num_words_; }
  std::size_t num_statistics() const { return num_statistics_; }
  const GrammarIndex& index() const { return *index_; }
  // Rules that can occur, in ascending order: statistic k < rules().size() counts rule rules()[k], where
  // unary rule r is binaries.size() + r.
  std::span<const std::uint32_t> rules() const { return rules_; }
  // Those of spans are statistics rules().size(), ..., end_of_spans() - 1.
  std::size_t end_of_spans() const { return places_.front().first; }
  // use(place) for each span with labels, in the order of their statistics.
  template <class Use>
  void for_each_span(const Use& use) const {
    auto first = static_cast<std::uint32_t>(rules_.size());
    for (const Cell& cell : cells_) {
      const auto labels = (*kinds_)[cell.kind].labels;
      if (!labels.empty()) use(Place{cell.begin, cell.end, first, labels});
      first += static_cast<std::uint32_t>(labels.size());
    }
  }
  std::size_t num_cells() const { return cells_.size(); }  // spans with labels, and others
  std::size_t num_splits() const { return num_splits_; }
  Place split(std::size_t k) const { return place(k); }
  std::size_t num_tagged() const { return places_.size() - 1 - num_splits_; }
  Place tagged(std::size_t k) const { return place(num_splits_ + k); }
  // How large the forest is: what inference takes time for.
  std::size_t num_edges() const { return num_edges_; }
  // How many rules, and how many labels, a derivation has at most.
  struct Counts {
    std::size_t rules = 0, labels = 0;
  };
  Counts most_counts(Workspace& ws) const;
  // Whether y is one of these derivations.
  bool contains(const Derivation& y) const;

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  // The same in logarithms throughout: slow, for scores of any range, and what the fast way is tested
  // against.
  double log_partition_reference(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  Derivation decode(std::span<const float> s, Workspace& ws) const;
  Derivation decode(std::span<const double> s, Workspace& ws) const;
  // Require a derivation that is one of these.
  void indicator(const Derivation& y, std::span<float> mu) const;
  void indicator(const Derivation& y, std::span<double> mu) const;
  // use(k) for each statistic that y counts, as often as it counts it.
  void for_each_statistic(const Derivation& y, const std::function<void(std::size_t)>& use) const;

  // m words take m - 1 binary rules, however they are derived: a shift of all their scores changes no
  // distribution. (One word has one tag; where there is no choice of it, nothing can be shifted.)
  void centre(std::span<const float> mu, std::span<float> d) const;

  // The k best derivations, best first; all that are possible, if there are not k.
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;
  // Derivations drawn independently of each other from u(y) ~ exp s.chi(y).
  std::vector<Derivation> samples(std::span<const double> s, std::size_t n, Random& random) const;
  // H(u), and 0 log 0 = 0.
  double entropy(std::span<const double> s, Workspace& ws) const;
  Hypergraph hypergraph(Workspace::Frame& frame) const;

 private:
  friend class CfgBuilder;
  friend class CfgRanking;
  friend class CfgSampler;
  // A span with what stands over it. In the order in which inference can visit them: by their ends, then the
  // shorter ones first.
  struct Cell {
    std::uint16_t begin, end;
    std::uint32_t kind;
  };
  struct PlaceOf {
    std::uint32_t position, first;
    std::uint32_t first_label;
  };
  // The forest as inference walks over it: nodes are symbols over spans, first the bottom ones of a span,
  // from which its top ones follow. What of a node has `first_...` ends where its successor's begins, and
  // there is one more node for the last one's end.
  struct Node {
    std::uint32_t begin, end;
    std::uint32_t first_bottom, first_top, first_block;
    std::uint32_t first_label, first_tag;  // statistics; a word without a choice of tags: num_statistics_
    bool is_word() const { return end - begin == 1; }
  };
  // The edges between three spans.
  struct Block {
    std::uint32_t split, left, right;  // left and right: nodes
    std::uint32_t first_edge, last_edge;
  };
  // Cells whose edges one thread finds, up to where the next part begins.
  struct Part {
    std::uint32_t cell, block, edge;
  };
  // A rule, and the nodes that it is between, each counted from the first one of its span.
  struct Edge {
    std::uint16_t rule;  // its statistic
    std::uint16_t bottom, left, right;
  };
  // Edges follow from what stands over spans: they are found again, in memory of the caller, at every call.
  struct Forest {
    std::span<Node> nodes;
    std::span<SpanKind> kinds;  // of each
    std::span<Block> blocks;
    std::span<Edge> edges;
    std::span<std::uint32_t> rule_statistics;   // of each rule of the grammar, where it occurs
    std::span<std::uint32_t> split_statistics;  // at split_place(); num_statistics_ where there are none
    std::size_t num_nodes() const { return nodes.size() - 1; }
    std::size_t num_bottoms() const { return nodes.back().first_bottom; }
    std::size_t num_tops() const { return nodes.back().first_top; }
    std::span<const Block> blocks_of(std::size_t node) const {
      return blocks.subspan(nodes[node].first_block, nodes[node + 1].first_block - nodes[node].first_block);
    }
    std::span<const Edge> edges_of(const Block& block) const {
      return edges.subspan(block.first_edge, block.last_edge - block.first_edge);
    }
    std::size_t num_edges_of(std::size_t node) const {
      const auto all = blocks_of(node);
      return all.empty() ? 0 : all.back().last_edge - all.front().first_edge;
    }
    const Block& block_of(std::size_t node, std::uint32_t edge) const;
  };
  // Spans by how many words they have, among which none is a part of another.
  struct Levels {
    std::span<std::uint32_t> order;
    std::span<std::size_t> ends;   // in the order, of each length
    std::span<std::size_t> edges;  // of all before a place in the order
  };
  // Best derivations: the edge that each node takes.
  struct Best {
    std::span<double> bottoms, tops;
    std::span<std::uint32_t> edges;    // of bottom nodes
    std::span<std::uint32_t> unaries;  // of top nodes: one of the span's kind, or kNone for the bottom node
  };
  // Inside sums in logarithms; `sums` are those of bottom nodes over edges alone.
  struct Inside {
    std::span<double> bottom, top, sums;
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  Place place(std::size_t k) const {
    const PlaceOf& of = places_[k];
    return {of.position,
            of.position,
            of.first,
            {labels_.data() + of.first_label, places_[k + 1].first - of.first}};
  }
  Forest forest(Workspace::Frame& frame) const;
  // Statistics, or num_statistics_ where there is none: of a bottom node's label, or a word's tag; and of the
  // split of a rule that leads to it.
  std::uint32_t bottom_statistic(const Node& node, const SpanKind& kind, std::size_t b) const {
    if (node.is_word())
      return node.first_tag == num_statistics_ ? num_statistics_
                                               : node.first_tag + static_cast<std::uint32_t>(b);
    const std::uint16_t slot = kind.bottoms[b].slot;
    return slot == SpanKind::kNone ? num_statistics_ : node.first_label + slot;
  }
  std::size_t split_place(std::size_t split, const SpanKind::Bottom& bottom) const {
    const std::size_t labels = index_->grammar().num_labels;
    return split * (labels + 1) + (bottom.label == SpanKind::kNone ? labels : bottom.label);
  }
  // use(statistic) for the rule and the labels of a unary rule.
  template <class Use>
  void for_each_of_unary(const Forest& forest, const Node& node, const SpanKind& kind, std::size_t u,
                         const Use& use) const {
    use(forest.rule_statistics[index_->grammar().binaries.size() + kind.unaries[u].rule]);
    for (const std::uint16_t slot : kind.slots_of(u)) use(node.first_label + slot);
  }
  template <class Use>
  bool walk(const Derivation& y, const Use& use) const;

  Levels take_levels(const Forest& forest, Workspace::Frame& frame) const;
  template <class Use>
  static void in_parts_of_level(const Levels& levels, std::size_t length, std::size_t most_parts,
                                Workspace& ws, const Use& use);
  template <class Real>
  bool scaled_marginals(const Forest& forest, std::span<const Real> s, std::span<Real> mu, double& log_z,
                        Workspace& ws) const;
  static Inside take_inside(const Forest& forest, Workspace::Frame& frame);
  // The terms that in(T) and in(B) are sums of: of a unary rule over a span, and of an edge, without what
  // counts at the bottom node itself.
  template <class Real>
  double unary_term(const Forest& forest, std::span<const Real> s, const Inside& in, std::size_t c,
                    std::size_t u) const;
  template <class Real>
  double edge_term(const Forest& forest, std::span<const Real> s, const Inside& in, const Block& block,
                   const SpanKind& kind, const Edge& edge) const;
  template <class Real>
  void log_inside(const Forest& forest, std::span<const Real> s, const Inside& in, Workspace& ws) const;
  template <class Real>
  double log_marginals(const Forest& forest, std::span<const Real> s, std::span<Real> mu,
                       Workspace& ws) const;
  template <class Real>
  double log_partition_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  double best_of(const Forest& forest, std::span<const Real> s, const Best& best) const;
  template <class Real>
  double argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  Derivation decode_of(std::span<const Real> s, Workspace& ws) const;
  static Best take_best(const Forest& forest, Workspace::Frame& frame);
  void append_nodes(const Forest& forest, const Best& best, std::size_t top, std::size_t node,
                    Derivation& to) const;

  const GrammarIndex* index_;
  std::shared_ptr<const SpanKinds> kinds_;
  std::uint32_t num_words_ = 0, num_statistics_ = 0, num_splits_ = 0, num_edges_ = 0, num_blocks_ = 0;
  std::vector<std::uint32_t> rules_;
  std::vector<Cell> cells_;            // those that derivations have; the last one is the sentence
  std::vector<Part> parts_;            // of those
  std::vector<PlaceOf> places_;        // splits, then words with a choice of tags, and one more
  std::vector<std::uint16_t> labels_;  // of these
};

static_assert(Structure<Cfg>);

}  // namespace espalier
