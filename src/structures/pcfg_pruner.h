#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "structures/cfg.h"
#include "structures/grammar.h"

namespace espalier {

// Says which symbols are likely over which spans, by a coarse probabilistic grammar: symbols with one label
// are one there, and the probabilities of its rules are relative frequencies in derivations.
class PcfgPruner {
 public:
  // One coarse rule with its probability given the parent.
  struct Binary {
    std::uint32_t parent, left, right;
    double probability;
  };
  struct Unary {
    std::uint32_t parent, child;
    double probability;
  };

  PcfgPruner(const Grammar& grammar, std::span<const Derivation> derivations);
  // From what another one had.
  PcfgPruner(const Grammar& grammar, std::span<const Binary> binaries, std::span<const Unary> unaries);

  // Allows the symbols that stand over a span with at least this probability, given the tags. Where the
  // coarse grammar has no derivation, nothing is allowed: then the fine one has none either.
  SpanMask mask(const TagSets& tags, double threshold, Workspace& ws) const;

  std::span<const Binary> binaries() const { return binaries_; }  // by parents
  std::span<const Unary> unaries() const { return unaries_; }

 private:
  // Symbols are tags, which stand over words alone, and phrases, which have numbers of their own. Rules by
  // what they have below them.
  struct Rule {
    std::uint32_t parent, left, right;
    double probability;
  };
  struct UnaryRule {
    std::uint32_t parent, child;
    double probability;
  };
  template <class T>
  struct Lists {  // one after the other
    std::vector<std::uint32_t> first;
    std::vector<T> all;
    std::span<const T> operator[](std::size_t k) const {
      return {all.data() + first[k], all.data() + first[k + 1]};
    }
  };
  struct Chart;

  void index();
  void set_inside(const TagSets& tags, std::size_t begin, std::size_t end, const Chart& chart) const;
  void pass_on(const TagSets& tags, std::size_t begin, std::size_t end, std::uint32_t phrase, double share,
               double least, const Chart& chart) const;
  std::uint32_t num_phrases() const { return num_coarse_ - num_tags_; }
  void number_phrases();

  std::uint32_t num_symbols_, num_tags_, num_coarse_, start_;
  std::vector<std::uint32_t> coarse_;  // of each symbol
  std::vector<Binary> binaries_;
  std::vector<Unary> unaries_;           // by parents
  std::vector<double> same_;             // the probability that a top symbol is the bottom one
  std::vector<std::uint32_t> phrase_;    // the number of each phrase, by coarse symbols after the tags
  std::vector<double> same_phrase_;      // same_ by these numbers
  std::vector<std::size_t> num_rights_;  // of a left phrase: its right ones have smaller numbers
  std::vector<UnaryRule> unaries_over_phrases_;
  Lists<UnaryRule> unaries_over_tags_;  // by the tag
  Lists<Rule> by_left_phrase_;          // over two phrases
  Lists<Rule> after_tag_, before_tag_;  // over a tag and a phrase, by the tag
  Lists<Rule> of_tags_;                 // over two tags, by the left one
  // The same three of one parent.
  Lists<Rule> of_phrases_of_, after_tag_of_, before_tag_of_;
  std::vector<double> largest_probability_;  // of the rules over two phrases of one parent
};

// How much of what gold derivations need masks allow, and how much they allow of all there is.
struct PruningReport {
  std::size_t needed = 0, kept = 0;
  double recall() const { return needed > 0 ? static_cast<double>(kept) / static_cast<double>(needed) : 1; }
  // Notes a mask, before the gold derivation is allowed anyway.
  void note(const Grammar& grammar, const SpanMask& mask, const Derivation& gold);
};

}  // namespace espalier
