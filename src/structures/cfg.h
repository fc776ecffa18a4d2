#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"
#include "structures/grammar.h"

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
  struct Pair {
    std::uint32_t right, rule;
  };
  explicit GrammarIndex(Grammar grammar);

  const Grammar& grammar() const { return grammar_; }
  std::size_t num_rules() const { return grammar_.binaries.size() + grammar_.unaries.size(); }
  // Binary rules with this left child, by right children.
  std::span<const Pair> with_left(std::uint32_t symbol) const {
    return {pairs_.data() + first_pair_[symbol], first_pair_[symbol + 1] - first_pair_[symbol]};
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
  Grammar grammar_;
  std::vector<std::uint32_t> first_pair_, first_unary_, first_unary_label_;
  std::vector<Pair> pairs_;
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
    std::span<const std::uint32_t> labels;
  };

  // Keeps a reference to the index. Throws Error if a sentence has more than 65,536 rules, or a span as many
  // symbols.
  Cfg(const GrammarIndex& index, const TagSets& tags, const SpanMask* mask = nullptr);

  // Whether there is any derivation; nothing else may be asked if there is none.
  bool possible() const { return !tops_.empty(); }
  std::size_t num_words() const { return num_words_; }
  std::size_t num_statistics() const { return num_statistics_; }
  const GrammarIndex& index() const { return *index_; }
  // Rules that can occur, in ascending order: statistic k < rules().size() counts rule rules()[k], where
  // unary rule r is binaries.size() + r.
  std::span<const std::uint32_t> rules() const { return rules_; }
  std::size_t num_spans() const { return num_spans_; }
  Place span(std::size_t k) const { return place(k); }
  std::size_t num_splits() const { return num_splits_; }
  Place split(std::size_t k) const { return place(num_spans_ + k); }
  std::size_t num_tagged() const { return places_.size() - 1 - num_spans_ - num_splits_; }
  Place tagged(std::size_t k) const { return place(num_spans_ + num_splits_ + k); }
  // How large the forest is: what inference takes time for.
  std::size_t num_edges() const { return edges_.size() + unary_edges_.size() - 1; }
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

 private:
  friend class CfgBuilder;
  friend class CfgRanking;
  // The forest: nodes are symbols over spans, first the bottom ones of a span, from which its top ones
  // follow. Whatever has `first_...` ends where its successor begins, and there is one more of each for the
  // last one's end. Spans are in the order in which inference can visit them: by their ends, then the shorter
  // ones first.
  struct Cell {
    std::uint32_t begin, end;
    std::uint32_t first_bottom, first_top, first_factor;
  };
  struct Bottom {
    std::uint32_t symbol;
    std::uint32_t
        statistic;  // of its label over this span, or of a word's tag; num_statistics_ if there is none
    std::uint32_t first_edge;
  };
  struct Top {
    std::uint32_t symbol;
    std::uint32_t same;  // the bottom node that it may be, or kNone
    std::uint32_t first_unary;
  };
  // Most of the forest: eight bytes each.
  struct Edge {
    std::uint16_t rule;         // its statistic
    std::uint16_t factor;       // counted from the first one of the cell
    std::uint16_t left, right;  // top nodes, counted from the first ones of their cells
  };
  struct UnaryEdge {
    std::uint32_t unary, bottom;
    std::uint32_t first_statistic;  // in unary_statistics_: of the rule, and of labels over this span
  };
  // What all edges between three cells have in common, for one label of the parent.
  struct Factor {
    std::uint32_t statistic;
    std::uint32_t left_cell, right_cell;
  };
  struct PlaceOf {
    std::uint32_t begin, end, first;
  };
  // Best derivations: the edge that each node takes.
  struct Best {
    std::span<double> bottoms, tops;
    std::span<std::uint32_t> edges,
        unaries;  // an index into edges_; one into unary_edges_, or kNone for the bottom node itself
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  Place place(std::size_t k) const {
    const PlaceOf& of = places_[k];
    const std::uint32_t base = static_cast<std::uint32_t>(rules_.size());
    return {
        of.begin, of.end, of.first, {labels_.data() + (of.first - base), places_[k + 1].first - of.first}};
  }
  // The nodes below an edge of this cell.
  std::size_t left_of(const Cell& cell, const Edge& edge) const {
    return cells_[factors_[cell.first_factor + edge.factor].left_cell].first_top + edge.left;
  }
  std::size_t right_of(const Cell& cell, const Edge& edge) const {
    return cells_[factors_[cell.first_factor + edge.factor].right_cell].first_top + edge.right;
  }
  std::size_t num_cells() const { return cells_.size() - 1; }
  std::size_t num_bottoms() const { return bottoms_.size() - 1; }
  std::size_t num_tops() const { return tops_.size() - 1; }
  template <class Use>
  bool walk(const Derivation& y, const Use& use) const;

  template <class Real>
  bool scaled_marginals(std::span<const Real> s, std::span<Real> mu, double& log_z, Workspace& ws) const;
  template <class Real>
  double log_marginals(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  double log_partition_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  double best_of(std::span<const Real> s, const Best& best) const;
  template <class Real>
  double argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  Derivation decode_of(std::span<const Real> s, Workspace& ws) const;
  Best take_best(Workspace::Frame& frame) const;
  Derivation derivation_of(const Best& best) const;
  void append_nodes(const Best& best, std::size_t top, std::size_t cell, Derivation& to) const;

  const GrammarIndex* index_;
  std::size_t num_words_ = 0, num_statistics_ = 0, num_spans_ = 0, num_splits_ = 0;
  std::vector<std::uint32_t> rules_;
  std::vector<PlaceOf> places_;        // spans, splits, words
  std::vector<std::uint32_t> labels_;  // of statistics rules_.size(), ...
  std::vector<Cell> cells_;
  std::vector<Bottom> bottoms_;
  std::vector<Top> tops_;  // the last one is that of the sentence
  std::vector<Edge> edges_;
  std::vector<Factor> factors_;
  std::vector<UnaryEdge> unary_edges_;
  std::vector<std::uint32_t> unary_statistics_;
};

static_assert(Structure<Cfg>);

}  // namespace espalier
