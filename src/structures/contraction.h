#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace espalier {

// Tables with vectors on their variables, summed down to one variable. A table's first variable changes
// slowest. Each kind of sum says how the first and the last variable go away:
//   first   out[q] = sum_x w[x] T[x, q]         last   out[p] = sum_x T[p, x] w[x]

// Sums of products.
struct SumProduct {
  static void first(const double* table, std::size_t labels, std::size_t rest, const double* w, double* out) {
    for (std::size_t q = 0; q < rest; ++q) out[q] = w[0] * table[q];
    for (std::size_t x = 1; x < labels; ++x) {
      const double* row = table + x * rest;
      const double weight = w[x];
      for (std::size_t q = 0; q < rest; ++q) out[q] += weight * row[q];
    }
  }
  static void last(const double* table, std::size_t rest, std::size_t labels, const double* w, double* out) {
    for (std::size_t p = 0; p < rest; ++p) {
      const double* row = table + p * labels;
      double even = 0, odd = 0;  // two, so that additions need not wait for one another
      std::size_t x = 0;
      for (; x + 2 <= labels; x += 2) {
        even += row[x] * w[x];
        odd += row[x + 1] * w[x + 1];
      }
      if (x < labels) even += row[x] * w[x];
      out[p] = even + odd;
    }
  }
};

// The highest of sums: log-scores, of the best.
struct MaxSum {
  static void first(const double* table, std::size_t labels, std::size_t rest, const double* w, double* out) {
    for (std::size_t q = 0; q < rest; ++q) out[q] = w[0] + table[q];
    for (std::size_t x = 1; x < labels; ++x) {
      const double* row = table + x * rest;
      const double weight = w[x];
      for (std::size_t q = 0; q < rest; ++q) out[q] = std::max(out[q], weight + row[q]);
    }
  }
  static void last(const double* table, std::size_t rest, std::size_t labels, const double* w, double* out) {
    for (std::size_t p = 0; p < rest; ++p) {
      const double* row = table + p * labels;
      double highest = row[0] + w[0];
      for (std::size_t x = 1; x < labels; ++x) highest = std::max(highest, row[x] + w[x]);
      out[p] = highest;
    }
  }
};

// Sums of products in logarithms: slow, for scores of any range.
struct LogSumProduct {
  static void first(const double* table, std::size_t labels, std::size_t rest, const double* w, double* out) {
    for (std::size_t q = 0; q < rest; ++q) {
      out[q] = log_sum(labels, [&](std::size_t x) { return w[x] + table[x * rest + q]; });
    }
  }
  static void last(const double* table, std::size_t rest, std::size_t labels, const double* w, double* out) {
    for (std::size_t p = 0; p < rest; ++p) {
      out[p] = log_sum(labels, [&](std::size_t x) { return table[p * labels + x] + w[x]; });
    }
  }

 private:
  template <class Term>
  static double log_sum(std::size_t n, const Term& term) {
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t x = 0; x < n; ++x) highest = std::max(highest, term(x));
    if (highest == -std::numeric_limits<double>::infinity()) return highest;
    double sum = 0;
    for (std::size_t x = 0; x < n; ++x) sum += std::exp(term(x) - highest);
    return highest + std::log(sum);
  }
};

// A table of two variables or more, with `labels` of each and a vector `w` on each, summed over all of them
// but number `target`. `buffers` has room for twice the table's entries over its smallest number of labels.
template <class Sum>
void contract(const double* table, std::size_t entries, std::span<const std::uint32_t> labels,
              std::size_t target, std::span<const double* const> w, std::span<double> buffers, double* out) {
  double *to = buffers.data(), *other = to + buffers.size() / 2;
  std::size_t left = labels.size() - 1;
  const auto place = [&] { return --left == 0 ? out : to; };
  for (std::size_t j = labels.size(); j-- > target + 1;) {
    entries /= labels[j];
    double* result = place();
    Sum::last(table, entries, labels[j], w[j], result);
    table = result;
    std::swap(to, other);
  }
  for (std::size_t j = 0; j < target; ++j) {
    entries /= labels[j];
    double* result = place();
    Sum::first(table, labels[j], entries, w[j], result);
    table = result;
    std::swap(to, other);
  }
}

}  // namespace espalier
