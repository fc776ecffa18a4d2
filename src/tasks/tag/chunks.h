#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/task.h"

namespace espalier {

// Accuracy, and precision, recall and F1 over chunks, exactly as conlleval (2004-01-26) counts them. A tag is
// a prefix and, after the first hyphen, a type: B-NP. The prefixes B, I, E, [, ], O and . say where chunks
// begin and end (IOB1, IOB2, IOE, brackets, ...); any other, S among them, begins and ends a chunk only where
// the type changes. Hence one oddity of conlleval's that BIOES users meet: neighbouring chunks of one type,
// S-NP S-NP or E-NP B-NP, are one.
//
// Different from conlleval are only: the type "0" is a type like any other (there, perl takes it for an empty
// one), and a chunk that no O ends, as that of NN in "B-NP NN O", ends with its sequence (there, it may be
// found correct in a later one, or be lost).
class ChunkScores {
 public:
  ChunkScores();

  // One sequence: its gold and its predicted tags. Requires as many of the one as of the other.
  void add(std::span<const std::string_view> gold, std::span<const std::string_view> predicted);

  // Tags that are no chunk tags (parts of speech) have an accuracy alone.
  Evaluation evaluate() const;

 private:
  enum class Prefix : std::uint8_t { begin, inside, end, bracket, outside, dot, other };
  struct Tag {
    Prefix prefix;
    std::uint32_t type;
  };
  struct Counts {
    std::size_t gold = 0, predicted = 0, correct = 0;
  };

  static bool ends_between(Tag before, Tag now);
  static bool starts_between(Tag before, Tag now);
  std::uint32_t id_of(std::string_view tag);
  bool are_chunk_tags() const;
  void report_chunks(Evaluation& result) const;
  void report_confusions(Evaluation& result) const;

  Dictionary names_, types_;
  std::vector<Tag> tags_;       // by id in names_
  std::vector<Counts> counts_;  // by id in types_
  std::size_t tokens_ = 0, correct_tokens_ = 0, sequences_ = 0, correct_sequences_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> confusions_;  // by the ids of gold (above) and predicted
};

}  // namespace espalier
