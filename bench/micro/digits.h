#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"
#include "espalier/features/sparse_rows.h"

namespace espalier::bench {

// The proportions of MNIST: of 784 pixels, 150 or so are not white.
constexpr std::size_t kPixels = 784, kInk = 150;

// kInk distinct pixels in ascending order, with values in (0, 1].
inline void append_digit(Random& random, SparseRows& rows) {
  std::vector<std::uint32_t> pixels(kPixels);
  std::iota(pixels.begin(), pixels.end(), 0u);
  random.shuffle(std::span(pixels));
  std::sort(pixels.begin(), pixels.begin() + kInk);
  for (std::size_t j = 0; j < kInk; ++j) {
    rows.add(pixels[j], 1 - static_cast<float>(random.uniform()) / 2);
  }
  rows.finish_row();
}

}  // namespace espalier::bench
