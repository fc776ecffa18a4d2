#pragma once

#include <string_view>

#include "tasks/sequence_reader.h"

namespace espalier {

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

}  // namespace espalier
