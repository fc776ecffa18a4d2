#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace espalier {

// The fields of one sequence, a row of columns for each token, numbered as in the file from 0. The label's
// column may be empty: no attribute looks at it.
struct TokenTable {
  std::span<const std::string_view> fields;
  std::size_t num_columns = 1;

  std::size_t size() const { return fields.size() / num_columns; }
  std::string_view at(std::size_t token, std::size_t column) const {
    return fields[token * num_columns + column];
  }
};

}  // namespace espalier
