#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace espalier {

// The number that the whole text is, in the decimal notation of C without regard to the locale; a leading '+'
// is fine. None for anything else, and for what is not finite: nan, inf, or too large. What is too small for
// the type is 0.
std::optional<float> parse_float(std::string_view text);
std::optional<double> parse_double(std::string_view text);

// An amount of memory in bytes, or in units of 1024, 1024^2, 1024^3 or 1024^4 of them with K, M, G or T after
// the number: "512M", "1.5G". None for anything else, and for less than one byte.
std::optional<std::size_t> parse_bytes(std::string_view text);

}  // namespace espalier
