#pragma once

#include <cstddef>
#include <span>

#include "espalier/base/workspace.h"

namespace espalier {

// Anderson acceleration of a fixed-point iteration x <- G(x) of n numbers (Anderson 1965; Walker and Ni
// 2011). With f = G(x) - x, and the differences dg_k and df_k of G(x) and f between the last few points, the
// next point is
//   G(x) - sum_k c_k dg_k,     c the least squares solution of  f ~ sum_k c_k df_k,
// where f would vanish if G were affine along these differences.
class Anderson {
 public:
  static constexpr std::size_t kDepth = 5;  // differences, at most

  Anderson(std::size_t n, Workspace::Frame& frame);

  // Begins at x, without differences.
  void start(std::span<const double> x);
  // The largest |G(x) - x| of the last point x.
  double residual(std::span<const double> g) const;
  // Replaces G(x) of the last point x by the next point.
  void advance(std::span<double> g);

 private:
  std::span<double> row(std::span<double> rows, std::size_t k) const { return rows.subspan(k * n_, n_); }
  bool solve(std::span<double> c) const;

  std::size_t n_;
  std::span<double> x_, last_g_, last_f_, dg_, df_;
  double gram_[kDepth][kDepth] = {}, product_[kDepth] = {};  // df_k.df_l, df_k.f
  bool has_last_ = false;
  std::size_t rows_ = 0, next_ = 0;  // differences that there are, and where the next one goes
};

}  // namespace espalier
