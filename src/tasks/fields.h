#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "tasks/sequence_reader.h"

namespace espalier {

// The fields of a line in files of settings: spaces and TABs between, and '#' starts a comment. Stops when
// `fields` is full; returns how many there are.
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

// Calls with each of the fields of a line, which white space separates.
template <class Call>
void for_each_field(std::string_view line, Call&& call) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (;;) {
    while (at != end && is_white_space(*at)) ++at;
    if (at == end) return;
    const char* const begin = at;
    while (at != end && !is_white_space(*at)) ++at;
    call(std::string_view(begin, static_cast<std::size_t>(at - begin)));
  }
}

// What separates columns: any white space, or TABs alone, so that fields may have spaces inside and may be
// empty.
enum class Separator { space, tab };

template <class Call>
void for_each_field(std::string_view line, Separator separator, Call&& call) {
  if (separator == Separator::space) return for_each_field(line, call);
  for (;;) {
    const std::size_t tab = line.find('\t');
    call(line.substr(0, tab));
    if (tab == std::string_view::npos) return;
    line.remove_prefix(tab + 1);
  }
}

}  // namespace espalier
