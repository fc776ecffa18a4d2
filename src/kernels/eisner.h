#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::kernels {

// Scratch memory that the functions below need, in elements; it starts on a cache line.
std::size_t eisner_scratch(std::size_t words);

// The probability of each arc of a projective tree and log Z, in probability space. Scores and probabilities are arc matrices
// (structures/arc_set.h). False where the range of the scores is too wide for that, or no tree is possible: then nothing is
// known.
bool eisner_marginals(std::size_t words, bool single_root, const double* s, double* mu, double* log_z,
                      double* scratch);

// The best tree; of equal ones, the one whose heads the traceback meets first. heads[d - 1] is the head of word d.
void eisner_best(std::size_t words, bool single_root, const double* s, std::uint32_t* heads, double* scratch);

// Sums over the contexts of second-order trees: n values, a multiple of kContextUnit, in rows that begin on a multiple of it.
inline constexpr std::size_t kContextUnit = 4;
// y += a x
void add_scaled(double a, const double* x, double* y, std::size_t n);
// z += x y, element by element
void add_products(const double* x, const double* y, double* z, std::size_t n);
// y += a x; the sum of x z
double add_scaled_and_dot(double a, const double* x, double* y, const double* z, std::size_t n);

// What the kernels must agree with, written the plain way.
namespace reference {
inline void add_scaled(double a, const double* x, double* y, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) y[k] += a * x[k];
}
inline void add_products(const double* x, const double* y, double* z, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) z[k] += x[k] * y[k];
}
inline double add_scaled_and_dot(double a, const double* x, double* y, const double* z, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += x[k] * z[k];
  add_scaled(a, x, y, n);
  return sum;
}
}  // namespace reference
}  // namespace espalier::kernels
