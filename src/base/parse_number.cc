#include "base/parse_number.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace espalier {
namespace {

template <class Real>
std::optional<Real> parse(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  const char* end = text.data() + text.size();
  Real value = 0;
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc()) return std::isfinite(value) ? std::optional<Real>(value) : std::nullopt;
  // from_chars does not say on which side the number is out of range; a wider type does.
  long double wide = 0;
  const auto wide_result = std::from_chars(text.data(), end, wide);
  if (wide_result.ec == std::errc() && std::fabs(wide) < 1) return Real{0};
  return std::nullopt;
}

}  // namespace

std::optional<float> parse_float(std::string_view text) { return parse<float>(text); }
std::optional<double> parse_double(std::string_view text) { return parse<double>(text); }

std::optional<std::size_t> parse_bytes(std::string_view text) {
  double unit = 1;
  for (const char letter : {'K', 'M', 'G', 'T'}) {
    unit *= 1024;
    if (!text.ends_with(letter)) continue;
    text.remove_suffix(1);
    const std::optional<double> number = parse_double(text);
    if (!number || *number * unit < 1 || *number * unit > 0x1.0p62) return std::nullopt;
    return static_cast<std::size_t>(*number * unit);
  }
  const std::optional<double> number = parse_double(text);
  if (!number || *number < 1 || *number > 0x1.0p62) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace espalier
