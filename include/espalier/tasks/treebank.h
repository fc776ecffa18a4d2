#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/input_files.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/task.h"

namespace espalier {

// A phrase with what it is made of, or a word with its tag.
struct BracketTree {
  std::string label;  // of the phrase, or the tag
  std::string word;   // empty: a phrase
  std::vector<BracketTree> children;

  bool is_word() const { return children.empty(); }
  bool operator==(const BracketTree&) const = default;
};

struct TaggedWord {
  std::string word, tag;
  bool operator==(const TaggedWord&) const = default;
};

std::size_t num_words(const BracketTree& tree);
// The words from left to right, with their tags, appended.
void append_words(const BracketTree& tree, std::vector<TaggedWord>& words);
// "(S (NP (DT the) (NN coach)) ...)" on one line, without a newline.
void append_brackets(const BracketTree& tree, std::string& out);

// What a label says beyond the category: NP-SBJ-1 and NP=2 are NP. What begins with a hyphen (-LRB-) is a
// label as it is.
std::string_view without_function(std::string_view label);
void remove_functions(BracketTree& tree);
// Removes words of the tag -NONE- and the phrases that have nothing else in them. False: nothing is left.
bool remove_traces(BracketTree& tree);

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
  // Longer sentences are left out of training, and parsed in pieces in prediction.
  std::size_t longest = 300;
  // Finding what is left out takes a while: who is told, how many threads do it, and what ends it early.
  std::function<void(std::string_view)> notice;
  std::size_t threads = 1;
  const std::atomic<bool>* stop = nullptr;
};

struct TreebankPredictOptions {
  std::string format = "brackets";  // of what is read; or tagged (WORD_TAG), words, or text
  std::size_t kbest = 0;            // the k best trees with their scores; 0: just the best
  // Outputs drawn from the distribution of the model, with the seed, in place of the best one; 0: none.
  std::size_t samples = 0;
  std::uint64_t seed = 1;
  bool entropy = false;     // of that distribution, in nats
  bool json = false;        // JSON Lines, an object for each sentence
  std::size_t threads = 0;  // 0: one for each processor; the output does not depend on it
};

inline constexpr int kTreebankVersion = 1;

// Both throw Error for what they cannot read; the first one throws Stopped where `stop` was set.
std::unique_ptr<TrainingSet> read_treebank_training(const InputFiles& files, const TreebankOptions& options);
std::unique_ptr<Predictor> load_treebank_predictor(const StoredTask& stored);

// Bracketed trees in memory, to train a parser on. What of them counts (traces, functions) is for the options
// to say. Numbers of lines in messages are those of trees.
class TreebankData {
 public:
  // Throws Error for a phrase or a word without a label, for one that is neither phrase nor word or both, for
  // white space and brackets in labels and words, and for trees that are too deep.
  void add(BracketTree tree);
  // The same as it is written: "(S (NP (DT the) (NN dog)) (VP (VBD barked)))". Throws Error if that is not
  // one tree.
  void add(std::string_view brackets);
  // Every tree of a text, and of a file.
  void add_all(std::string_view brackets);
  void read(const std::string& path);

  std::size_t size() const { return trees_.size(); }
  const BracketTree& tree(std::size_t i) const { return trees_[i]; }

 private:
  std::vector<BracketTree> trees_;
};

// What read_treebank_training() makes of a file. `dev` is held-out data. None of them need outlive the
// result.
std::unique_ptr<TrainingSet> make_treebank_training(const TreebankData& data,
                                                    const TreebankOptions& options = {},
                                                    const TreebankData* dev = nullptr);

class TreebankModel;

// Finds the phrase structure of sentences: what `espalier predict` does, for programs that have sentences in
// memory. A model has one (Model::treebank_parser()), const and thread-safe; each thread that parses has a
// Sentence of its own.
class TreebankParser {
 public:
  class Sentence;

  // Keeps references to the model and to the weights.
  TreebankParser(const TreebankModel& model, WeightsView theta, const Loss& loss)
      : model_(model), theta_(theta), loss_(loss) {}

  // Whether it finds tags itself; otherwise words come with theirs.
  bool predicts_tags() const;
  // False for models of beta = infinity, which have scores alone.
  bool has_probabilities() const { return loss_.smooth(); }
  // How good its trees are: what `espalier eval` says of a file. Throws Error without trees.
  Evaluation evaluate(const TreebankData& gold) const;

 private:
  const TreebankModel& model_;
  WeightsView theta_;
  Loss loss_;
};

// One sentence after another, in memory that is reused. Functions that look for trees throw Error if there
// are no words; probability() throws Error if the model has no probabilities.
class TreebankParser::Sentence {
 public:
  struct Scored {
    BracketTree tree{};
    double score = 0;
  };
  // A label over the words begin, ..., end - 1.
  struct Constituent {
    std::size_t begin, end;
    std::string_view label;
    double probability;
  };

  // What a feature adds to the score of every derivation that has this label over the words begin, ..., end -
  // 1 (of a split, begin = end: the label of a phrase whose two children meet there; of a word, its tag), or,
  // with begin = end = 0, this rule.
  struct Contribution {
    std::string_view feature;  // such as "span: first.form length", or (rule)
    std::size_t begin, end;
    std::string_view label;  // or the rule
    double weight;
    double count;  // how often the best tree has it
  };

  // The parser has to outlive it.
  explicit Sentence(const TreebankParser& parser);
  ~Sentence();
  Sentence(Sentence&&) noexcept;

  // Begins a new sentence.
  void clear();
  // Adds a word. Brackets in it are written -LRB- and -RRB-, as in treebanks. Throws Error if it is empty,
  // and without a tag where the model does not predict tags; a tag that training did not have may be any.
  void add(std::string_view word, std::string_view tag = {});
  // A sentence that was read already.
  void set(std::span<const TaggedWord> words);

  std::size_t size() const;
  // The best tree; a flat one where the grammar has none.
  const BracketTree& tree();
  // Whether the grammar has one, of each piece.
  bool parsed();
  // How many pieces it is parsed in: more than one where it is longer than TreebankOptions::longest. Each is
  // parsed as a sentence by itself, and their trees stand side by side in one phrase.
  std::size_t pieces();
  // The k best trees with their scores, best first; and how probable one with such a score is. Without one of
  // the grammar it is the flat one; of a sentence in pieces it is the best one alone.
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);
  // The constituents that the grammar leaves, with at least such a probability: how often one is expected
  // where a rule repeats a label over the same words, so that it can be more than 1. Without those of tags,
  // and of what every tree begins with (TOP). Throws Error if the model has no probabilities.
  std::vector<Constituent> constituents(double least = 0);
  // Of all labels that the grammar leaves; in one piece. The score of the best tree is the sum of weight
  // times count.
  void for_each_contribution(const std::function<void(const Contribution&)>& visit);
  // Trees drawn from the distribution over derivations, independently of each other, with their scores; the
  // first of many are those of few. And the entropy of the distribution, in nats.
  std::vector<Scored> samples(std::size_t n, std::uint64_t seed);
  double entropy();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
