#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace espalier {

inline bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

}  // namespace espalier
