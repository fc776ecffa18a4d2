#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/tasks/task.h"
#include "espalier/tasks/treebank.h"

namespace espalier {

// What counts, in the words of evalb's parameter files. The default are the usual settings, COLLINS.prm:
// punctuation and the outermost bracket do not count, and ADVP and PRT are the same.
struct ParsevalRules {
  bool labelled = true;
  std::vector<std::string> deleted = {"TOP", "-NONE-", ",", ":", "``", "''", "."};
  std::vector<std::pair<std::string, std::string>> equal = {{"PRT", "ADVP"}};
};

// A predicted tree against the gold one. A bracket is a label with the words from its first to its last; it
// is right if the gold tree has it, and each of the gold tree once.
struct ParsevalCounts {
  // As evalb's: other words than in the gold tree, and no words that count, are reasons to leave a sentence
  // out.
  enum class Status { valid, other_words, no_words };

  Status status = Status::valid;
  std::size_t length = 0;  // words of the gold tree, punctuation too, traces not
  std::size_t matched = 0, gold = 0, predicted = 0;
  std::size_t crossing = 0;  // predicted brackets that cross a gold one
  std::size_t words = 0, correct_tags = 0;

  bool exact() const { return matched == gold && matched == predicted; }
};

ParsevalCounts count_brackets(const BracketTree& gold, const BracketTree& predicted,
                              const ParsevalRules& rules = {});

// Precision, recall and F1 of brackets, exact match and tagging accuracy over many trees, as evalb sums them
// up.
class ParsevalScores {
 public:
  static constexpr std::size_t kShort = 40;  // the longest sentence of the second summary, "len<=40"

  void add(const ParsevalCounts& counts);
  // A sentence that the grammar has no tree for counts like all others, by the flat tree it got.
  void add_unparsed(std::size_t sentences = 1) { unparsed_ += sentences; }
  // So does one that is too long, by the tree that its pieces make.
  void add_in_pieces(std::size_t sentences = 1) { in_pieces_ += sentences; }
  Evaluation evaluation() const;

 private:
  struct Sums {
    std::size_t sentences = 0, other_words = 0, no_words = 0;
    std::size_t matched = 0, gold = 0, predicted = 0, words = 0, correct_tags = 0;
    std::size_t exact = 0, crossing = 0, without_crossing = 0, few_crossing = 0;

    void add(const ParsevalCounts& counts);
    std::size_t valid() const { return sentences - other_words - no_words; }
    double precision() const;
    double recall() const;
    double f1() const;
    Json rates() const;
  };

  Sums all_, short_;
  std::size_t unparsed_ = 0, in_pieces_ = 0;
};

}  // namespace espalier
