#pragma once

namespace espalier {

// Equation (14) of Martins et al. 2010: the eta >= 0 that solves
//   min_theta l2/2 |theta - theta_t|^2 + omega max{0, L + (theta - theta_t).g},   theta = theta_t - eta g,
// is min{ omega/l2, L / |g|^2 }: as far as the loss, taken as linear, is more than zero, and no farther than
// `cap` = omega/l2. A loss that is zero but for rounding, or below it where inference is not exact (their
// footnote 9), has no step.
inline double aggressive_step(double cap, double loss, double squared_gradient) {
  if (!(loss > 0)) return 0;
  return cap * squared_gradient < loss ? cap : loss / squared_gradient;
}

}  // namespace espalier
