#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "espalier/base/input.h"
#include "espalier/base/string_buffer.h"

namespace espalier {

// What separates the fields of a line in column files.
constexpr bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// A file of lines, one a token, with blank lines between sequences. Holds the lines of one sequence.
class SequenceReader {
 public:
  explicit SequenceReader(const std::string& path) : reader_(path) {}

  // Goes on to the next sequence; false at the end of the file.
  bool next();
  std::size_t size() const { return lines_.size(); }
  std::string_view line(std::size_t t) const { return lines_[t]; }
  std::size_t line_number(std::size_t t) const { return first_line_ + t; }
  const std::string& name() const { return reader_.name(); }

  // Throws Error::at the line of token t.
  [[noreturn]] void fail(std::size_t t, std::string_view found, std::string_view expected) const;

 private:
  LineReader reader_;
  StringBuffer lines_;
  std::size_t first_line_ = 0;
};

}  // namespace espalier
