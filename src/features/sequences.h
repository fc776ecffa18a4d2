#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "espalier/features/sparse_rows.h"

namespace espalier {

// Sequences of tokens, seen through their attributes. Token t of the whole table has the attributes of row t;
// the step from token t - 1 to token t has those of a row of `transitions`, which holds each distinct set of
// attributes once: steps with equal sets have equal scores, and a chain keeps one table of statistics for
// them.
struct Sequences {
  std::vector<std::size_t> offsets{0};  // sequence i has the tokens offsets[i] .. offsets[i + 1] - 1
  SparseRows tokens;
  SparseRows transitions;
  std::vector<std::uint32_t> transition_of;  // row of the step into token t; empty where every step has row 0

  std::size_t size() const { return offsets.size() - 1; }
  std::size_t num_tokens() const { return offsets.back(); }
  std::size_t length(std::size_t i) const { return offsets[i + 1] - offsets[i]; }
  // Forgets all sequences but keeps their memory.
  void clear() {
    offsets.resize(1);
    tokens.clear();
    transitions.clear();
    transition_of.clear();
  }
};

}  // namespace espalier
