#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace espalier {

// Whether a change of any statistic of a part is worth looking its rows up.
template <class Real>
bool moves(std::span<const Real> delta, Real negligible) {
  return std::any_of(delta.begin(), delta.end(), [&](Real change) { return std::abs(change) > negligible; });
}

}  // namespace espalier
