#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/treebank.h"
#include "structures/grammar.h"

namespace espalier {

// How trees become derivations with rules of at most two children, and what symbols remember.
struct BinariseOptions {
  enum class Side { right, head };
  Side side = Side::
      head;  // children from the first to the last, or outwards from the head: right ones, then left ones
  std::size_t horizontal = 1;  // so many children before: the Markov order of what stands beside each other
  std::size_t vertical = 1;    // so many labels up the tree, the phrase's own among them
  bool shorten = false;        // of a chain of unary rules A -> B -> ... -> C only A -> C is kept
};

// The grammar of a set of trees, and the way from its derivations back to trees.
//
// A symbol is a tag, the start symbol (empty name, above each tree's root) or what the options make of a
// phrase; its name says what it remembers, with spaces between: "NP ^VP ^S" is an NP in a VP in an S. Symbols
// for a part of a phrase's children have a "|" after that: "NP |DT JJ" are the children of an NP that follow
// DT and JJ; "NP >NN |> PP" is the head NN with right neighbours, PP the last, and "NP >NN |< JJ" the same
// with left neighbours.
class TreeGrammar {
 public:
  // Reads the grammar off trees, and gives the derivation of each.
  TreeGrammar(std::span<const BracketTree> trees, const BinariseOptions& options,
              std::vector<Derivation>& derivations);
  // As a model file has it. Throws Error naming `file` where the rules do not fit the symbols.
  TreeGrammar(Dictionary tags, Dictionary symbols, std::span<const std::uint32_t> binaries,
              std::span<const std::uint32_t> unaries, std::span<const std::uint32_t> between,
              const std::string& file);

  const Grammar& grammar() const { return grammar_; }
  const Dictionary& tags() const { return tags_; }
  const Dictionary& labels() const {
    return labels_;
  }  // Grammar's labels; those of parts of a phrase begin with '@'
  const Dictionary& symbols() const { return symbols_; }  // after the tags: symbol num_tags + k has name k
  // "NP -> DT NN", of binary rules first.
  std::string rule_name(std::size_t rule) const;

  // The tree of a derivation over these words; tags are those of the words, where they have one.
  BracketTree tree(const Derivation& derivation, std::span<const TaggedWord> words) const;
  // For sentences that the grammar has no derivation of: all words, which have tags, side by side, in the
  // phrase that the first tree begins with.
  BracketTree flat_tree(std::span<const TaggedWord> words) const;
  // For sentences that are parsed in pieces: their trees in such a phrase. What is above it (TOP) is there
  // once.
  BracketTree joined(std::vector<BracketTree> trees) const;

  // Rules as numbers: parent, left, right; parent, child, where in `between` what is between them ends.
  std::vector<std::uint32_t> flat_binaries() const;
  std::vector<std::uint32_t> flat_unaries() const;
  std::vector<std::uint32_t> flat_between() const;

 private:
  class Builder;

  void add_labels();
  std::uint32_t always_outermost() const;  // a symbol without a label; kNoLabel: there is none
  // The rule above the phrase that the first tree begins with; nullptr: there is none.
  const Grammar::Unary* root_rule() const;
  BracketTree in_root(std::vector<BracketTree> trees) const;
  std::string symbol_name(std::uint32_t symbol) const;
  std::string_view category(std::uint32_t symbol) const;
  bool is_part(std::uint32_t symbol) const;
  void append_trees(const Derivation& derivation, std::size_t& at, std::span<const TaggedWord> words,
                    std::vector<BracketTree>& trees) const;

  Grammar grammar_;
  Dictionary tags_, symbols_, labels_;
};

}  // namespace espalier
