#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/rows.h"

namespace espalier::kernels {

struct SimplexStep {
  float gap = 0;   // max_k s_k - s.mu at the start, >= 0
  float gain = 0;  // of the quadratic
  bool moved = false;
};

// A step that changes no mu by more than this share of itself is not made: it is what rounding leaves.
constexpr float kLeastMove = 1e-6f;

// mu <- the maximiser over the simplex of  s.mu' - q/2 |mu' - mu|^2,  and delta = mu - mu'. Requires q >= 0
// and mu in the simplex; with q = 0 it is the best label, or all of those where they are several. Where
// nothing moves, mu and delta are left as they are.
//
// It is the projection of b = mu + s/q onto the simplex: mu'_k = max(b_k - tau, 0), with the tau for which
// they add up to one (Crammer and Singer 2001, section 6; Keerthi et al. 2008, section 3.1).
SimplexStep maximise_on_simplex(const float* s, float q, std::size_t n, float* mu, float* delta);

// scale p, of an example of classes.
struct LabelCosts {
  const float* values;  // one for each label; nullptr: 1, but for `gold`
  std::size_t gold;
  float scale;

  void add_to(float* s, std::size_t n) const {
    for (std::size_t k = 0; k < n; ++k) {
      if (values) {
        s[k] += scale * values[k];
      } else if (k != gold) {
        s[k] += scale;
      }
    }
  }
};

// The same at scores of rows of weights, to which the change goes back: with s = scale sum_j x_j W[id_j] +
// cost, mu becomes the maximiser and W[id_j] += omega x_j delta. In one call, since of few labels everything
// stays in registers. Requires memory for twice as many floats as there are labels.
SimplexStep maximise_over_rows(RowTable<float> w, SparseRow x, float scale, const LabelCosts& costs, float q,
                               float omega, float* mu, float* memory);

// What the kernel must agree with, written the plain way: tau from sorted b, in double precision.
namespace reference {
inline std::vector<double> maximise_on_simplex(const float* s, double q, std::size_t n, const float* mu) {
  const double highest = *std::max_element(s, s + n);
  std::vector<double> b(n);
  for (std::size_t k = 0; k < n; ++k)
    b[k] = mu[k] + (s[k] - highest) / std::max(q, static_cast<double>(std::numeric_limits<float>::min()));
  std::vector<double> sorted = b;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, tau = 0;
  for (std::size_t r = 0; r < n && sorted[r] > (sum + sorted[r] - 1) / static_cast<double>(r + 1); ++r) {
    sum += sorted[r];
    tau = (sum - 1) / static_cast<double>(r + 1);
  }
  for (double& x : b) x = std::max(x - tau, 0.0);
  return b;
}
}  // namespace reference
}  // namespace espalier::kernels
