// Lists of changes of weights, one after the other. Weights lie anywhere in memory, and what is added was
// written by another core, so both are asked for well ahead.

#include "kernels/changes.h"

#include "espalier/base/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/changes.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/lines-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many vectors of up to kLanes values as the rest of the change has; returns where they end.
template <std::size_t kLanes, bool kSome, class Real>
HWY_INLINE std::size_t add_vectors(std::size_t at, std::size_t width, Real scale, std::uint64_t columns,
                                   const Real* x, Real* w) {
  const hn::CappedTag<Real, kLanes> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);
  for (; at + lanes <= width; at += lanes) {
    auto change = hn::LoadU(d, x + at);
    if constexpr (kSome) {
      const std::uint64_t bits = columns >> at;
      change = hn::IfThenElseZero(hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits)), change);
    }
    hn::StoreU(hn::MulAdd(factor, change, hn::LoadU(d, w + at)), d, w + at);
  }
  return at;
}

template <bool kSome, class Real>
HWY_INLINE void add_change(const RowChange& change, std::uint64_t columns, const Real* x, Real* w) {
  const std::size_t width = change.width;
  const auto scale = static_cast<Real>(change.scale);
  std::size_t at = 0;
  if (width >= 8) {
    at = add_vectors<16, kSome>(at, width, scale, columns, x, w);
    at = add_vectors<8, kSome>(at, width, scale, columns, x, w);
    if (at == width) return;
  }
  at = add_vectors<4, kSome>(at, width, scale, columns, x, w);
  at = add_vectors<2, kSome>(at, width, scale, columns, x, w);
  add_vectors<1, kSome>(at, width, scale, columns, x, w);
}

template <bool kSome, class Real>
HWY_INLINE void add_list(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const Real* x,
                         Real* w) {
  constexpr std::size_t kAhead = 48, kInLine = 64 / sizeof(Real);
  const auto ask_for = [&](const RowChange& change) HWY_ATTR {
    const std::size_t place = change.place, width = change.width;
    const Real* of_x = x + change.source;
    prefetch_to_write(w + place);
    __builtin_prefetch(of_x);
    for (std::size_t k = kInLine; k < width; k += kInLine) {
      prefetch_to_write(w + place + k);
      __builtin_prefetch(of_x + k);
    }
    // In double precision a line of weights is two of the machine's.
    if (sizeof(Real) > sizeof(float) && width == kTurnedLine) prefetch_to_write(w + (place ^ kInLine));
  };
  for (std::size_t j = 0; j < kAhead && j < n; ++j) ask_for(changes[j]);
  for (std::size_t j = 0; j < n; ++j) {
    if (j + kAhead < n) ask_for(changes[j + kAhead]);
    const RowChange change = changes[j];
    const std::size_t place = change.place;
    if (change.width == kTurnedLine) {
      add_turned(x + change.source, static_cast<std::uint32_t>(place),
                 w + place / kLineOfWeights * kLineOfWeights);
    } else {
      add_change<kSome>(change, kSome ? columns[j] : 0, x + change.source, w + place);
    }
  }
}

template <class Real>
void add_changes_of(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const Real* x,
                    Real* w) {
  columns ? add_list<true>(changes, columns, n, x, w) : add_list<false>(changes, columns, n, x, w);
}

// Strides are 1, 2, 4 or a multiple of 8 (row_stride).
template <std::size_t kLanes, class Real>
HWY_INLINE void add_owned_rows(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride,
                               const Real* x, Real* w) {
  // Whoever calls has asked for the first ones of a long list only.
  constexpr std::size_t kAhead = 32, kInLine = 64 / sizeof(Real);
  const hn::CappedTag<Real, kLanes> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < rows.size; ++j) {
    if (j + kAhead < rows.size && moves[rows.tokens[j + kAhead]]) {
      const Real* ahead = w + rows.ids[j + kAhead] * stride;
      for (std::size_t k = 0; k < stride; k += kInLine) prefetch_to_write(ahead + k);
    }
    const std::size_t token = rows.tokens[j];
    if (!moves[token]) continue;
    const Real* from = x + token * stride;
    Real* to = w + rows.ids[j] * stride;
    for (std::size_t k = 0; k < stride; k += lanes)
      hn::StoreU(hn::Add(hn::LoadU(d, to + k), hn::LoadU(d, from + k)), d, to + k);
  }
}
template <class Real>
void add_owned_of(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride, const Real* x,
                  Real* w) {
  if (stride % 16 == 0) return add_owned_rows<16>(rows, moves, stride, x, w);
  if (stride % 8 == 0) return add_owned_rows<8>(rows, moves, stride, x, w);
  if (stride == 4) return add_owned_rows<4>(rows, moves, stride, x, w);
  if (stride == 2) return add_owned_rows<2>(rows, moves, stride, x, w);
  add_owned_rows<1>(rows, moves, stride, x, w);
}

// HWY_EXPORT takes plain names.
void add_owned_f32(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride, const float* x,
                   float* w) {
  add_owned_of(rows, moves, stride, x, w);
}
void add_owned_f64(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride, const double* x,
                   double* w) {
  add_owned_of(rows, moves, stride, x, w);
}
void add_changes_f32(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const float* x,
                     float* w) {
  add_changes_of(changes, columns, n, x, w);
}
void add_changes_f64(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const double* x,
                     double* w) {
  add_changes_of(changes, columns, n, x, w);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(add_owned_f32);
HWY_EXPORT(add_owned_f64);
HWY_EXPORT(add_changes_f32);
HWY_EXPORT(add_changes_f64);

template <>
void add_owned(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride, const float* x,
               float* w) {
  HWY_DYNAMIC_DISPATCH(add_owned_f32)(rows, moves, stride, x, w);
}
template <>
void add_owned(const OwnedTokens& rows, const std::uint8_t* moves, std::size_t stride, const double* x,
               double* w) {
  HWY_DYNAMIC_DISPATCH(add_owned_f64)(rows, moves, stride, x, w);
}
template <>
void add_changes(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const float* x,
                 float* w) {
  HWY_DYNAMIC_DISPATCH(add_changes_f32)(changes, columns, n, x, w);
}
template <>
void add_changes(const RowChange* changes, const std::uint64_t* columns, std::size_t n, const double* x,
                 double* w) {
  HWY_DYNAMIC_DISPATCH(add_changes_f64)(changes, columns, n, x, w);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
