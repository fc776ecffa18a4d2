#pragma once

#include <optional>
#include <string_view>

namespace espalier {

// The number that the whole text is, in the decimal notation of C without regard to the locale; a leading '+'
// is fine. None for anything else, and for what is not finite: nan, inf, or too large. What is too small for
// the type is 0.
std::optional<float> parse_float(std::string_view text);
std::optional<double> parse_double(std::string_view text);

}  // namespace espalier
