#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_buffer.h"
#include "features/token_table.h"

namespace espalier {

// The built-in attributes of column files, for when there is no template. docs/formats.md lists them. The
// word is the first column that is not the label; what would look beyond the sequence is left out.
class WordAttributes {
 public:
  // Requires a column besides the label and, where given, one that is to be ignored.
  WordAttributes(std::size_t num_columns, std::size_t label_column,
                 std::optional<std::size_t> ignored_column = {});

  // Goes on to a sequence, whose fields have to stay where they are while this is used.
  void set(const TokenTable& table);
  // Appends the names of the attributes of its token t, each once.
  void append(std::size_t t, StringBuffer& names) const;

 private:
  struct Window {
    std::string name;
    std::size_t column;  // of the file; behind its last one: shapes
    int first, last;     // the tokens that it joins, relative to t
  };
  std::string_view field(const Window& window, std::size_t t) const;

  std::size_t word_ = 0;
  std::vector<Window> windows_;
  TokenTable table_;
  StringBuffer shapes_;  // of every word of the sequence
};

// All append to `to`. Bytes that are not UTF-8 count as characters of their own, which have no case.
void append_lower_case(std::string_view word, std::string& to);
// X for capital letters, x for other letters, d for digits, other characters as they are; a run of the same
// is one: "McDonald's" is "XxXx'x", "1,200" is "d,d".
void append_shape(std::string_view word, std::string& to);
// The first or the last n characters; all, if there are not as many.
std::string_view prefix_of(std::string_view word, std::size_t n);
std::string_view suffix_of(std::string_view word, std::size_t n);

}  // namespace espalier
