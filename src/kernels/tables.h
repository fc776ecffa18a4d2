#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace espalier::kernels {

// Tables of scores in logarithms, rows x width: the sums of a junction tree's messages.

// out[k] = log sum_r exp table[r * width + k]; -infinity where all of a column is.
void log_sum_rows(const double* table, std::size_t rows, std::size_t width, double* out);

// table[r * width + k] = exp(table[r * width + k] + shift[k]), 0 where one of the two is -infinity. Neither
// may be +infinity.
void exp_rows(double* table, std::size_t rows, std::size_t width, const double* shift);

// x[k] = log(x[k]) + shift, -infinity where x[k] is 0. Requires finite numbers of 0 or more.
void log_plus(double* x, std::size_t n, double shift);

// What the kernels must agree with, written the plain way.
namespace reference {

inline void log_sum_rows(const double* table, std::size_t rows, std::size_t width, double* out) {
  for (std::size_t k = 0; k < width; ++k) {
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < rows; ++r) highest = std::fmax(highest, table[r * width + k]);
    out[k] = highest;
    if (highest == -std::numeric_limits<double>::infinity()) continue;
    double sum = 0;
    for (std::size_t r = 0; r < rows; ++r) sum += std::exp(table[r * width + k] - highest);
    out[k] += std::log(sum);
  }
}

inline void exp_rows(double* table, std::size_t rows, std::size_t width, const double* shift) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < width; ++k) table[r * width + k] = std::exp(table[r * width + k] + shift[k]);
  }
}

inline void log_plus(double* x, std::size_t n, double shift) {
  for (std::size_t k = 0; k < n; ++k) x[k] = std::log(x[k]) + shift;
}

}  // namespace reference
}  // namespace espalier::kernels
