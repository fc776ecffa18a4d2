// Rows of a Gram matrix, and their products with a table of coefficients. A block of the product, some rows
// by up to four vectors of columns, stays in registers while all nodes are added to it: each vector of
// coefficients that is loaded counts for all of the rows.

#include "kernels/gram.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gram.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/shared-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Nodes = hn::CappedTag<float, kNodesTogether>;

void add_scaled_f32(float x, const float* column, float* out, std::size_t n) {
  const Nodes d;
  const auto factor = hn::Set(d, x);
  for (std::size_t v = 0; v < n; v += hn::Lanes(d)) {
    hn::Store(hn::MulAdd(factor, hn::Load(d, column + v), hn::Load(d, out + v)), d, out + v);
  }
}

void polynomial_f32(float scale, float constant, int degree, float* k, std::size_t n) {
  const Nodes d;
  const auto factor = hn::Set(d, scale), shift = hn::Set(d, constant);
  for (std::size_t v = 0; v < n; v += hn::Lanes(d)) {
    const auto base = hn::MulAdd(factor, hn::Load(d, k + v), shift);
    auto power = base;
    for (int p = 1; p < degree; ++p) power = hn::Mul(power, base);
    hn::Store(power, d, k + v);
  }
}

void gaussian_f32(float gamma, float norm, const float* norms, float* k, std::size_t n) {
  const Nodes d;
  const auto factor = hn::Set(d, -gamma), own = hn::Set(d, norm), twice = hn::Set(d, 2.0f);
  // Below this, exp is smaller than any normal float, and Highway's is not made for it.
  const auto lowest = hn::Set(d, -87.0f);
  for (std::size_t v = 0; v < n; v += hn::Lanes(d)) {
    const auto sum = hn::Add(own, hn::Load(d, norms + v));
    const auto squared = hn::Max(hn::Zero(d), hn::NegMulAdd(twice, hn::Load(d, k + v), sum));
    const auto exponent = hn::Mul(factor, squared);
    const auto value = hn::Exp(d, hn::Max(exponent, lowest));
    hn::Store(hn::IfThenElseZero(hn::Ge(exponent, lowest), value), d, k + v);
  }
}

// Rows first to first + kRows - 1, kVectors vectors of columns from `column` on.
template <std::size_t kRows, std::size_t kVectors, class D, class W, class Real = hn::TFromD<D>>
HWY_INLINE void score_block(D d, const RowTable<const W>& w, const GramRows& gram, std::size_t first,
                            std::size_t column, Real scale, Real* s) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
  for (auto& row : sum) {
    for (auto& v : row) v = hn::Zero(d);
  }
  for (std::size_t j = 0; j < gram.size; ++j) {
    const std::size_t node = gram.nodes ? gram.nodes[j] : j;
    const W* row = w.data + node * w.stride + column;
    V k[kRows];
    for (std::size_t r = 0; r < kRows; ++r) k[r] = hn::Set(d, static_cast<Real>(gram.rows[first + r][node]));
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V coefficients = load_as(d, row + v * lanes);
      for (std::size_t r = 0; r < kRows; ++r) sum[r][v] = hn::MulAdd(k[r], coefficients, sum[r][v]);
    }
  }
  const V factor = hn::Set(d, scale);
  for (std::size_t r = 0; r < kRows; ++r) {
    Real* to = s + (first + r) * w.width;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = column + v * lanes;
      if (at >= w.width) break;  // a vector of padding
      const V total = hn::Mul(factor, sum[r][v]);
      if (at + lanes <= w.width) {
        hn::StoreU(total, d, to + at);
      } else {
        hn::BlendedStore(total, hn::FirstN(d, w.width - at), d, to + at);
      }
    }
  }
}

// All columns of a stride of kStride, or of any multiple of the vectors' length where that is 0: blocks that
// a stride never has are not compiled, which takes long.
template <std::size_t kStride, std::size_t kRows, class D, class W, class Real = hn::TFromD<D>>
HWY_INLINE void score_columns(D d, const RowTable<const W>& w, const GramRows& gram, std::size_t first,
                              Real scale, Real* s) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  if constexpr (kStride != 0 && kStride <= 4 * kLanes) {
    score_block<kRows, kStride / kLanes>(d, w, gram, first, 0, scale, s);
  } else {
    std::size_t column = 0;
    for (; column + 4 * kLanes <= w.stride; column += 4 * kLanes)
      score_block<kRows, 4>(d, w, gram, first, column, scale, s);
    switch ((w.stride - column) / kLanes) {
      case 3:
        score_block<kRows, 3>(d, w, gram, first, column, scale, s);
        break;
      case 2:
        score_block<kRows, 2>(d, w, gram, first, column, scale, s);
        break;
      case 1:
        score_block<kRows, 1>(d, w, gram, first, column, scale, s);
        break;
      default:
        break;
    }
  }
}

template <std::size_t kStride, class D, class W, class Real = hn::TFromD<D>>
HWY_INLINE void score_rows_of(D d, const RowTable<const W>& w, const GramRows& gram, Real scale, Real* s) {
  // As many as registers have room for.
  constexpr std::size_t kRows = HWY_CAP_GE512 ? 4 : 2;
  std::size_t first = 0;
  for (; first + kRows <= gram.num_rows; first += kRows)
    score_columns<kStride, kRows>(d, w, gram, first, scale, s);
  for (; first < gram.num_rows; ++first) score_columns<kStride, 1>(d, w, gram, first, scale, s);
}

// Strides are 1, 2, 4 or a multiple of 8 (row_stride), so one of these vector lengths always divides them.
template <class W, class Real>
void score_any(const RowTable<const W>& w, const GramRows& gram, Real scale, Real* s) {
  constexpr std::size_t kLongest = hn::MaxLanes(hn::ScalableTag<Real>());
  if (kLongest > 8 && w.stride % 16 == 0)
    return score_rows_of<0>(hn::CappedTag<Real, 16>(), w, gram, scale, s);
  if (w.stride % 8 == 0) return score_rows_of<0>(hn::CappedTag<Real, 8>(), w, gram, scale, s);
  if (w.stride == 4) return score_rows_of<4>(hn::CappedTag<Real, 4>(), w, gram, scale, s);
  if (w.stride == 2) return score_rows_of<2>(hn::CappedTag<Real, 2>(), w, gram, scale, s);
  score_rows_of<1>(hn::CappedTag<Real, 1>(), w, gram, scale, s);
}

void score_f32(RowTable<const float> w, const GramRows& gram, float scale, float* s) {
  score_any(w, gram, scale, s);
}
void score_f32_f64(RowTable<const float> w, const GramRows& gram, double scale, double* s) {
  score_any(w, gram, scale, s);
}
void score_f64(RowTable<const double> w, const GramRows& gram, double scale, double* s) {
  score_any(w, gram, scale, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(add_scaled_f32);
HWY_EXPORT(polynomial_f32);
HWY_EXPORT(gaussian_f32);
HWY_EXPORT(score_f32);
HWY_EXPORT(score_f32_f64);
HWY_EXPORT(score_f64);

void add_scaled(float x, const float* column, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_scaled_f32)(x, column, out, n);
}
void to_polynomial(float scale, float constant, int degree, float* k, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(polynomial_f32)(scale, constant, degree, k, n);
}
void to_gaussian(float gamma, float norm, const float* norms, float* k, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(gaussian_f32)(gamma, norm, norms, k, n);
}
void score_gram(RowTable<const float> w, const GramRows& gram, float scale, float* s) {
  HWY_DYNAMIC_DISPATCH(score_f32)(w, gram, scale, s);
}
void score_gram(RowTable<const float> w, const GramRows& gram, double scale, double* s) {
  HWY_DYNAMIC_DISPATCH(score_f32_f64)(w, gram, scale, s);
}
void score_gram(RowTable<const double> w, const GramRows& gram, double scale, double* s) {
  HWY_DYNAMIC_DISPATCH(score_f64)(w, gram, scale, s);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
