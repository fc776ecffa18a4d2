// Loads of the first n lanes of a vector. Included once per SIMD target, hence the guard that toggles.
#if defined(ESPALIER_KERNELS_PARTIAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ESPALIER_KERNELS_PARTIAL_INL_H
#undef ESPALIER_KERNELS_PARTIAL_INL_H
#else
#define ESPALIER_KERNELS_PARTIAL_INL_H
#endif

#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {

// The first n lanes from memory of any alignment, `filler` in the others. Highway's own MaskedLoad needs an
// aligned address and reads the whole vector wherever the machine has no masked loads, so there the lanes go
// through a buffer.
template <class D, class Real = hwy::HWY_NAMESPACE::TFromD<D>>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, const Real* from, std::size_t n, Real filler) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2  // AVX2 lacks masked loads of small integers only
  HWY_ALIGN Real buffer[HWY_MAX_BYTES / sizeof(Real)];
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < lanes; ++k) buffer[k] = k < n ? from[k] : filler;
  return hn::Load(d, buffer);
#else
  const auto first = hn::FirstN(d, n);
  return hn::IfThenElse(first, hn::MaskedLoad(first, d, from), hn::Set(d, filler));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#endif
