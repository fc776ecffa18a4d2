#pragma once

#include <algorithm>
#include <cmath>

namespace espalier {

// A concave function on [0, 1], by its first and second derivative.
struct Slope {
  double first, second;
};

// Where it is largest, to about a hundredth of the step: Newton's method from `start`, kept between steps
// that are known to be too short and too long. slope(step) gives the derivatives there.
template <class SlopeAt>
double best_step(const SlopeAt& slope, double start) {
  constexpr double kPrecision = 1e-2;
  constexpr int kMostLooks = 12;
  double low = 0, high = 1, step = std::clamp(start, 1e-3, 1.0), last_move = 1;
  for (int look = 0; look < kMostLooks; ++look) {
    const Slope here = slope(step);
    if (here.first > 0) {
      if (step == 1) return 1;
      low = step;
    } else {
      high = step;
    }
    double next = here.second < 0 ? step - here.first / here.second : here.first > 0 ? high : low;
    // Entropies bend hard at both ends of the way, so that Newton's moves near an end are short whatever lies
    // beyond. A move tells where the top is if it is short against the way to the nearer end.
    if (std::abs(next - step) <= kPrecision * std::min(step, 1 - step)) return next;
    if (next >= high && high == 1) {
      next = 1;  // nothing spoke against it yet
    } else if (next >= high || next <= low || std::abs(next - step) > last_move / 2) {
      next = (low + high) / 2;
    }
    last_move = std::abs(next - step);
    step = next;
  }
  return step;
}

}  // namespace espalier
