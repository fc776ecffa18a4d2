#pragma once

#include <cstdint>

namespace espalier {

// Finalizer of 64-bit hashes: each bit of the input changes half of the output's.
inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

inline std::uint32_t fold(std::uint64_t x) { return static_cast<std::uint32_t>(mix(x) >> 32); }

}  // namespace espalier
