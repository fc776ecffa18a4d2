#include "base/parse_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace espalier {
namespace {

// Whether a number that is out of a type's range is too small for it, and not too large: by the power of ten
// of its first digit. Requires a number as from_chars() takes it, which is not 0.
bool is_tiny(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  long long exponent = 0;
  if (end < text.size()) {
    std::string_view power = text.substr(end + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto result = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (result.ec != std::errc()) return power.starts_with('-');  // beyond what any mantissa makes up for
  }
  const std::string_view mantissa = text.substr(0, end);
  const std::size_t point = std::min(mantissa.find('.'), end), first = mantissa.find_first_of("123456789");
  // The first digit stands for 10^place.
  const auto place = static_cast<long long>(point) - static_cast<long long>(first) - (first < point ? 1 : 0);
  return exponent < -place;
}

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
  // from_chars does not say on which side.
  return is_tiny(text) ? std::optional<Real>(0) : std::nullopt;
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
