#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "espalier/tasks/task.h"

namespace espalier {

// Phrase structure: the tree of a sentence, in brackets.
struct TreebankOptions {
  bool keep_traces = false;       // empty elements of the Penn treebank, -NONE-
  bool keep_functions = false;    // NP-SBJ is not just an NP
  std::string binarise = "head";  // or right
  std::size_t horizontal = 0, vertical = 1;
  std::string unaries = "keep";    // chains of unary rules: keep them whole, or shorten them to two
  std::string tags = "gold";       // those of the input, or predicted with the tree
  std::string features = "spans";  // and rules; or rules alone
  std::size_t hash_bits = 18;      // 2^N rows of features of spans
  // Labels over spans that a coarse grammar finds less probable are left out.
  double prune_below = 1e-4;
  std::optional<std::size_t> first;  // only the first N training sentences
  // Finding what is left out takes a while: who is told, how many threads do it, and what ends it early.
  std::function<void(std::string_view)> notice;
  std::size_t threads = 1;
  const std::atomic<bool>* stop = nullptr;
};

struct TreebankPredictOptions {
  std::string format = "brackets";  // of what is read; or tagged (WORD_TAG), or words
  std::size_t kbest = 0;            // the k best trees with their scores; 0: just the best
  std::size_t threads = 1;          // at least 1; the output does not depend on it
};

inline constexpr int kTreebankVersion = 1;

// Both throw Error for what they cannot read; the first one throws Stopped where `stop` was set.
std::unique_ptr<TrainingSet> read_treebank_training(const std::string& path, const TreebankOptions& options);
std::unique_ptr<Predictor> load_treebank_predictor(const StoredTask& stored);

}  // namespace espalier
