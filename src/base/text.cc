#include "base/text.h"

#include <fmt/format.h>

#include <iterator>

namespace espalier {

std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

void append_formatted(std::string& to, fmt::string_view format, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(to), format, arguments);
}

}  // namespace espalier
