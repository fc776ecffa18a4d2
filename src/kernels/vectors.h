#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace espalier::kernels {

// Sums over float vectors, in double precision: a compiler may not reorder such a sum by itself, and one
// addition after the other costs more than inference on a small structure.

// sum_k a_k b_k
double dot(const float* a, const float* b, std::size_t n);
// sum_k a_k^2
double squared_norm(const float* a, std::size_t n);

// What a change of marginals from mu to mu' means along a direction d.
struct MarginalChange {
  double gain = 0;      // d.(mu' - mu)
  double mean = 0;      // d.mu'
  double absolute = 0;  // |d|.mu'
};
// Also sets delta = mu - mu'.
MarginalChange change_along(const float* d, const float* mu, const float* new_mu, float* delta,
                            std::size_t n);

// What the kernels must agree with, written the plain way.
namespace reference {
inline double dot(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}
inline double squared_norm(const float* a, std::size_t n) { return dot(a, a, n); }
inline MarginalChange change_along(const float* d, const float* mu, const float* new_mu, float* delta,
                                   std::size_t n) {
  MarginalChange change;
  for (std::size_t k = 0; k < n; ++k) {
    delta[k] = mu[k] - new_mu[k];
    change.gain -= static_cast<double>(d[k]) * delta[k];
    change.mean += static_cast<double>(d[k]) * new_mu[k];
    change.absolute += std::abs(static_cast<double>(d[k])) * new_mu[k];
  }
  return change;
}
}  // namespace reference
}  // namespace espalier::kernels
