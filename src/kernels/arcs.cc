// Where the weights of an arc's features are, and sums of them.

#include "kernels/arcs.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/arcs.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/lines-inl.h"
#include "kernels/shared-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void arc_places_u32(const ArcKeyRows& keys, const ArcEnd* arcs, std::size_t num_arcs, std::uint32_t* places) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const auto in_space = hn::Set(d, keys.mask), in_line = hn::Set(d, 15u);
  const std::size_t n = keys.n;
  for (std::size_t k = 0; k < num_arcs; ++k, places += 2 * n) {
    const std::uint32_t* head = keys.heads + arcs[k].head * keys.stride;
    const auto column = hn::Set(d, arcs[k].column);
    const auto key = [&](std::size_t t) HWY_ATTR {
      return hn::Xor(hn::LoadU(d, head + t), hn::LoadU(d, keys.modifier + t));
    };
    // Each loop writes a little too much, which the next one overwrites.
    for (std::size_t t = 0; t < n; t += hn::Lanes(d)) hn::StoreU(hn::And(key(t), in_space), d, places + t);
    for (std::size_t t = 0; t < n; t += hn::Lanes(d)) {
      const auto x = key(t);
      const auto moved = hn::And(hn::Add(x, column), in_line);
      hn::StoreU(hn::And(hn::Or(hn::AndNot(in_line, x), moved), in_space), d, places + n + t);
    }
  }
}

template <bool kSoft, class W, class Sum>
HWY_INLINE void sum_rows_softly(const W* w, Sum threshold, const std::uint32_t* places, const RowSum* sums,
                                const ArcEnd* arcs, std::size_t num_arcs, Sum* rows, Sum* totals) {
  const hn::CappedTag<Sum, kLineOfWeights> d;
  constexpr std::size_t kVectors = std::max<std::size_t>(1, kArcColumns / hn::MaxLanes(d));
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const auto limit = hn::Set(d, threshold);
  const auto read = [&](hn::Vec<decltype(d)> weights) HWY_ATTR {
    if constexpr (kSoft) return soft_vector(weights, limit);
    return weights;
  };
  for (std::size_t k = 0; k < num_arcs; ++k) {
    const auto [to, from, n] = sums[k];
    Sum* row = rows + to * kLineOfWeights;
    if (n > 0 || from != to) {
      const Sum* start = rows + from * kLineOfWeights;
      hn::Vec<decltype(d)> sum[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Load(d, start + v * lanes);
      for (std::size_t t = 0; t < n; ++t) {
        const W* line = w + (places[t] & ~15u);
        for (std::uint32_t v = 0; v < kVectors; ++v)
          sum[v] = hn::Add(sum[v], read(turned(d, line, places[t] + v * lanes)));
      }
      for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sum[v], d, row + v * lanes);
      places += n;
    }
    totals[k] += row[0] + row[arcs[k].column];
  }
}

template <class W, class Sum>
HWY_INLINE void sum_rows_by_arc(const W* w, Sum threshold, const std::uint32_t* places, const RowSum* sums,
                                const ArcEnd* arcs, std::size_t num_arcs, Sum* rows, Sum* totals) {
  threshold > 0 ? sum_rows_softly<true>(w, threshold, places, sums, arcs, num_arcs, rows, totals)
                : sum_rows_softly<false>(w, threshold, places, sums, arcs, num_arcs, rows, totals);
}

template <class Real>
HWY_INLINE void add_row_of(const std::uint32_t* places, std::size_t n, const Real* row, Real* w) {
  for (std::size_t t = 0; t < n; ++t) add_turned(row, places[t], w + (places[t] & ~15u));
}

void arc_rows_f32(const float* w, float threshold, const std::uint32_t* places, const RowSum* sums,
                  const ArcEnd* arcs, std::size_t num_arcs, float* rows, float* totals) {
  sum_rows_by_arc(w, threshold, places, sums, arcs, num_arcs, rows, totals);
}
void arc_rows_f64(const double* w, double threshold, const std::uint32_t* places, const RowSum* sums,
                  const ArcEnd* arcs, std::size_t num_arcs, double* rows, double* totals) {
  sum_rows_by_arc(w, threshold, places, sums, arcs, num_arcs, rows, totals);
}
void arc_rows_f32_as_f64(const float* w, double threshold, const std::uint32_t* places, const RowSum* sums,
                         const ArcEnd* arcs, std::size_t num_arcs, double* rows, double* totals) {
  sum_rows_by_arc(w, threshold, places, sums, arcs, num_arcs, rows, totals);
}
void add_row_f32(const std::uint32_t* places, std::size_t n, const float* row, float* w) {
  add_row_of(places, n, row, w);
}
void add_row_f64(const std::uint32_t* places, std::size_t n, const double* row, double* w) {
  add_row_of(places, n, row, w);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(arc_places_u32);
HWY_EXPORT(arc_rows_f32);
HWY_EXPORT(arc_rows_f64);
HWY_EXPORT(arc_rows_f32_as_f64);
HWY_EXPORT(add_row_f32);
HWY_EXPORT(add_row_f64);

void arc_places(const ArcKeyRows& keys, const ArcEnd* arcs, std::size_t num_arcs, std::uint32_t* places) {
  HWY_DYNAMIC_DISPATCH(arc_places_u32)(keys, arcs, num_arcs, places);
}
template <>
void sum_rows_of_arcs(const float* w, float threshold, const std::uint32_t* places, const RowSum* sums,
                      const ArcEnd* arcs, std::size_t num_arcs, float* rows, float* totals) {
  HWY_DYNAMIC_DISPATCH(arc_rows_f32)(w, threshold, places, sums, arcs, num_arcs, rows, totals);
}
template <>
void sum_rows_of_arcs(const double* w, double threshold, const std::uint32_t* places, const RowSum* sums,
                      const ArcEnd* arcs, std::size_t num_arcs, double* rows, double* totals) {
  HWY_DYNAMIC_DISPATCH(arc_rows_f64)(w, threshold, places, sums, arcs, num_arcs, rows, totals);
}
template <>
void sum_rows_of_arcs(const float* w, double threshold, const std::uint32_t* places, const RowSum* sums,
                      const ArcEnd* arcs, std::size_t num_arcs, double* rows, double* totals) {
  HWY_DYNAMIC_DISPATCH(arc_rows_f32_as_f64)(w, threshold, places, sums, arcs, num_arcs, rows, totals);
}
template <>
void add_row(const std::uint32_t* places, std::size_t n, const float* row, float* w) {
  HWY_DYNAMIC_DISPATCH(add_row_f32)(places, n, row, w);
}
template <>
void add_row(const std::uint32_t* places, std::size_t n, const double* row, double* w) {
  HWY_DYNAMIC_DISPATCH(add_row_f64)(places, n, row, w);
}

}  // namespace espalier::kernels
#endif
