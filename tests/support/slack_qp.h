#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace espalier::test_support {

// The solution of a square system, row by row with pivoting; empty where it is singular.
inline std::vector<double> solve_linear(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    }
    if (std::abs(a[pivot][c]) < 1e-10) return {};
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double factor = a[r][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[r][k] -= factor * a[c][k];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = 0; c < n; ++c) b[c] /= a[c][c];
  return b;
}

// sum_r alpha_r b_r - 1/2 alpha'G alpha
inline double slack_qp_value(std::span<const double> gram, std::span<const double> b,
                             std::span<const double> alpha) {
  double value = 0;
  for (std::size_t r = 0; r < b.size(); ++r) {
    value += alpha[r] * b[r];
    for (std::size_t t = 0; t < b.size(); ++t) value -= alpha[r] * gram[r * b.size() + t] * alpha[t] / 2;
  }
  return value;
}

// The largest value over alpha >= 0, sum alpha <= cap, by trying every set of rows that are not zero, with
// the sum below the cap and at it. One of them has the optimum, with rows that are independent.
inline double slack_qp_optimum(std::span<const double> gram, std::span<const double> b, double cap) {
  const std::size_t k = b.size();
  double best = 0;
  for (std::size_t set = 1; set < (std::size_t{1} << k); ++set) {
    std::vector<std::size_t> rows;
    for (std::size_t r = 0; r < k; ++r) {
      if (set >> r & 1) rows.push_back(r);
    }
    for (const bool at_cap : {false, true}) {
      // G alpha + xi 1 = b on these rows, and xi = 0 or sum alpha = cap
      const std::size_t n = rows.size() + (at_cap ? 1 : 0);
      std::vector<std::vector<double>> a(n, std::vector<double>(n));
      std::vector<double> right(n, cap);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t t = 0; t < rows.size(); ++t) a[r][t] = gram[rows[r] * k + rows[t]];
        if (at_cap) a[r][n - 1] = a[n - 1][r] = 1;
        right[r] = b[rows[r]];
      }
      const std::vector<double> solution = solve_linear(a, right);
      if (solution.empty()) continue;
      std::vector<double> alpha(k);
      double sum = 0;
      bool feasible = true;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        alpha[rows[r]] = solution[r];
        sum += solution[r];
        feasible = feasible && solution[r] >= 0;
      }
      if (feasible && sum <= cap * (1 + 1e-12)) best = std::max(best, slack_qp_value(gram, b, alpha));
    }
  }
  return best;
}

}  // namespace espalier::test_support
