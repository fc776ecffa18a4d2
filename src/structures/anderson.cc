#include "structures/anderson.h"

#include <algorithm>
#include <cmath>

#include "kernels/vectors.h"

namespace espalier {

Anderson::Anderson(std::size_t n, Workspace::Frame& frame)
    : n_(n),
      x_(frame.take<double>(n)),
      last_g_(frame.take<double>(n)),
      last_f_(frame.take<double>(n)),
      dg_(frame.take<double>(kDepth * n)),
      df_(frame.take<double>(kDepth * n)) {}

void Anderson::start(std::span<const double> x) {
  std::copy(x.begin(), x.end(), x_.begin());
  has_last_ = false;
  rows_ = next_ = 0;
}

double Anderson::residual(std::span<const double> g) const {
  double largest = 0;
  for (std::size_t k = 0; k < n_; ++k) largest = std::max(largest, std::abs(g[k] - x_[k]));
  return largest;
}

// (df.df + ridge) c = df.f by Cholesky's factors. False where differences are dependent but for rounding, or
// not numbers.
bool Anderson::solve(std::span<double> c) const {
  constexpr double kRidge = 1e-12;
  double l[kDepth][kDepth] = {};
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double left = gram_[i][j] * (i == j ? 1 + kRidge : 1);
      for (std::size_t k = 0; k < j; ++k) left -= l[i][k] * l[j][k];
      if (j < i) {
        l[i][j] = left / l[j][j];
      } else if (left > 0.1 * kRidge * gram_[i][i]) {
        l[i][i] = std::sqrt(left);
      } else {
        return false;
      }
    }
  }
  for (std::size_t i = 0; i < rows_; ++i) {
    c[i] = product_[i];
    for (std::size_t k = 0; k < i; ++k) c[i] -= l[i][k] * c[k];
    c[i] /= l[i][i];
  }
  for (std::size_t i = rows_; i-- > 0;) {
    for (std::size_t k = i + 1; k < rows_; ++k) c[i] -= l[k][i] * c[k];
    c[i] /= l[i][i];
  }
  return std::all_of(c.begin(), c.end(), [](double x) { return std::isfinite(x); });
}

void Anderson::advance(std::span<double> g) {
  // f = G(x) - x, in place of x
  for (std::size_t k = 0; k < n_; ++k) x_[k] = g[k] - x_[k];
  const auto f = x_;
  if (has_last_) {
    const auto dg = row(dg_, next_), df = row(df_, next_);
    for (std::size_t k = 0; k < n_; ++k) {
      dg[k] = g[k] - last_g_[k];
      df[k] = f[k] - last_f_[k];
    }
    rows_ = std::max(rows_, next_ + 1);
    for (std::size_t r = 0; r < rows_; ++r)
      gram_[r][next_] = gram_[next_][r] = kernels::dot(df.data(), row(df_, r).data(), n_);
    next_ = (next_ + 1) % kDepth;
  }
  std::copy(g.begin(), g.end(), last_g_.begin());
  std::copy(f.begin(), f.end(), last_f_.begin());
  has_last_ = true;

  for (std::size_t r = 0; r < rows_; ++r) product_[r] = kernels::dot(row(df_, r).data(), f.data(), n_);
  double coefficients[kDepth] = {};
  const std::span c(coefficients, rows_);
  if (solve(c)) {
    for (std::size_t r = 0; r < rows_; ++r) {
      const auto dg = row(dg_, r);
      for (std::size_t k = 0; k < n_; ++k) g[k] -= c[r] * dg[k];
    }
  } else {
    rows_ = next_ = 0;
  }
  std::copy(g.begin(), g.end(), x_.begin());
}

}  // namespace espalier
