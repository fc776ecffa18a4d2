#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/parse.h"

namespace espalier {

// Where a file of sentences may be cut. What is CoNLL-U in one part is so in all that follow.
std::size_t dependency_cut(std::string_view text);

// Reads CoNLL-X and CoNLL-U, sentence by sentence. Fields are separated by single TABs, sentences by blank
// lines. A file is CoNLL-U from its first comment, multi-word token (3-4) or empty node (5.1) on: those are
// no words, and stay in the text alone. docs/formats.md has the details.
class DependencyReader {
 public:
  static constexpr std::size_t kMostWords = 1'000'000;

  // "-" is standard input. With `needs_heads` the heads of each sentence have to make a tree. Without, HEAD
  // and DEPREL may be missing, a HEAD that is neither 0 nor the number of another word is none, and heads
  // need not make a tree.
  DependencyReader(const std::string& path, bool needs_heads);
  DependencyReader(LineReader reader, bool needs_heads);

  // False at the end of the file. Throws Error::at the line that is wrong.
  bool next(DependencySentence& sentence);
  const std::string& name() const { return reader_.name(); }
  // Whether a line so far makes the file CoNLL-U.
  bool universal() const { return universal_; }

 private:
  enum class Line { comment, token, word };

  Line take_line(std::string_view line, DependencySentence& sentence);
  void take_word(std::string_view line, DependencySentence& sentence);
  Line take_id(std::string_view line, std::size_t words);
  void check_last_range(std::size_t words) const;

  LineReader reader_;
  bool needs_heads_;
  bool universal_ = false;
  std::size_t range_end_ = 0, range_line_ = 0;  // the last multi-word token of the sentence
  std::vector<std::uint32_t> walks_;            // by word: the walk up the tree that came there first
};

}  // namespace espalier
