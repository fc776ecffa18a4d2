#pragma once

#include <cstddef>
#include <span>

namespace espalier {

// The quadratic program that bundle methods and working sets share:
//   minimise  f(alpha) = alpha'G alpha/2 - b.alpha   over  alpha >= 0,  sum alpha <= c  (or = c).
// Requires G symmetric and positive semidefinite; it may be singular (planes that are there twice), and c >=
// 0.
struct BundleQp {
  const double* gram;  // row j begins at gram + j * stride
  std::size_t stride;
  std::span<const double> linear;  // b
  double total = 1;                // c
  bool fill = false;               // true: sum alpha = c
};

struct BundleQpResult {
  double value = 0;  // f(alpha)
  // f(alpha) is at most this far above the minimum: the gap between f and its linearisation, recomputed at
  // the end.
  double gap = 0;
  std::size_t steps = 0;
};

// Starts from alpha, made feasible where it is not, and ends once the gap is no larger than the tolerance, or
// no step that doubles can tell from none is left.
BundleQpResult minimise(const BundleQp& qp, double tolerance, std::span<double> alpha);

}  // namespace espalier
