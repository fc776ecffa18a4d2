#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace espalier::kernels {

// At x = p + step(q - p), on the way from p to q,
//   value = sum_k x_k log( x_k/q_k ),   first = sum_k (q_k - p_k) log( x_k/q_k ),
//                                       second = sum_k (q_k - p_k)^2 / x_k,
// the divergence KL(x|q) with its derivatives in the step, where p and q sum to the same. Logarithms of
// ratios: near q they are small, and so is what rounding does to them.
struct DivergenceTerms {
  double value = 0, first = 0, second = 0;
};

// Masses below this count as none: where most outputs have next to no mass, most vectors of lanes need no
// logarithm.
inline constexpr float kLeastMass = 1e-10f;
// Where q has no mass, the divergence would be infinite.
inline constexpr float kSmallestRatio = 1e-37f;

// Requires p, q >= 0 and a step in [0, 1].
DivergenceTerms divergence_along(const float* p, const float* q, float step, std::size_t n);

// p <- (1 - step) p + step q
void mix(float* p, const float* q, float step, std::size_t n);

// What the kernels must agree with, written the plain way.
namespace reference {
inline DivergenceTerms divergence_along(const float* p, const float* q, float step, std::size_t n) {
  DivergenceTerms sum;
  for (std::size_t k = 0; k < n; ++k) {
    const double d = static_cast<double>(q[k]) - p[k], x = p[k] + step * d;
    if (x < kLeastMass) continue;
    const double log = -std::log(std::max(q[k] / x, static_cast<double>(kSmallestRatio)));
    sum.value += x * log;
    sum.first += d * log;
    sum.second += d * d / x;
  }
  return sum;
}
inline void mix(float* p, const float* q, float step, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) p[k] = (1 - step) * p[k] + step * q[k];
}
}  // namespace reference
}  // namespace espalier::kernels
