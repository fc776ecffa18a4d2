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

struct LexiconWord {
  explicit LexiconWord(std::string_view word);

  std::string text;
  std::string capitalised;  // at the start of a sentence
};

// The words of the tables with all their forms, to be drawn by list, form and topic. Within a list the
// frequency follows Zipf's law: the word of rank r is drawn in proportion to 1/r.
class Lexicon {
 public:
  static const Lexicon& instance();

  std::size_t list(std::string_view name) const;
  // The column of that list's forms that a tag asks for: for verbs VB VBZ VBD VBN VBG, for nouns NN NNS, for
  // adjectives JJ RB, and one form for all others.
  std::size_t form(std::size_t list, std::string_view tag) const;
  const LexiconWord& draw(std::size_t list, std::size_t form, std::size_t topic, Random& random) const;

 private:
  // Words of one list and one topic.
  struct Shelf {
    std::vector<std::vector<LexiconWord>> stems;  // each with its forms
    Weighted weights;
  };
  struct List {
    std::string_view name;
    WordKind kind = WordKind::fixed;
    unsigned own_percent = 0;
    unsigned common_percent = 100;
    std::array<Shelf, kNumTopics + 1> shelves;  // the last one: of no topic
  };

  Lexicon();
  List& list_to_fill(std::string_view name);
  void add_written_words();
  void add_numbers();
  void add_names();
  void add_derived_words();

  std::vector<List> lists_;
};

}  // namespace espalier
