#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/dependency_sentence.h"

namespace espalier {

struct ParseModel;

// Finds the dependency trees of sentences: what `espalier predict` does, for programs that have sentences in
// memory. A model has one (Model::parser()), const and thread-safe; each thread that parses has a Sentence of
// its own.
class Parser {
 public:
  class Sentence;

  // Keeps references to the model and to the weights.
  Parser(const ParseModel& model, WeightsView theta, const Loss& loss);

  // Whether arcs have relations.
  bool labelled() const;
  std::size_t num_relations() const;
  std::string_view relation(std::uint32_t id) const;
  std::optional<std::uint32_t> find_relation(std::string_view name) const;
  // False for models of beta = infinity, which have scores alone.
  bool has_probabilities() const { return loss_.smooth(); }
  // False for models of order 2.
  bool has_kbest() const;

 private:
  const ParseModel& model_;
  WeightsView theta_;
  Loss loss_;
};

// One sentence after another, in memory that is reused. Words count from 1, and 0 is the root. Results are
// valid until the next call of clear(), add() or set(). Functions that look for trees throw Error if there
// are no words, those that return probabilities throw Error if the model has none.
class Parser::Sentence {
 public:
  struct Scored {
    std::vector<std::uint32_t> heads,
        relations;  // as of heads(), and by number; none where the model has none
    double score;
  };

  // The parser has to outlive it.
  explicit Sentence(const Parser& parser);
  ~Sentence();
  Sentence(Sentence&&) noexcept;

  // Begins a new sentence.
  void clear();
  // Adds a word: what it looks like; nobody looks at its head and relation. Fields that are empty are "_", as
  // in files.
  void add(const DependencyWord& word);
  // A sentence that was read already.
  void set(const DependencySentence& sentence);

  std::size_t size() const;
  // The best tree: the head of each word, and the relation to it; no relations where the model has none.
  std::span<const std::uint32_t> heads();
  std::span<const std::string_view> relations();
  // The probability of every head of a word: size() + 1 numbers, that of the root first.
  std::span<const double> head_probabilities(std::size_t word);
  // The k best trees with their scores, best first; and how probable one with such a score is. Throws Error
  // without Parser::has_kbest().
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
