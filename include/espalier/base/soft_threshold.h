#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace espalier {

// soft(x, t): x without the part of it that lies in [-t, t]. Exact where t is 0.
template <class Real>
Real soft(Real x, Real t) {
  return x - std::max(-t, std::min(x, t));
}

// The threshold of every weight: `value` in the rows from `first` to `last` - 1, and 0 in the others.
struct SoftThreshold {
  double value = 0;
  std::size_t first = 0, last = std::numeric_limits<std::size_t>::max();

  bool any() const { return value > 0; }
  double of_row(std::size_t row) const { return row - first < last - first ? value : 0; }
  friend bool operator==(const SoftThreshold&, const SoftThreshold&) = default;
};

}  // namespace espalier
