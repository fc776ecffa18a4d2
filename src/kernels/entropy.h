#pragma once

#include <cmath>
#include <cstddef>

namespace espalier::kernels {

// At x = p + step(q - p),
//   value = -sum_k x_k log x_k,   first = -sum_k (q_k - p_k) log x_k,   second = -sum_k (q_k - p_k)^2 / x_k,
// the derivatives in the step where p and q sum to the same.
struct EntropyTerms {
  double value = 0, first = 0, second = 0;
};

// Masses below this count as none: -p log p is less than 3e-9 there. Where most outputs have next to no mass, most vectors of
// lanes need no logarithm.
inline constexpr float kLeastMass = 1e-10f;

// Requires p, q >= 0 and a step in [0, 1].
EntropyTerms entropy_along(const float* p, const float* q, float step, std::size_t n);

// p <- (1 - step) p + step q
void mix(float* p, const float* q, float step, std::size_t n);

// What the kernels must agree with, written the plain way.
namespace reference {
inline EntropyTerms entropy_along(const float* p, const float* q, float step, std::size_t n) {
  EntropyTerms sum;
  for (std::size_t k = 0; k < n; ++k) {
    const double d = static_cast<double>(q[k]) - p[k], x = p[k] + step * d;
    if (x < kLeastMass) continue;
    sum.value -= x * std::log(x);
    sum.first -= d * std::log(x);
    sum.second -= d * d / x;
  }
  return sum;
}
inline void mix(float* p, const float* q, float step, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) p[k] = (1 - step) * p[k] + step * q[k];
}
}  // namespace reference
}  // namespace espalier::kernels
