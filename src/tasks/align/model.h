#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/features/weights.h"
#include "espalier/tasks/align.h"
#include "espalier/tasks/task.h"
#include "structures/matching.h"
#include "tasks/align/pair_attributes.h"
#include "tasks/align/pair_reader.h"
#include "tasks/align/word_pairs.h"

namespace espalier {

// All that a model has besides its weights.
struct AlignModel {
  std::size_t links = 1;  // of a word, at most
  Dictionary attributes;
  WordPairs counts;  // of the words of the training data
  WordPairs scores;  // of a dictionary; may be empty

  Matching structure(const SentencePair& pair) const {
    return {pair.source.size(), pair.target.size(), links};
  }
  PairAttributes pair_attributes() const { return {attributes, counts, scores}; }
  // A weight for each attribute, and zeros behind them.
  WeightShape weight_shape() const;
  std::string describe() const;

  TaskSections sections() const;
  // Throws Error for sections that do not fit together.
  static AlignModel load(const StoredTask& stored);
};

// s = theta F: a score for each of the rows, one for each pair of words.
void score_pairs_of_words(const SparseRows& rows, std::size_t begin, WeightsView theta, std::span<double> s);

// The links of a matching as Pharaoh writes them: "0-0 1-2".
void append_links(const Matching::Output& places, std::size_t targets, std::string& to);

// The links of a sentence pair that make a matching: as many sure ones as possible, of those the ones whose
// words look most like translations (PairAttributes::strengths()) and are near the diagonal.
Matching::Output gold_matching(const SentencePair& pair, const Matching& matching,
                               std::span<const double> strengths, Workspace& ws);

// Weights have one label.
inline constexpr std::string_view kLinkLabel = "link";
std::optional<std::size_t> find_align_weight(const AlignModel& model, const WeightName& name);

// Counts of links: Och and Ney (2003). A are the predicted ones, S sure and P possible ones, sure ones among
// them.
class AlignmentScores {
 public:
  // Requires the links of a pair, and the places of those that were predicted.
  void add(const SentencePair& gold, std::span<const std::uint32_t> predicted);
  void add(const AlignmentScores& others);
  std::size_t size() const { return pairs_; }
  Evaluation evaluation() const;

 private:
  std::size_t pairs_ = 0, right_ = 0, predicted_ = 0, sure_ = 0, possible_ = 0;
  std::size_t predicted_sure_ = 0, predicted_possible_ = 0;
};

}  // namespace espalier
