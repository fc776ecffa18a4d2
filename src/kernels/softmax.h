#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace espalier::kernels {

// mu[k] = exp(s[k] - log Z), log Z = log sum_k exp s[k], which is returned. Scores of -infinity have mu = 0.
// Requires n > 0. Where every score is -infinity there is no distribution: the result is -infinity and mu is
// not a number.
double softmax(const float* s, std::size_t n, float* mu);
double softmax(const double* s, std::size_t n, double* mu);

// What the kernels must agree with, written the plain way.
namespace reference {
template <class Real>
double softmax(const Real* s, std::size_t n, Real* mu) {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < n; ++k) highest = s[k] > highest ? static_cast<double>(s[k]) : highest;
  long double sum = 0;  // a million terms would cost a double two digits
  for (std::size_t k = 0; k < n; ++k) sum += std::exp(s[k] - highest);
  for (std::size_t k = 0; k < n; ++k) mu[k] = static_cast<Real>(std::exp(s[k] - highest) / sum);
  return highest + std::log(static_cast<double>(sum));
}
}  // namespace reference
}  // namespace espalier::kernels
