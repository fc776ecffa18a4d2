// What the kernels of chains share. Included once per SIMD target, hence the guard that toggles.
#if defined(ESPALIER_KERNELS_CHAIN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ESPALIER_KERNELS_CHAIN_INL_H
#undef ESPALIER_KERNELS_CHAIN_INL_H
#else
#define ESPALIER_KERNELS_CHAIN_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/chain.h"
#include "kernels/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The larger of the two, and infinity from the first NaN on: hn::Max would forget it with the
// next one.
template <class D>
HWY_INLINE hn::Vec<D> largest_so_far(D d, hn::Vec<D> largest, hn::Vec<D> x) {
  const auto number_or_infinity =
      hn::IfThenElse(hn::Eq(x, x), x, hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity()));
  return hn::IfThenElse(hn::Le(x, largest), largest, number_or_infinity);
}

template <class Real>
struct Range;
template <>
struct Range<float> {
  static constexpr float kLogSmallest = -80;  // kSmallest = 1.8e-35
  static constexpr float kLargest = 1e25f;
};
template <>
struct Range<double> {
  static constexpr double kLogSmallest = -700;  // kSmallest = 1e-304
  static constexpr double kLargest = 1e285;
};

// A row of scores with -infinity behind its end and where `allowed` says so.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void copy_row(D d, const Real* from, std::size_t labels, const std::uint8_t* allowed, Real* to) {
  constexpr Real kExcluded = -std::numeric_limits<Real>::infinity();
  const std::size_t lanes = hn::Lanes(d), stride = chain_stride(labels);
  std::size_t k = 0;
  for (; k + lanes <= labels; k += lanes) hn::Store(hn::LoadU(d, from + k), d, to + k);
  if (k < labels) {
    hn::Store(load_first(d, from + k, labels - k, kExcluded), d, to + k);
    k += lanes;
  }
  for (; k < stride; k += lanes) hn::Store(hn::Set(d, kExcluded), d, to + k);
  if (allowed) {
    for (std::size_t j = 0; j < labels; ++j) {
      if (!allowed[j]) to[j] = kExcluded;
    }
  }
}

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void store_row(D d, const Real* from, std::size_t labels, Real* to) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t k = 0;
  for (; k + lanes <= labels; k += lanes) hn::StoreU(hn::Load(d, from + k), d, to + k);
  if (k < labels) hn::BlendedStore(hn::Load(d, from + k), hn::FirstN(d, labels - k), d, to + k);
}

// x <- exp(x - max x) for n values, n a multiple of the vector; the maximum.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE Real exponentiate(D d, Real* x, std::size_t n) {
  const std::size_t lanes = hn::Lanes(d);
  auto highest = hn::Load(d, x);
  for (std::size_t k = lanes; k < n; k += lanes) highest = hn::Max(highest, hn::Load(d, x + k));
  highest = hn::MaxOfLanes(d, highest);
  const auto smallest = hn::Set(d, Range<Real>::kLogSmallest);
  for (std::size_t k = 0; k < n; k += lanes) {
    const auto shifted = hn::Sub(hn::Load(d, x + k), highest);
    // Infinities stay out of Exp.
    const auto e = hn::Exp(d, hn::Max(shifted, smallest));
    hn::Store(hn::IfThenElseZero(hn::Gt(shifted, smallest), e), d, x + k);
  }
  return hn::GetLane(highest);
}

// kVectors vectors of x'M from `column` on: sums of the rows of M, in kChains chains so that additions do not
// wait for each other.
template <std::size_t kVectors, std::size_t kChains, class D, class Real = hn::TFromD<D>>
HWY_INLINE void product_block(D d, const Real* x, const Real* matrix, std::size_t rows, std::size_t stride,
                              std::size_t column, Real* out) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V sum[kChains][kVectors];
  for (auto& chain : sum) {
    for (auto& v : chain) v = hn::Zero(d);
  }
  const Real* row = matrix + column;
  std::size_t i = 0;
  for (; i + kChains <= rows; i += kChains) {
    for (std::size_t c = 0; c < kChains; ++c, row += stride) {
      const V factor = hn::Set(d, x[i + c]);
      for (std::size_t v = 0; v < kVectors; ++v)
        sum[c][v] = hn::MulAdd(factor, hn::Load(d, row + v * lanes), sum[c][v]);
    }
  }
  for (; i < rows; ++i, row += stride) {
    const V factor = hn::Set(d, x[i]);
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[0][v] = hn::MulAdd(factor, hn::Load(d, row + v * lanes), sum[0][v]);
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    V total = sum[0][v];
    for (std::size_t c = 1; c < kChains; ++c) total = hn::Add(total, sum[c][v]);
    hn::Store(total, d, out + column + v * lanes);
  }
}

// out = x'M, with rows of `stride` elements, a multiple of the vector
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void product(D d, const Real* x, const Real* matrix, std::size_t rows, std::size_t stride,
                        Real* out) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + 4 * lanes <= stride; column += 4 * lanes)
    product_block<4, 2>(d, x, matrix, rows, stride, column, out);
  switch ((stride - column) / lanes) {
    case 3:
      product_block<3, 2>(d, x, matrix, rows, stride, column, out);
      break;
    case 2:
      product_block<2, 4>(d, x, matrix, rows, stride, column, out);
      break;
    case 1:
      product_block<1, 4>(d, x, matrix, rows, stride, column, out);
      break;
    default:
      break;
  }
}

// kRows rows and kVectors vectors of sum_t a_t h_{t+1}', times M. Rows of a, h and M follow each other after
// so many elements.
template <std::size_t kRows, std::size_t kVectors, class D, class Real = hn::TFromD<D>>
HWY_INLINE void counts_block(D d, const Real* a, std::size_t a_stride, const Real* h, std::size_t h_stride,
                             std::size_t steps, std::size_t row, std::size_t column, Real* matrix,
                             std::size_t stride) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
  for (auto& line : sum) {
    for (auto& v : line) v = hn::Zero(d);
  }
  for (std::size_t t = 0; t < steps; ++t) {
    V after[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v)
      after[v] = hn::Load(d, h + (t + 1) * h_stride + column + v * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V before = hn::Set(d, a[t * a_stride + row + r]);
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(before, after[v], sum[r][v]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      Real* at = matrix + (row + r) * stride + column + v * lanes;
      hn::Store(hn::Mul(sum[r][v], hn::Load(d, at)), d, at);
    }
  }
}

template <std::size_t kRows, class D, class Real = hn::TFromD<D>>
HWY_INLINE void counts_rows(D d, const Real* a, std::size_t a_stride, const Real* h, std::size_t h_stride,
                            std::size_t steps, std::size_t row, Real* matrix, std::size_t stride) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + 3 * lanes <= stride; column += 3 * lanes)
    counts_block<kRows, 3>(d, a, a_stride, h, h_stride, steps, row, column, matrix, stride);
  for (; column < stride; column += lanes)
    counts_block<kRows, 1>(d, a, a_stride, h, h_stride, steps, row, column, matrix, stride);
}

// M o sum_t a_t h_{t+1}' in place of M, for `rows` rows of it, where every step has the same table.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void tied_counts(D d, const Real* a, std::size_t a_stride, const Real* h, std::size_t h_stride,
                            std::size_t steps, std::size_t rows, Real* matrix, std::size_t stride) {
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) counts_rows<4>(d, a, a_stride, h, h_stride, steps, row, matrix, stride);
  for (; row < rows; ++row) counts_rows<1>(d, a, a_stride, h, h_stride, steps, row, matrix, stride);
}

// sum += a h', the count of one step.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void add_step(D d, const Real* a, const Real* h, std::size_t rows, Real* sum, std::size_t stride) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto before = hn::Set(d, a[i]);
    for (std::size_t k = 0; k < stride; k += lanes) {
      Real* at = sum + i * stride + k;
      hn::Store(hn::MulAdd(before, hn::Load(d, h + k), hn::Load(d, at)), d, at);
    }
  }
}

template <class Real>
HWY_INLINE std::size_t table_of(const ChainScores<Real>& chain, std::size_t t) {
  return chain.tables ? chain.tables[t - 1] : 0;
}

// The number of steps with table k.
template <class Real>
HWY_INLINE std::size_t steps_with(const ChainScores<Real>& chain, std::size_t k) {
  if (!chain.tables) return chain.length - 1;
  return static_cast<std::size_t>(std::count(chain.tables, chain.tables + chain.length - 1, k));
}

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void copy_nodes(D d, const ChainScores<Real>& chain, Real* rows) {
  const std::size_t stride = chain_stride(chain.labels);
  for (std::size_t t = 0; t < chain.length; ++t) {
    Real* row = rows + t * stride;
    copy_row(d, chain.s + t * chain.labels, chain.labels, t == 0 ? chain.first : nullptr, row);
    if (chain.last && t + 1 == chain.length) {
      for (std::size_t j = 0; j < chain.labels; ++j) {
        if (!chain.last[j]) row[j] = -std::numeric_limits<Real>::infinity();
      }
    }
  }
}

// The sum of a row, which it is divided by.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE Real normalise(D d, Real* row, std::size_t stride) {
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Load(d, row);
  for (std::size_t k = lanes; k < stride; k += lanes) sum = hn::Add(sum, hn::Load(d, row + k));
  sum = hn::SumOfLanes(d, sum);
  const auto inverse = hn::Div(hn::Set(d, Real{1}), sum);
  for (std::size_t k = 0; k < stride; k += lanes)
    hn::Store(hn::Mul(inverse, hn::Load(d, row + k)), d, row + k);
  return hn::GetLane(sum);
}

// A product of many numbers, as a logarithm.
class LogProduct {
 public:
  void times(double factor) {
    const double product = product_ * factor;
    if (product > 1e-200 && product < 1e200) {
      product_ = product;
    } else {
      sum_ += std::log(product_) + std::log(factor);
      product_ = 1;
    }
  }
  double value() const { return sum_ + std::log(product_); }

 private:
  double product_ = 1, sum_ = 0;
};

// out(j) = max_i x(i) + T(i, j)
template <std::size_t kVectors, class D, class Real = hn::TFromD<D>>
HWY_INLINE void best_block(D d, const Real* x, const Real* table, std::size_t rows, std::size_t stride,
                           std::size_t column, Real* out) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> best[kVectors];
  for (auto& v : best) v = hn::Set(d, -std::numeric_limits<Real>::infinity());
  for (std::size_t i = 0; i < rows; ++i) {
    const auto before = hn::Set(d, x[i]);
    const Real* row = table + i * stride + column;
    for (std::size_t v = 0; v < kVectors; ++v)
      best[v] = hn::Max(best[v], hn::Add(before, hn::Load(d, row + v * lanes)));
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::Store(best[v], d, out + column + v * lanes);
}

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE void best_row(D d, const Real* x, const Real* table, std::size_t rows, std::size_t stride,
                         Real* out) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + 3 * lanes <= stride; column += 3 * lanes)
    best_block<3>(d, x, table, rows, stride, column, out);
  for (; column < stride; column += lanes) best_block<1>(d, x, table, rows, stride, column, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#endif
