#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"
#include "tasks/align/pair_reader.h"
#include "tasks/align/word_pairs.h"

namespace espalier {

// What pairs of words look like: docs/alignment.md lists the attributes. Those that every model has come
// first in its dictionary, in one order; those with words in their names follow.
class PairAttributes {
 public:
  // Adds the attributes that every model has to an empty dictionary.
  static void add_fixed(Dictionary& attributes);
  // Whether a dictionary begins with them.
  static bool has_fixed(const Dictionary& attributes);

  // Looks attributes up; those that the dictionary does not have are left out. `scores` may be empty.
  PairAttributes(const Dictionary& known, const WordPairs& counts, const WordPairs& scores)
      : known_(known), counts_(counts), scores_(scores) {}
  // Adds them instead. Pairs of words, and words, have attributes of their own where they are in so many
  // sentence pairs.
  PairAttributes(Dictionary& growing, const WordPairs& counts, const WordPairs& scores,
                 std::size_t pair_count)
      : known_(growing), growing_(&growing), counts_(counts), scores_(scores), pair_count_(pair_count) {}

  // Appends a row for every pair of words. `held_out`: the counts include this very sentence pair, and are
  // made what they would be without it.
  void append(const SentencePair& pair, bool held_out, SparseRows& rows);
  // How much each pair of words of the last sentence pair looks like a translation, in [0, 1]: the greatest
  // of its association scores and of the likeness of its letters.
  std::span<const double> strengths() const { return strength_; }

 private:
  struct Word {
    std::string lower, shape;
    std::uint32_t counted, scored;  // its numbers
    bool frequent;
    std::uint32_t own;  // its attribute; kNone: there is none
  };
  static constexpr std::uint32_t kNone = ~0u;

  std::uint32_t find(std::string_view kind, std::string_view a, std::string_view b);
  void look_at(const SentencePair& pair, bool held_out);
  void look_at(const std::vector<std::string>& words, bool source, std::vector<Word>& seen);
  double strength(std::size_t i, std::size_t j, bool before) const;
  void append_row(std::size_t i, std::size_t j, SparseRows& rows);

  const Dictionary& known_;
  Dictionary* growing_ = nullptr;
  const WordPairs& counts_;
  const WordPairs& scores_;
  std::size_t pair_count_ = 0;
  std::vector<Word> source_, target_;
  std::vector<double> dice_, score_, likeness_, strength_;  // of each pair
  std::vector<double> best_of_source_, best_of_target_;     // the greatest strength of each word
  std::string name_;                                        // scratch
  std::vector<std::size_t> lengths_;                        // scratch
};

// How far a pair of words is from the diagonal, in [0, 1).
double distance_from_diagonal(std::size_t i, std::size_t sources, std::size_t j, std::size_t targets);

}  // namespace espalier
