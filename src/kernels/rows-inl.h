// Sums of weight rows over a block of columns, in registers. Included once per SIMD target, hence the guard
// that toggles.
#if defined(ESPALIER_KERNELS_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ESPALIER_KERNELS_ROWS_INL_H
#undef ESPALIER_KERNELS_ROWS_INL_H
#else
#define ESPALIER_KERNELS_ROWS_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "kernels/rows.h"
#include "kernels/shared-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline float entry(const SparseRow& x, std::size_t j) { return x.values ? x.values[j] : 1.0f; }

// total[v] = sum_j x_j W[id_j], of kVectors vectors of columns from `column` on, in kChains chains; with
// soft(W[id_j]) for kSoft.
template <std::size_t kVectors, std::size_t kChains, bool kSoft = false, class D, class W,
          class Real = hn::TFromD<D>>
HWY_INLINE void sum_rows(D d, const RowTable<const W>& w, const SparseRow& x, std::size_t column,
                         hn::Vec<D>* total) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  V sum[kChains][kVectors];
  for (auto& chain : sum) {
    for (auto& v : chain) v = hn::Zero(d);
  }
  std::size_t j = 0;
  const auto add_row = [&](std::size_t of, V* to) HWY_ATTR {
    const W* row = w.data + x.ids[of] * w.stride + column;
    const V value = hn::Set(d, static_cast<Real>(entry(x, of)));
    if constexpr (kSoft) {
      const V threshold = hn::Set(d, static_cast<Real>(w.threshold.of_row(x.ids[of])));
      for (std::size_t v = 0; v < kVectors; ++v)
        to[v] = hn::MulAdd(value, soft_vector(load_as(d, row + v * lanes), threshold), to[v]);
    } else {
      for (std::size_t v = 0; v < kVectors; ++v)
        to[v] = hn::MulAdd(value, load_as(d, row + v * lanes), to[v]);
    }
  };
  for (; j + kChains <= x.size; j += kChains) {
    for (std::size_t c = 0; c < kChains; ++c) add_row(j + c, sum[c]);
  }
  for (; j < x.size; ++j) add_row(j, sum[0]);
  for (std::size_t v = 0; v < kVectors; ++v) {
    total[v] = sum[0][v];
    for (std::size_t c = 1; c < kChains; ++c) total[v] = hn::Add(total[v], sum[c][v]);
  }
}

// W[id_j] += x_j change, the same columns; for kSome, those of w.columns.
template <std::size_t kVectors, bool kSome = false, class D, class Real = hn::TFromD<D>>
HWY_INLINE void add_to_rows(D d, RowTable<Real> w, SparseRow x, std::size_t column,
                            const hn::Vec<D>* change) {
  // By value: for all that the compiler knows, a store of a vector may change what a reference refers to.
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < x.size; ++j) {
    Real* row = w.data + x.ids[j] * w.stride + column;
    const auto value = hn::Set(d, static_cast<Real>(entry(x, j)));
    for (std::size_t v = 0; v < kVectors; ++v) {
      auto of_row = change[v];
      if constexpr (kSome) {
        const std::uint64_t bits = w.columns[x.ids[j]] >> (column + v * lanes);
        of_row =
            hn::IfThenElseZero(hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits)), of_row);
      }
      store_shared(hn::MulAdd(value, of_row, load_shared(d, row + v * lanes)), d, row + v * lanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
