#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "generate/tables.h"
#include "generate/weighted.h"

namespace espalier {

// What a rule puts in place of its phrase: phrases, and words of the lexicon.
struct RuleChild {
  bool is_word = false;
  std::size_t phrase = 0;  // of a phrase: its number
  std::size_t list = 0;    // of a word: where the lexicon has it
  std::size_t form = 0;
  std::string tag;
  std::string relation;  // empty for the head
};

struct PhraseRule {
  std::vector<RuleChild> children;
  std::size_t head = 0;
  bool renames = false;  // one child, a phrase of the same label: one bracket serves both
};

struct Phrase {
  std::string name;
  std::string label;          // in the tree; empty for a phrase without brackets
  std::string entity_begin;   // "B-PER"; empty where the phrase is no entity
  std::string entity_inside;  // "I-PER"
  std::vector<PhraseRule> rules;
  std::array<Weighted, kNumTopics> weights;

  const PhraseRule& draw(std::size_t topic, Random& random) const {
    return rules[weights[topic].draw(random)];
  }
};

// The rules of the table, ready to be drawn from.
class PhraseRules {
 public:
  static const PhraseRules& instance();

  const Phrase& operator[](std::size_t phrase) const { return phrases_[phrase]; }
  std::size_t find(std::string_view name) const;

 private:
  PhraseRules();
  void add_rule(const std::string& phrase, const std::string& children, const RuleRow& row);

  std::vector<Phrase> phrases_;
};

}  // namespace espalier
