#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace espalier {

// The fields of a line in files of settings: spaces and TABs between, and '#' starts a comment. Stops when `fields` is
// full; returns how many there are.
inline std::size_t split_fields(std::string_view line, std::span<std::string_view> fields) {
  constexpr std::string_view kSpace = " \t";
  line = line.substr(0, line.find('#'));
  std::size_t count = 0;
  while (count < fields.size()) {
    const std::size_t begin = line.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
    fields[count++] = line.substr(begin, end - begin);
    line.remove_prefix(end);
  }
  return count;
}

}  // namespace espalier
