#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/bracket_tree.h"

namespace espalier {

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
    BracketTree tree;
    double score;
  };

  // The parser has to outlive it.
  explicit Sentence(const TreebankParser& parser);
  ~Sentence();
  Sentence(Sentence&&) noexcept;

  // Begins a new sentence.
  void clear();
  // Adds a word. Brackets in it are written -LRB- and -RRB-, as in treebanks. Throws Error where it is empty,
  // and without a tag where the model does not predict tags; a tag that training did not have may be any.
  void add(std::string_view word, std::string_view tag = {});
  // A sentence that was read already.
  void set(std::span<const TaggedWord> words);

  std::size_t size() const;
  // The best tree; a flat one where the grammar has none.
  const BracketTree& tree();
  // Whether the grammar has one.
  bool parsed();
  // The k best trees with their scores, best first; and how probable one with such a score is. Without one of
  // the grammar it is the flat one.
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
