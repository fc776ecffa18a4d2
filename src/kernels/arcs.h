#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::kernels {

// A feature with a distance lies on the cache line of the same feature without one (column 0), some columns
// further.
constexpr std::uint32_t place_in_column(std::uint32_t key, std::uint32_t column) {
  return (key & ~15u) | ((key + column) & 15u);
}

// The places of n features of an arc, without its distance and then with it: with x = head[t] ^ modifier[t] ^
// direction,
//   places[t] = x & mask,   places[n + t] = place_in_column(x, column) & mask.
// Reads up to 15 elements after the end of each row, and writes up to 15 after the places.
void arc_places(const std::uint32_t* head, const std::uint32_t* modifier, std::size_t n,
                std::uint32_t direction, std::uint32_t column, std::uint32_t mask, std::uint32_t* places);

// What the kernel must agree with, written the plain way.
namespace reference {
inline void arc_places(const std::uint32_t* head, const std::uint32_t* modifier, std::size_t n,
                       std::uint32_t direction, std::uint32_t column, std::uint32_t mask,
                       std::uint32_t* places) {
  for (std::size_t t = 0; t < n; ++t) {
    const std::uint32_t x = head[t] ^ modifier[t] ^ direction;
    places[t] = x & mask;
    places[n + t] = place_in_column(x, column) & mask;
  }
}
}  // namespace reference

}  // namespace espalier::kernels
