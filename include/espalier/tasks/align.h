#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/input_files.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/task.h"

namespace espalier {

// A link between word `source` of one sentence and word `target` of the other, counted from 0. Those that
// are not sure are possible: neither right nor wrong.
struct WordLink {
  std::uint32_t source, target;
  bool sure = true;

  friend bool operator==(const WordLink&, const WordLink&) = default;
};

// Two sentences and their links, which readers put in the order of their words.
struct SentencePair {
  std::vector<std::string> source, target;
  std::vector<WordLink> links{};
  std::size_t line = 0;  // of a file

  std::size_t num_pairs() const { return source.size() * target.size(); }
  // Its place among the pairs of words, those of the first source word first.
  std::size_t place(const WordLink& link) const { return link.source * target.size() + link.target; }
};

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

// Sentence pairs in memory, to train on: what a file has. Numbers of lines in messages are those of pairs,
// from 1.
class AlignData {
 public:
  // make_align_training() checks it, together with all others.
  void add(SentencePair pair) { pairs_.push_back(std::move(pair)); }

  std::size_t size() const { return pairs_.size(); }
  const SentencePair& pair(std::size_t i) const { return pairs_[i]; }

 private:
  std::vector<SentencePair> pairs_;
};

// What read_align_training() makes of a file; `dev` is held-out data. Neither needs to outlive the result.
// Throws Error for what does not fit: a sentence without words, a link of a word that is not there, ...
std::unique_ptr<TrainingSet> make_align_training(const AlignData& data, const AlignOptions& options = {},
                                                 const AlignData* dev = nullptr);

struct AlignModel;

// Aligns words: what `espalier predict` does, for programs that have sentence pairs in memory. Const and
// thread-safe; each thread has a Pair of its own.
class WordAligner {
 public:
  class Pair;

  // Of a model of this task: Model::predictor(), which has to outlive it. Throws Error for one of another
  // task.
  explicit WordAligner(const Predictor& predictor);
  // Keeps references to the model and to the weights.
  WordAligner(const AlignModel& model, WeightsView theta, const Loss& loss)
      : model_(model), theta_(theta), loss_(loss) {}

  // False for models of beta = infinity, which have scores alone.
  bool has_probabilities() const { return loss_.smooth(); }
  // What `espalier eval` says of a file. Throws Error without sentence pairs.
  Evaluation evaluate(const AlignData& gold) const;

 private:
  const AlignModel& model_;
  WeightsView theta_;
  Loss loss_;
};

// One sentence pair after another. All functions throw Error before the first set(); those that return
// probabilities do so where the model has none.
class WordAligner::Pair {
 public:
  struct Scored {
    std::vector<WordLink> links;
    double score;
  };

  // The aligner has to outlive it.
  explicit Pair(const WordAligner& aligner);
  ~Pair();
  Pair(Pair&&) noexcept;

  // The sentences to align; links are ignored. Throws Error where one has no words.
  void set(const SentencePair& pair);

  // The best links, in the order of their words.
  std::vector<WordLink> links();
  // The k best alignments with their scores, best first; and how probable one with such a score is, at least:
  // log-partitions are bounds.
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);
  // How probable a link is, by the marginals of that bound.
  double marginal(std::size_t source, std::size_t target);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
