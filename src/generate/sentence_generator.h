#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace espalier {

struct LexiconWord;
struct PhraseRule;

// One sentence with everything that the tasks predict about it. The views point into tables that live as long
// as the program does.
struct Sentence {
  std::string_view topic;
  std::vector<std::string_view> words;
  std::vector<std::string_view> tags;
  std::vector<std::string_view> entities;  // "O", "B-PER", "I-PER", ...
  std::vector<std::uint32_t> heads;        // the word that this one depends on, counted from 1; 0 is the root
  std::vector<std::string_view> relations;  // to the head
  std::string tree;                         // "(S (NP (DT the) (NN coach)) ...)"
};

// Draws sentences from a small weighted grammar of English, written for this project (its rules and words are
// tables in src/generate): data for demos, benchmarks and tests. Each sentence is one derivation; tags,
// entities, dependencies and brackets are read off it, so they always agree.
//
// The language is the same for every seed, so that one seed can train and another one test. One seed gives
// the same sentences on every machine (all draws are in integers), however many are asked for.
//
// It is learnable without being trivial: words with two tags ("plans"), names that are a person, a place or a
// company ("Marlow"), prepositional phrases that attach to either side, words that topics share, and one
// sentence in twenty that borrows words from another topic.
class SentenceGenerator {
 public:
  static constexpr std::size_t kMinWords = 4;
  static constexpr std::size_t kMaxWords = 35;

  explicit SentenceGenerator(std::uint64_t seed) : random_(seed) {}

  // The next sentence, in the memory of the last one.
  void next(Sentence& out);

 private:
  // A derivation in preorder: either a phrase, by the rule that rewrote it, or a word.
  struct Node {
    const PhraseRule* rule;
    const LexiconWord* word;
  };

  std::size_t topic_for_word();
  void derive(std::size_t phrase);
  void spell();
  std::uint32_t read_phrase(std::size_t phrase, std::size_t& cursor, bool bracket, Sentence& out) const;

  Random random_;
  std::size_t topic_ = 0;
  std::size_t borrowed_topic_ = 0;  // equal to topic_ in most sentences
  std::vector<Node> nodes_;
  std::size_t num_words_ = 0;
};

}  // namespace espalier
