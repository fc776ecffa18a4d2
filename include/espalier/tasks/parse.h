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

// Dependency parsing: a head for each word, and the relation to it.
struct ParseOptions {
  std::string structure = "projective";  // or nonprojective
  std::size_t order = 1;     // 2: pairs of arcs, siblings and grandparents, have features of their own
  bool unlabelled = false;   // heads without relations
  bool single_root = false;  // only one word of a sentence may hang on the root
  std::optional<std::size_t> first;  // only the first N training sentences
  std::string
      group_by;  // which sentences belong together: boundary ('# newdoc' is between them); empty: nobody asks
  // Projective training on trees that are not: drop, lift (arcs are moved up until none cross) or refuse.
  std::string crossing = "lift";
  std::size_t hash_bits = 22;  // 2^N weights of arcs
  // Labelled, or of order 2: only heads that a first-order model without labels finds possible: with at least this part of
  // the probability of the best head, and at most so many of a word.
  double prune_below = 1e-3;
  std::size_t most_heads = 10;
  // Learning which heads those are takes a while: who is told, how many threads do it, and what ends it early.
  std::function<void(std::string_view)> notice;
  std::size_t threads = 1;
  const std::atomic<bool>* stop = nullptr;
};

struct ParsePredictOptions {
  std::string format = "conll";  // of what is written; or tree: drawn for people
  bool marginals = false;        // the probability of every likely head
  std::size_t kbest = 0;         // the k best trees with their scores; 0: just the best
  std::size_t threads = 1;       // at least 1; the output does not depend on it
};

inline constexpr int kParseVersion = 1;

// Both throw Error for what they cannot read; the first one throws Stopped where `stop` was set.
std::unique_ptr<TrainingSet> read_parse_training(const std::string& path, const ParseOptions& options);
std::unique_ptr<Predictor> load_parse_predictor(const StoredTask& stored);

}  // namespace espalier
