// Numbers in texts, against the C library's.

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/parse_number.h"
#include "fuzzing/targets.h"

namespace espalier::fuzz {
namespace {

// What strtod() and strtof() make of a text in C's locale, less what they take and we do not.
template <class Real, class Parse>
std::optional<Real> number_of(const std::string& text, const Parse& parse) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())) != 0) return std::nullopt;
  if (text.find_first_of("xX") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const Real value = parse(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> double_of(const std::string& text) { return number_of<double>(text, std::strtod); }

// An amount of memory, by its unit.
std::optional<double> amount_of(std::string text) {
  constexpr std::string_view kUnits = "KMGT";
  int power = 0;
  if (const auto unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      unit != kUnits.npos) {
    power = 10 * (static_cast<int>(unit) + 1);
    text.pop_back();
  }
  const std::optional<double> number = double_of(text);
  if (!number) return std::nullopt;
  const double bytes = std::ldexp(*number, power);
  return bytes < 1 || bytes > 0x1.0p62 ? std::nullopt : std::optional<double>(std::floor(bytes));
}

}  // namespace

void numbers(std::string_view bytes) {
  const std::string text(bytes);
  expect(parse_double(text) == double_of(text), "a double");
  expect(parse_float(text) == number_of<float>(text, std::strtof), "a float");
  const auto amount = parse_bytes(text);
  const std::optional<double> expected = amount_of(text);
  expect(amount.has_value() == expected.has_value(), "an amount of memory");
  if (amount) expect(static_cast<double>(*amount) == *expected, "the same amount of memory");
}

}  // namespace espalier::fuzz
