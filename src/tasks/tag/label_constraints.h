#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "structures/chain.h"

namespace espalier {

// Which label sequences are possible, from what users say of it.

ChainConstraints all_allowed(std::size_t num_labels);

// What the names of labels mean. A tag is O, or a prefix and, after a hyphen, a type: B-NP. Plain B and I are
// of one type, too.
//   bio    I-X continues a chunk: it follows B-X or I-X
//   iob1   B-X separates two chunks: it follows B-X or I-X
//   bioes  a chunk is S-X, or B-X I-X ... E-X, and is complete
//   bilou  the same with U-X and L-X
// Throws Error for an unknown scheme, naming --valid, and for a label that is not a tag of it.
void forbid_by_scheme(std::string_view scheme, const Dictionary& labels, ChainConstraints& constraints);

// Forbids what a file lists: lines "BEFORE AFTER" (white space between, '#' starts a comment), where (start)
// and (stop) stand for the ends of a sequence, and * on one side for every label. Throws Error::at for labels
// that are not there and pairs that make no sense.
void forbid_listed(const std::string& path, const Dictionary& labels, ChainConstraints& constraints);
// The same of pairs that a program has in memory.
void forbid_pairs(std::span<const std::pair<std::string, std::string>> pairs, const Dictionary& labels,
                  ChainConstraints& constraints);

// A length, the least one, that no sequence may have; nullopt if every length is possible. Looks at lengths
// up to 10,000 where the labels that can be reached do not repeat before.
std::optional<std::size_t> impossible_length(const ChainConstraints& constraints);

// The first token that a sequence cannot continue with, where token t may have the labels labels_of(t);
// `length` if it is only that it must not end there; nullopt if the sequence is possible.
template <class LabelsOf>
std::optional<std::size_t> first_break(const ChainConstraints& constraints, std::size_t length,
                                       const LabelsOf& labels_of) {
  const std::size_t num_labels = constraints.first.size();
  std::vector<std::uint32_t> before, reached;
  for (std::size_t t = 0; t < length; ++t) {
    reached.clear();
    for (const std::uint32_t j : labels_of(t)) {
      bool allowed = t == 0 && constraints.first[j] != 0;
      for (const std::uint32_t i : before) allowed = allowed || constraints.step[i * num_labels + j] != 0;
      if (allowed) reached.push_back(j);
    }
    if (reached.empty()) return t;
    before.swap(reached);
  }
  for (const std::uint32_t i : before) {
    if (constraints.last[i] != 0) return std::nullopt;
  }
  return length;
}

}  // namespace espalier
