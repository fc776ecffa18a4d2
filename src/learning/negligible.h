#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace espalier {

// Most parts of a sentence are so unlikely that a step moves next to nothing on them. The largest number
// below a power of two up to which at most this part of all that moves lies; what is left out of the weights
// is set right at every certificate.
inline float negligible(std::span<const float> delta, float part) {
  constexpr int kExponents = 256, kMantissa = 23;
  std::array<float, kExponents> mass{};  // by exponents
  float sum = 0;
  for (const float change : delta) {
    const float size = std::abs(change);
    mass[std::bit_cast<std::uint32_t>(size) >> kMantissa] += size;
    sum += size;
  }
  float below = 0;
  std::uint32_t exponent = 0;
  while (exponent + 1 < kExponents && below + mass[exponent] <= part * sum) below += mass[exponent++];
  return exponent == 0 ? 0 : std::bit_cast<float>((exponent << kMantissa) - 1);
}

}  // namespace espalier
