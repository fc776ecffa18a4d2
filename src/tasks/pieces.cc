#include "tasks/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace espalier {

bool has_letter_or_digit(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0;
  });
}

std::string describe_left_out(std::size_t sentences, std::size_t longest) {
  if (sentences == 0) return "";
  return fmt::format("; {} of more than {} left out", counted(sentences, "sentence"),
                     counted(longest, "word"));
}

}  // namespace espalier
