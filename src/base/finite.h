#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace espalier {

// Whether no number is infinite or NaN: such have all bits of the exponent set. In whole numbers, which
// compilers turn into vectors.
inline bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  bool found = false;
  for (const float value : values) found |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent;
  return !found;
}
inline bool all_finite(std::span<const double> values) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000;
  bool found = false;
  for (const double value : values) found |= (std::bit_cast<std::uint64_t>(value) & kExponent) == kExponent;
  return !found;
}

}  // namespace espalier
