#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace espalier {

// xoshiro256** (Blackman and Vigna), seeded by SplitMix64. Written out so that one seed gives the same run
// with every compiler and standard library; std::uniform_int_distribution and std::shuffle do not promise
// that.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) {
      std::uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Uniform in {0, ..., n-1}, without bias (rejection). Requires n > 0.
  std::size_t below(std::size_t n) {
    const std::uint64_t limit = n * (~std::uint64_t{0} / n);
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return static_cast<std::size_t>(draw % n);
  }

  // Fisher and Yates.
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  std::uint64_t state_[4];
};

}  // namespace espalier
