#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/input.h"
#include "base/text_chunks.h"
#include "espalier/tasks/treebank.h"

namespace espalier {

// What of a treebank's trees is kept that parsers usually do not see.
struct BracketNorm {
  bool traces = false;     // words of the tag -NONE-, and phrases of nothing else
  bool functions = false;  // -SBJ, -1, =2 after the category
};

// Leaves of a tree what is kept. False: nothing is left.
bool normalise(BracketTree& tree, const BracketNorm& norm);

// Reads trees in Penn brackets, each on one line or on many:
//
//   ( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD sat)) (. .)) )
//
// An outer bracket without a label is TOP. docs/formats.md has the details.
class BracketReader {
 public:
  static constexpr std::size_t kDeepest = 1000;
  static constexpr std::string_view kTop = "TOP";

  // "-" is standard input.
  explicit BracketReader(const std::string& path, BracketNorm norm = {});
  // A part of a file (cut_after_brackets), which has to stay where it is.
  explicit BracketReader(const TextChunk& chunk, BracketNorm norm = {});
  // Trees in memory, which messages call line `line` of `name`. The text has to stay where it is.
  static BracketReader of_text(std::string_view text, std::string name, std::size_t line,
                               BracketNorm norm = {});

  // False at the end of the file. Throws Error::at the line that is wrong.
  bool next(BracketTree& tree);
  // The line that the tree last read begins in.
  std::size_t first_line() const { return first_line_; }
  const std::string& name() const { return name_; }

 private:
  enum class Token { open, close, text, end };

  BracketReader(std::string_view text, std::string name, std::size_t line, BracketNorm norm);
  std::size_t line_number() const { return lines_ ? lines_->line_number() : first_line_; }
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;

  Token next_token();
  void read_phrase(BracketTree& tree, std::size_t depth);
  [[noreturn]] void fail_unclosed(std::size_t depth);

  std::optional<LineReader> lines_;  // none: of memory
  std::string name_;
  BracketNorm norm_;
  std::string_view line_;  // what is left of it
  std::string_view text_;  // of the last token
  std::size_t first_line_ = 0;
};

}  // namespace espalier
