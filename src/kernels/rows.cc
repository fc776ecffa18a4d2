// Sums of weight rows, vectorised over labels. A row is a few vectors wide; the vectors of a block of columns
// stay in registers while all attributes of the example are added. Rows of up to two vectors are added in
// several chains, since one chain of dependent additions would wait for its own latency.

#include "kernels/rows.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/partial-inl.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kSoft, std::size_t kVectors, std::size_t kChains, class D, class W, class Real = hn::TFromD<D>>
HWY_INLINE void score_block(D d, const RowTable<const W>& w, const SparseRow& x, std::size_t column,
                            Real scale, Real* s) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> total[kVectors];
  sum_rows<kVectors, kChains, kSoft>(d, w, x, column, total);
  const auto factor = hn::Set(d, scale);
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t at = column + v * lanes;
    if (at >= w.width) break;  // a vector of padding
    const auto scaled = hn::Mul(factor, total[v]);
    if (at + lanes <= w.width) {
      hn::StoreU(scaled, d, s + at);
    } else {
      hn::BlendedStore(scaled, hn::FirstN(d, w.width - at), d, s + at);
    }
  }
}

template <bool kSoft, class D, class W, class Real = hn::TFromD<D>>
HWY_INLINE void score_columns(D d, const RowTable<const W>& w, const SparseRow& x, Real scale, Real* s) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + 4 * lanes <= w.stride; column += 4 * lanes)
    score_block<kSoft, 4, 1>(d, w, x, column, scale, s);
  switch ((w.stride - column) / lanes) {
    case 3:
      score_block<kSoft, 3, 2>(d, w, x, column, scale, s);
      break;
    case 2:
      score_block<kSoft, 2, 2>(d, w, x, column, scale, s);
      break;
    case 1:
      score_block<kSoft, 1, 4>(d, w, x, column, scale, s);
      break;
    default:
      break;
  }
}

template <bool kSome, std::size_t kVectors, class D, class Real = hn::TFromD<D>>
HWY_INLINE void accumulate_block(D d, const RowTable<Real>& w, const SparseRow& x, std::size_t column,
                                 const Real* delta) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> change[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    // Lanes of padding get a delta of zero, so that padding stays zero.
    const std::size_t at = column + v * lanes;
    change[v] = hn::Zero(d);
    if (at + lanes <= w.width) {
      change[v] = hn::LoadU(d, delta + at);
    } else if (at < w.width) {
      change[v] = load_first(d, delta + at, w.width - at, Real{0});
    }
  }
  add_to_rows<kVectors, kSome>(d, w, x, column, change);
}

template <bool kSome, class D, class Real = hn::TFromD<D>>
HWY_INLINE void accumulate_columns(D d, const RowTable<Real>& w, const SparseRow& x, const Real* delta) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + 4 * lanes <= w.stride; column += 4 * lanes)
    accumulate_block<kSome, 4>(d, w, x, column, delta);
  switch ((w.stride - column) / lanes) {
    case 3:
      accumulate_block<kSome, 3>(d, w, x, column, delta);
      break;
    case 2:
      accumulate_block<kSome, 2>(d, w, x, column, delta);
      break;
    case 1:
      accumulate_block<kSome, 1>(d, w, x, column, delta);
      break;
    default:
      break;
  }
}

// Strides are 1, 2, 4 or a multiple of 8 (row_stride), so one of these vector lengths always divides them.
template <bool kSoft, class W, class Real>
HWY_INLINE void score_as(const RowTable<const W>& w, const SparseRow& x, Real scale, Real* s) {
  if (w.stride % 16 == 0) return score_columns<kSoft>(hn::CappedTag<Real, 16>(), w, x, scale, s);
  if (w.stride % 8 == 0) return score_columns<kSoft>(hn::CappedTag<Real, 8>(), w, x, scale, s);
  if (w.stride == 4) return score_columns<kSoft>(hn::CappedTag<Real, 4>(), w, x, scale, s);
  if (w.stride == 2) return score_columns<kSoft>(hn::CappedTag<Real, 2>(), w, x, scale, s);
  score_columns<kSoft>(hn::CappedTag<Real, 1>(), w, x, scale, s);
}
template <class W, class Real>
void score_any(const RowTable<const W>& w, const SparseRow& x, Real scale, Real* s) {
  w.threshold.any() ? score_as<true>(w, x, scale, s) : score_as<false>(w, x, scale, s);
}

template <class Real>
void accumulate_any(const RowTable<Real>& w, const SparseRow& x, const Real* delta) {
  if (w.columns && w.stride % 16 == 0)
    return accumulate_columns<true>(hn::CappedTag<Real, 16>(), w, x, delta);
  if (w.columns) return accumulate_columns<true>(hn::CappedTag<Real, 8>(), w, x, delta);
  if (w.stride % 16 == 0) return accumulate_columns<false>(hn::CappedTag<Real, 16>(), w, x, delta);
  if (w.stride % 8 == 0) return accumulate_columns<false>(hn::CappedTag<Real, 8>(), w, x, delta);
  if (w.stride == 4) return accumulate_columns<false>(hn::CappedTag<Real, 4>(), w, x, delta);
  if (w.stride == 2) return accumulate_columns<false>(hn::CappedTag<Real, 2>(), w, x, delta);
  accumulate_columns<false>(hn::CappedTag<Real, 1>(), w, x, delta);
}

// Weights of the rows to come are asked for this many rows ahead: they lie anywhere in memory.
constexpr std::size_t kRowsAhead = 2;

// To be written, or only read: another thread may have changed them last.
template <int kWrite, class W>
HWY_INLINE void prefetch_weights(const RowTable<W>& w, const SparseRowRange& x, std::size_t r) {
  if (r >= x.size) return;
  const std::size_t bytes = w.stride * sizeof(W);
  for (std::size_t j = x.offsets[r]; j < x.offsets[r + 1]; ++j) {
    const char* row = reinterpret_cast<const char*>(w.data + x.ids[j] * w.stride);
    for (std::size_t b = 0; b < bytes; b += 64) __builtin_prefetch(row + b, kWrite);
  }
}

template <class W, class Real>
void score_range(const RowTable<const W>& w, const SparseRowRange& x, Real scale, Real* s) {
  for (std::size_t r = 0; r < kRowsAhead; ++r) prefetch_weights<0>(w, x, r);
  for (std::size_t r = 0; r < x.size; ++r) {
    prefetch_weights<0>(w, x, r + kRowsAhead);
    score_any(w, x.row(r), scale, s + r * w.width);
  }
}

template <class Real>
void accumulate_range(const RowTable<Real>& w, const SparseRowRange& x, const Real* delta) {
  for (std::size_t r = 0; r < kRowsAhead; ++r) prefetch_weights<1>(w, x, r);
  for (std::size_t r = 0; r < x.size; ++r) {
    prefetch_weights<1>(w, x, r + kRowsAhead);
    accumulate_any(w, x.row(r), delta + r * w.width);
  }
}

// HWY_EXPORT takes plain names.
void score_f32(RowTable<const float> w, SparseRow x, float scale, float* s) { score_any(w, x, scale, s); }
void score_f32_f64(RowTable<const float> w, SparseRow x, double scale, double* s) {
  score_any(w, x, scale, s);
}
void score_f64(RowTable<const double> w, SparseRow x, double scale, double* s) { score_any(w, x, scale, s); }
void accumulate_f32(RowTable<float> w, SparseRow x, const float* delta) { accumulate_any(w, x, delta); }
void accumulate_f64(RowTable<double> w, SparseRow x, const double* delta) { accumulate_any(w, x, delta); }
void score_range_f32(RowTable<const float> w, SparseRowRange x, float scale, float* s) {
  score_range(w, x, scale, s);
}
void score_range_f32_f64(RowTable<const float> w, SparseRowRange x, double scale, double* s) {
  score_range(w, x, scale, s);
}
void score_range_f64(RowTable<const double> w, SparseRowRange x, double scale, double* s) {
  score_range(w, x, scale, s);
}
void accumulate_range_f32(RowTable<float> w, SparseRowRange x, const float* delta) {
  accumulate_range(w, x, delta);
}
void accumulate_range_f64(RowTable<double> w, SparseRowRange x, const double* delta) {
  accumulate_range(w, x, delta);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(score_f32);
HWY_EXPORT(score_f32_f64);
HWY_EXPORT(score_f64);
HWY_EXPORT(accumulate_f32);
HWY_EXPORT(accumulate_f64);
HWY_EXPORT(score_range_f32);
HWY_EXPORT(score_range_f32_f64);
HWY_EXPORT(score_range_f64);
HWY_EXPORT(accumulate_range_f32);
HWY_EXPORT(accumulate_range_f64);

void score_rows(RowTable<const float> w, SparseRow x, float scale, float* s) {
  HWY_DYNAMIC_DISPATCH(score_f32)(w, x, scale, s);
}
void score_rows(RowTable<const float> w, SparseRow x, double scale, double* s) {
  HWY_DYNAMIC_DISPATCH(score_f32_f64)(w, x, scale, s);
}
void score_rows(RowTable<const double> w, SparseRow x, double scale, double* s) {
  HWY_DYNAMIC_DISPATCH(score_f64)(w, x, scale, s);
}
void accumulate_rows(RowTable<float> w, SparseRow x, const float* delta) {
  HWY_DYNAMIC_DISPATCH(accumulate_f32)(w, x, delta);
}
void accumulate_rows(RowTable<double> w, SparseRow x, const double* delta) {
  HWY_DYNAMIC_DISPATCH(accumulate_f64)(w, x, delta);
}
void score_row_range(RowTable<const float> w, SparseRowRange x, float scale, float* s) {
  HWY_DYNAMIC_DISPATCH(score_range_f32)(w, x, scale, s);
}
void score_row_range(RowTable<const float> w, SparseRowRange x, double scale, double* s) {
  HWY_DYNAMIC_DISPATCH(score_range_f32_f64)(w, x, scale, s);
}
void score_row_range(RowTable<const double> w, SparseRowRange x, double scale, double* s) {
  HWY_DYNAMIC_DISPATCH(score_range_f64)(w, x, scale, s);
}
void accumulate_row_range(RowTable<float> w, SparseRowRange x, const float* delta) {
  HWY_DYNAMIC_DISPATCH(accumulate_range_f32)(w, x, delta);
}
void accumulate_row_range(RowTable<double> w, SparseRowRange x, const double* delta) {
  HWY_DYNAMIC_DISPATCH(accumulate_range_f64)(w, x, delta);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
