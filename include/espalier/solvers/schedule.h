#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/base/random.h"

namespace espalier {

// In which order an online solver visits the examples.
enum class Sampling {
  gap,       // often where an example's gap is large, rarely where it is settled
  random,    // uniformly with replacement, as the theorems have it
  shuffled,  // a new permutation each round
  cyclic,    // as in the file
};

// Throws Error listing the orders for a name that is none.
Sampling parse_sampling(std::string_view name);

// Hands out rounds of examples. A round of `gap` order draws a quarter of n visits: example i is drawn
//   c_i = n/4 [ (1 - lambda) p_i / sum_j p_j + lambda / n ]
// times in expectation, by rounding c_i up or down at random (which spreads visits more evenly than
// independent draws do), and the visits are shuffled. p_i is the caller's estimate of the example's gap;
// lambda = 0.2 keeps an eye on the rest. The first round visits every example once, since nothing is known
// of them yet.
class Schedule {
 public:
  Schedule(Sampling sampling, std::size_t n, std::uint64_t seed);

  // Requires one finite priority >= 0 for each example, for `gap` order.
  std::span<const std::uint32_t> next_round(std::span<const float> priorities);

 private:
  void draw_by_priority(std::span<const float> priorities);

  Sampling sampling_;
  std::size_t n_;
  Random random_;
  bool fresh_ = true;
  std::vector<std::uint32_t> round_;
};

}  // namespace espalier
