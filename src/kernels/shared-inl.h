// Vectors of weights that other threads may be changing, without locks: a value read is one that somebody
// wrote, but two that add to one at the same time may lose an addition.
//
// Every lane is an aligned value of four or eight bytes, which x86-64 and ARM64 load and store as a whole
// also as part of a vector. C++ has no name for that, only for atomics of one value each, which do without
// vectors. So those are what the thread sanitizer sees, and it checks everything else.

#if defined(ESPALIER_KERNELS_SHARED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESPALIER_KERNELS_SHARED_INL_H_
#undef ESPALIER_KERNELS_SHARED_INL_H_
#else
#define ESPALIER_KERNELS_SHARED_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/relaxed.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_shared(D d, const hn::TFromD<D>* from) {
#if ESPALIER_THREAD_SANITIZER
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) lanes[k] = relaxed_load(from + k);
  return hn::Load(d, lanes);
#else
  return hn::Load(d, from);
#endif
}

// A vector of weights in the precision of the sum.
template <class D, class W>
HWY_INLINE hn::Vec<D> load_as(D d, const W* from) {
  if constexpr (std::is_same_v<W, hn::TFromD<D>>) {
    return load_shared(d, from);
  } else {
    return hn::PromoteTo(d, load_shared(hn::Rebind<W, D>(), from));
  }
}

template <class D>
HWY_INLINE void store_shared(hn::Vec<D> v, D d, hn::TFromD<D>* to) {
#if ESPALIER_THREAD_SANITIZER
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) relaxed_store(to + k, lanes[k]);
#else
  hn::Store(v, d, to);
#endif
}

// soft(x, t) of base/soft_threshold.h
template <class V>
HWY_INLINE V soft_vector(V x, V t) {
  return hn::Sub(x, hn::Max(hn::Neg(t), hn::Min(x, t)));
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
