#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace espalier {

// Draws an index in proportion to its weight, once some weight is there. Integers, so that no machine rounds
// differently.
class Weighted {
 public:
  void add(std::uint64_t weight) {
    cumulative_.push_back((cumulative_.empty() ? 0 : cumulative_.back()) + weight);
  }

  std::size_t draw(Random& random) const {
    const std::uint64_t ticket = random.below(cumulative_.back());
    return static_cast<std::size_t>(std::ranges::upper_bound(cumulative_, ticket) - cumulative_.begin());
  }

 private:
  std::vector<std::uint64_t> cumulative_;
};

}  // namespace espalier
