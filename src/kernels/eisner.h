#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::kernels {

// Scratch memory that the functions below need, in elements; it starts on a cache line.
std::size_t eisner_scratch(std::size_t words);

// The probability of each arc of a projective tree and log Z, in probability space. Scores and probabilities
// are arc matrices (structures/arc_set.h). False where the range of the scores is too wide for that, or no
// tree is possible: then nothing is known.
bool eisner_marginals(std::size_t words, bool single_root, const double* s, double* mu, double* log_z,
                      double* scratch);

// The best tree; of equal ones, the one whose heads the traceback meets first. heads[d - 1] is the head of
// word d.
void eisner_best(std::size_t words, bool single_root, const double* s, std::uint32_t* heads, double* scratch);

// Sums over spans of second-order trees, which have a value for each context: rows of n values, a multiple of
// kContextUnit, that begin on a multiple of it. `count` rows follow each other after `stride` elements.
inline constexpr std::size_t kContextUnit = 4;
struct ContextRows {
  double* first;
  std::size_t stride;
  double* row(std::size_t k) const { return first + k * stride; }
};
// y += sum_k a_k x_k
void add_rows(std::size_t count, const double* a, ContextRows x, double* y, std::size_t n);
// z += sum_k x_k y_k, element by element
void add_row_products(std::size_t count, ContextRows x, ContextRows y, double* z, std::size_t n);
// y_k += a_k x; sums_k = x . z_k, for the derivatives of the first
void spread_rows(std::size_t count, const double* a, const double* x, ContextRows y, ContextRows z,
                 double* sums, std::size_t n);
// x'_k += z y_k; y'_k += z x_k, for the derivatives of the second
void spread_row_products(std::size_t count, const double* z, ContextRows x, ContextRows y,
                         ContextRows x_derivatives, ContextRows y_derivatives, std::size_t n);

// What the kernels must agree with, written the plain way.
namespace reference {
inline void add_rows(std::size_t count, const double* a, ContextRows x, double* y, std::size_t n) {
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t g = 0; g < n; ++g) y[g] += a[k] * x.row(k)[g];
  }
}
inline void add_row_products(std::size_t count, ContextRows x, ContextRows y, double* z, std::size_t n) {
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t g = 0; g < n; ++g) z[g] += x.row(k)[g] * y.row(k)[g];
  }
}
inline void spread_rows(std::size_t count, const double* a, const double* x, ContextRows y, ContextRows z,
                        double* sums, std::size_t n) {
  for (std::size_t k = 0; k < count; ++k) {
    sums[k] = 0;
    for (std::size_t g = 0; g < n; ++g) {
      y.row(k)[g] += a[k] * x[g];
      sums[k] += x[g] * z.row(k)[g];
    }
  }
}
inline void spread_row_products(std::size_t count, const double* z, ContextRows x, ContextRows y,
                                ContextRows x_derivatives, ContextRows y_derivatives, std::size_t n) {
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t g = 0; g < n; ++g) {
      x_derivatives.row(k)[g] += z[g] * y.row(k)[g];
      y_derivatives.row(k)[g] += z[g] * x.row(k)[g];
    }
  }
}
}  // namespace reference
}  // namespace espalier::kernels
