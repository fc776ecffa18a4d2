#include "solvers/hildreth.h"

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier {

std::span<const double> Hildreth::solve(std::span<const double> gram, std::span<const double> b, double cap) {
  constexpr std::size_t kMostActions = 10000;
  const std::size_t k = b.size();
  ESPALIER_EXPECT(gram.size() == k * k);
  const auto product = [&](std::size_t r, std::size_t t) {
    return r == 0 || t == 0 ? 0 : gram[(r - 1) * k + t - 1];
  };
  alpha_.assign(k + 1, 0.0);
  alpha_[0] = cap;
  // By how much a row's constraint is not met without slack: b_r - a_r.x, the derivative of the dual.
  wants_.assign(k + 1, 0.0);
  std::copy(b.begin(), b.end(), wants_.begin() + 1);
  const double tolerance = 1e-9 * std::max(0.0, *std::max_element(wants_.begin(), wants_.end()));

  for (std::size_t action = 0; action < kMostActions; ++action) {
    const auto most =
        static_cast<std::size_t>(std::max_element(wants_.begin(), wants_.end()) - wants_.begin());
    std::size_t least = most;
    for (std::size_t r = 0; r <= k; ++r) {
      if (alpha_[r] > 0 && wants_[r] < wants_[least]) least = r;
    }
    const double difference = wants_[most] - wants_[least];
    if (difference <= tolerance) break;
    // wants_most and wants_least are equal after difference / |a_most - a_least|^2.
    const double curvature = product(most, most) + product(least, least) - 2 * product(most, least);
    if (curvature * alpha_[least] > difference) {
      const double step = difference / curvature;
      alpha_[most] += step;
      alpha_[least] -= step;
      for (std::size_t r = 1; r <= k; ++r) wants_[r] -= step * (product(r, most) - product(r, least));
    } else {
      const double step = alpha_[least];
      alpha_[most] += step;
      alpha_[least] = 0;
      for (std::size_t r = 1; r <= k; ++r) wants_[r] -= step * (product(r, most) - product(r, least));
    }
  }
  return std::span<const double>(alpha_).subspan(1);
}

}  // namespace espalier
