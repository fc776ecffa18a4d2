#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "espalier/base/input.h"
#include "espalier/base/string_buffer.h"
#include "espalier/tasks/tag_reader.h"

namespace espalier {

// What separates the fields of a line in column files.
constexpr bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// A file of lines, one a token, with blank lines between sequences. Holds the lines of one sequence. Lines that are no
// tokens: in column files those whose first field is -DOCSTART-, which end a sequence as blank lines do; and, where the
// input has them, comments "# weight: NUMBER" before a sequence.
class SequenceReader {
 public:
  SequenceReader(const std::string& path, const TagInput& input);

  // Goes on to the next sequence; false at the end of the file.
  bool next();
  std::size_t size() const { return lines_.size(); }
  std::string_view line(std::size_t t) const { return lines_[t]; }
  std::size_t line_number(std::size_t t) const { return first_line_ + t; }
  const std::string& name() const { return reader_.name(); }
  // The lines between the sequence before (and the blank line that ended it) and this one, or the end of the file.
  std::string_view before() const { return before_; }
  // What a comment says, or 1.
  double weight() const { return weight_.value_or(1); }

  // Throws Error::at the line of token t.
  [[noreturn]] void fail(std::size_t t, std::string_view found, std::string_view expected) const;

 private:
  bool take_weight(std::string_view line);
  bool is_document(std::string_view line) const;

  LineReader reader_;
  bool documents_, weights_;
  StringBuffer lines_;
  std::size_t first_line_ = 0;
  std::string before_, next_before_;
  std::optional<double> weight_;
};

}  // namespace espalier
