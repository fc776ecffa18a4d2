#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "espalier/base/input_files.h"
#include "espalier/tasks/task.h"

namespace espalier {

// Word alignment: which words of two sentences that mean the same translate each other.
struct AlignOptions {
  std::size_t links = 1;             // of a word, at most
  std::optional<std::size_t> first;  // only the first N training pairs
  std::size_t longest = 100;         // training pairs with a longer sentence are left out
  std::size_t pair_count = 2;  // words that are together in fewer sentence pairs have no weight of their own
  double missing_cost = 1;     // of a link of the training data that is not found; a wrong one costs 1
  std::string dictionary;      // a file of association scores; empty: none
  bool maxima = false;         // trained with an infinite beta
};

struct AlignPredictOptions {
  std::string format = "pairs";  // of what is written; or links alone
  bool marginals = false;        // the probability of every likely link
  std::size_t kbest = 0;         // the k best alignments with their scores; 0: just the best
  bool json = false;             // JSON Lines, an object for each pair
  std::size_t threads = 0;       // 0: one for each processor; the output does not depend on it
};

inline constexpr int kAlignVersion = 1;

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_align_training(const InputFiles& files, const AlignOptions& options);
std::unique_ptr<Predictor> load_align_predictor(const StoredTask& stored);

}  // namespace espalier
