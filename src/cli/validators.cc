#include "cli/validators.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "espalier/base/error.h"
#include "espalier/base/parse_number.h"

namespace espalier::cli {
namespace {

// CLI11 puts the option's name before it.
std::string refusal(std::string_view text, std::string_view expected) {
  return fmt::format("found {}; expected {}", in_quotes(text), expected);
}

std::optional<std::uint64_t> parse_whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Check positive_number() {
  return [](std::string& text) {
    const auto value = parse_double(text);
    return value && *value > 0 ? std::string() : refusal(text, "a number > 0");
  };
}

Check number_from_zero() {
  return [](std::string& text) {
    const auto value = parse_double(text);
    return value && *value >= 0 ? std::string() : refusal(text, "a number >= 0");
  };
}

Check probability() {
  return [](std::string& text) {
    const auto value = parse_double(text);
    return value && *value >= 0 && *value <= 1 ? std::string()
                                               : refusal(text, "a probability, a number from 0 to 1");
  };
}

Check whole_number_from(std::uint64_t least) {
  return [least](std::string& text) {
    const auto value = parse_whole_number(text);
    return value && *value >= least ? std::string()
                                    : refusal(text, fmt::format("a whole number >= {}", least));
  };
}

Check whole_number_between(std::uint64_t least, std::uint64_t most) {
  return [least, most](std::string& text) {
    const auto value = parse_whole_number(text);
    return value && *value >= least && *value <= most
               ? std::string()
               : refusal(text, fmt::format("a whole number from {} to {}", least, most));
  };
}

Check bytes() {
  return [](std::string& text) {
    const auto count = parse_bytes(text);
    if (!count) return refusal(text, "a number of bytes > 0, as 500M or 1.5G");
    text = std::to_string(*count);
    return std::string();
  };
}

}  // namespace espalier::cli
