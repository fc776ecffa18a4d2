#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace espalier {

inline constexpr std::uint32_t kNoLabel = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoRule = std::numeric_limits<std::uint32_t>::max();

// A context-free grammar in two layers. Over every span that a derivation uses there is a "bottom" symbol
// (over one word a tag, over more the parent of a binary rule over two neighbouring spans) and a "top"
// symbol: the bottom one itself, or the parent of one unary rule over it. Rules combine top symbols; the top
// symbol of the sentence is `start`.
//
// Symbols are what rules see, labels what features and costs of spans see: several symbols may have one
// label.
struct Grammar {
  struct Binary {
    std::uint32_t parent, left, right;
    friend bool operator==(const Binary&, const Binary&) = default;
  };
  // A chain of unary rules as one: parent over between[0] over ... over child. Two of them may differ in what
  // is between alone.
  struct Unary {
    std::uint32_t parent, child;
    std::vector<std::uint32_t> between;
    friend bool operator==(const Unary&, const Unary&) = default;
  };

  std::uint32_t num_symbols = 0;
  std::uint32_t num_tags =
      0;  // symbols 0, ..., num_tags - 1 are tags: they stand over one word and nothing else
  std::uint32_t start = 0;
  std::vector<Binary> binaries;
  std::vector<Unary> unaries;
  // Labels 0, ..., num_constituents - 1 are those of constituents, which the cost counts. Those from there
  // on, of symbols that stand for a part of one, are for features alone.
  std::uint32_t num_labels = 0, num_constituents = 0;
  std::vector<std::uint32_t> labels;  // of each symbol, or kNoLabel; of tags and the start symbol none
};

// How a sentence is derived: a node for each of its spans in pre-order (a node, what is left below it, what
// is right), so that m words have 2m - 1.
struct Derivation {
  struct Node {
    std::uint32_t begin, split, end;  // words begin, ..., end - 1; one word: split = begin
    std::uint32_t rule;               // an index into binaries; over one word its tag
    std::uint32_t unary;              // an index into unaries, or kNoRule
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::vector<Node> nodes;
  friend bool operator==(const Derivation&, const Derivation&) = default;
};

}  // namespace espalier
