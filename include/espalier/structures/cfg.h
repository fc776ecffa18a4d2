#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/aligned.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/grammar.h"
#include "espalier/structures/structure.h"

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
//   splits: how often a binary rule whose parent has label l puts the border of its two children before word m,
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

  // Keeps a reference to the index.
  Cfg(const GrammarIndex& index, const TagSets& tags, const SpanMask* mask = nullptr);

  // Whether there is any derivation; nothing else may be asked if there is none.
  bool possible() const;
  std::size_t num_words() const;
  std::size_t num_statistics() const;
  // Rules that can occur: statistic k < rules().size() counts rule rules()[k], where unary rule r is binaries.size() + r.
  std::span<const std::uint32_t> rules() const;
  std::size_t num_spans() const;
  Place span(std::size_t k) const;
  std::size_t num_splits() const;
  Place split(std::size_t k) const;
  std::size_t num_tagged() const;
  Place tagged(std::size_t k) const;
  // Whether y is one of these derivations.
  bool contains(const Derivation& y) const;

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  Derivation decode(std::span<const float> s, Workspace& ws) const;
  Derivation decode(std::span<const double> s, Workspace& ws) const;
  void indicator(const Derivation& y, std::span<float> mu) const;
  void indicator(const Derivation& y, std::span<double> mu) const;
  void centre(std::span<const float> mu, std::span<float> d) const;
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;
};

static_assert(Structure<Cfg>);

}  // namespace espalier
