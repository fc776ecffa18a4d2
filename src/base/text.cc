#include "base/text.h"

#include <fmt/format.h>

#include <cmath>
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

std::string percentage(double percent, int decimals) {
  const double step = std::pow(10.0, -decimals);
  if (percent < 100 && percent > 100 - step) percent = 100 - step;
  if (percent > 0 && percent < step) percent = step;
  return fmt::format("{:.{}f}", percent, decimals);
}

std::string counted(std::size_t number, std::string_view singular, std::string_view plural) {
  std::string text = grouped(number) + ' ';
  if (number != 1 && !plural.empty()) return text.append(plural);
  text += singular;
  return number == 1 ? text : text + 's';
}

std::string in_bytes(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  constexpr double kNext = 1024, kFourDigits = 999.5;
  std::size_t unit = 0;
  for (; unit < 3 && bytes >= kNext; ++unit) bytes /= kNext;
  return fmt::format("{:.{}g} {}", bytes, bytes < kFourDigits ? 3 : 4, kUnits[unit]);
}

void append_formatted(std::string& to, fmt::string_view format, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(to), format, arguments);
}

}  // namespace espalier
