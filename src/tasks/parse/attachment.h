#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "espalier/tasks/task.h"
#include "tasks/parse/dependency_reader.h"

namespace espalier {

// How many words are attached to the right head (UAS), and with the right relation (LAS).
//
// "nopunct" is without punctuation, as eval.pl of CoNLL-X has it: words all of whose characters have the
// Unicode category P. So "$" and "+", which are symbols, are words like any other, whatever their tag.
//
// CoNLL-U has two more, as the scorer of the CoNLL 2018 shared task counts them where words are given:
// las_universal compares relations up to a ':', and clas is the F1 of content words, those with other
// relations than aux, case, cc, clf, cop, det, mark and punct: correct ones against the mean of how many the
// gold trees and the predicted ones have.
class AttachmentScores {
 public:
  // Requires the gold sentence to have heads, as many heads as it has words, and as many relations or,
  // without labels, none.
  void add(const DependencySentence& gold, std::span<const std::uint32_t> heads,
           std::span<const std::string_view> relations);

  // A sentence that is too long counts like all others, by the tree that its pieces make.
  void add_in_pieces(std::size_t sentences = 1) { in_pieces_ += sentences; }

  // Where trees are the best ones if that is proven: of how many sentences it was.
  void add_proofs(std::size_t proven, std::size_t sentences) {
    proven_ += proven;
    may_be_proven_ += sentences;
  }

  // Without what needs relations, if there were none.
  Evaluation evaluation() const;

 private:
  struct Counts {
    std::size_t all = 0, heads = 0, labelled = 0;  // labelled: head and relation are right
  };
  static constexpr std::size_t kDistances = 5;  // root, 1, 2, 3-6, 7-

  static std::size_t distance_of(std::size_t head, std::size_t modifier);
  void report_counts(Evaluation& result) const;
  void write_tables(Evaluation& result) const;

  bool labelled_ = true, universal_ = false;
  Counts words_, without_punctuation_, trees_;
  std::array<Counts, kDistances> distances_{};
  std::size_t in_pieces_ = 0, proven_ = 0, may_be_proven_ = 0;
  std::size_t universal_correct_ = 0;  // head, and relation up to its subtype
  std::size_t content_gold_ = 0, content_predicted_ = 0, content_correct_ = 0;
};

}  // namespace espalier
