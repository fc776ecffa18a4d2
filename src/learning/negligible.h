#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace espalier {

// The part that is left out of a squared norm, and of a change of the weights.
inline constexpr float kNegligibleOfNorm = 2e-2f, kNegligibleOfWeights = 2e-3f;

// Most parts of a sentence are so unlikely that a step moves next to nothing on them. The largest number
// below a power of two up to which at most this part of all that moves lies; what is left out of the weights
// is set right at every certificate.
template <class Real>
float negligible(std::span<const Real> delta, float part) {
  constexpr int kExponents = 256, kMantissa = 23;
  std::array<float, kExponents> mass{};  // by exponents
  float sum = 0;
  for (const Real change : delta) {
    const float size = std::abs(static_cast<float>(change));
    mass[std::bit_cast<std::uint32_t>(size) >> kMantissa] += size;
    sum += size;
  }
  float below = 0;
  std::uint32_t exponent = 0;
  while (exponent + 1 < kExponents && below + mass[exponent] <= part * sum) below += mass[exponent++];
  return exponent == 0 ? 0 : std::bit_cast<float>((exponent << kMantissa) - 1);
}

}  // namespace espalier
