// Lines of weights, turned so that any of their places comes first. Included once per SIMD target, hence the
// guard that toggles.
#if defined(ESPALIER_KERNELS_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ESPALIER_KERNELS_LINES_INL_H
#undef ESPALIER_KERNELS_LINES_INL_H
#else
#define ESPALIER_KERNELS_LINES_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/arcs.h"
#include "kernels/shared-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lane k: line[(first + k) mod 16], of a line of 16 values.
template <class D, class W>
HWY_INLINE hn::Vec<D> turned(D d, const W* line, std::uint32_t first) {
  if constexpr (!std::is_same_v<W, hn::TFromD<D>>) {
    return hn::PromoteTo(d, turned(hn::Rebind<W, D>(), line, first));
  } else {
    const hn::RebindToUnsigned<D> numbers;
    using Number = hn::TFromD<decltype(numbers)>;
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
    const auto lane = hn::And(hn::Add(hn::Iota(numbers, 0), hn::Set(numbers, static_cast<Number>(first))),
                              hn::Set(numbers, static_cast<Number>(lanes - 1)));
    if (lanes == kLineOfWeights)
      return hn::TableLookupLanes(load_shared(d, line), hn::IndicesFromVec(d, lane));
    // The vectors in which it begins and ends.
    const std::uint32_t begin = first & (15u - (lanes - 1)), end = (begin + lanes) & 15u;
    const auto both = hn::IfThenElse(hn::FirstN(d, first & (lanes - 1)), load_shared(d, line + end),
                                     load_shared(d, line + begin));
    return hn::TableLookupLanes(both, hn::IndicesFromVec(d, lane));
  }
}

// line[(first + c) mod 16] += row[c]
template <class Real>
HWY_INLINE void add_turned(const Real* row, std::uint32_t first, Real* line) {
  const hn::CappedTag<Real, kLineOfWeights> d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  for (std::uint32_t at = 0; at < kLineOfWeights; at += lanes) {
    const auto here = turned(d, row, at - first);
    store_shared(hn::Add(load_shared(d, line + at), here), d, line + at);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
