#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/treebank.h"
#include "tasks/text_sentences.h"
#include "tasks/treebank/bracket_reader.h"

namespace espalier {

// brackets: trees; tagged: a sentence per line, WORD_TAG WORD_TAG ...; words: a sentence per line, WORD WORD
// ...
enum class TreebankFormat { brackets, tagged, words };
// Throws Error for other names.
TreebankFormat parse_treebank_format(std::string_view name);

// Brackets that are words are written as the Penn treebank writes them, -LRB- and -RRB-, since they would be
// no trees otherwise.
std::string without_brackets(std::string_view text);

struct TreebankSentence {
  std::vector<TaggedWord> words;             // with empty tags where the format has none
  std::vector<TextSentences::Place> places;  // of these, plain text alone
  BracketTree tree;                          // brackets alone
};

// Sentences to be parsed, with their trees where the file has them.
class TreebankReader {
 public:
  TreebankReader(const std::string& path, TreebankFormat format, BracketNorm norm);

  // False at the end of the file. Throws Error::at the line that is wrong.
  bool next(TreebankSentence& sentence);
  const std::string& name() const { return trees_ ? trees_->name() : lines_->name(); }

 private:
  void take_word(std::string_view text, TreebankSentence& sentence);

  bool tagged_;
  std::optional<BracketReader> trees_;
  std::optional<LineReader> lines_;
};

}  // namespace espalier
