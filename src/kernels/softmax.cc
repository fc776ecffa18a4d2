// Softmax, vectorised over labels.

#include "kernels/softmax.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class Real = hn::TFromD<D>>
HWY_INLINE double softmax_lanes(D d, const Real* s, std::size_t n, Real* mu) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = n / lanes * lanes;
  const auto tail = hn::FirstN(d, n - whole);
  constexpr Real kLowest = -std::numeric_limits<Real>::infinity();
  // In the last, partial vector the lanes that do not exist count as -infinity, whose exponential is zero.
  const auto last = [&] { return load_first(d, s + whole, n - whole, kLowest); };

  V maximum = hn::Set(d, kLowest);
  for (std::size_t k = 0; k < whole; k += lanes) maximum = hn::Max(maximum, hn::LoadU(d, s + k));
  if (whole < n) maximum = hn::Max(maximum, last());
  maximum = hn::MaxOfLanes(d, maximum);

  // Highway's Exp(-infinity) is zero, but only after arithmetic on infinities: keep them out of it.
  const auto exponential = [&](V v) {
    const V x = hn::Sub(v, maximum);
    return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, static_cast<Real>(sizeof(Real) == 4 ? -104 : -746))),
                              hn::Exp(d, x));
  };
  // Sums of many small numbers lose digits, so lanes are summed for a block at a time and blocks in double.
  constexpr std::size_t kVectorsPerBlock = 64;
  double total = 0;
  for (std::size_t k = 0; k < whole;) {
    V sum = hn::Zero(d);
    for (const std::size_t end = std::min(whole, k + kVectorsPerBlock * lanes); k < end; k += lanes) {
      const V e = exponential(hn::LoadU(d, s + k));
      hn::StoreU(e, d, mu + k);
      sum = hn::Add(sum, e);
    }
    total += hn::GetLane(hn::SumOfLanes(d, sum));
  }
  if (whole < n) {
    const V e = exponential(last());
    hn::BlendedStore(e, tail, d, mu + whole);
    total += hn::GetLane(hn::SumOfLanes(d, e));
  }
  const V inverse = hn::Set(d, static_cast<Real>(1.0 / total));
  for (std::size_t k = 0; k < whole; k += lanes)
    hn::StoreU(hn::Mul(inverse, hn::LoadU(d, mu + k)), d, mu + k);
  for (std::size_t k = whole; k < n; ++k) mu[k] *= static_cast<Real>(1.0 / total);
  return static_cast<double>(hn::GetLane(maximum)) + std::log(total);
}

double softmax_f32(const float* s, std::size_t n, float* mu) {
  // NOLINTNEXTLINE(bugprone-branch-clone): the two are the same only where vectors are short
  return n > 8 ? softmax_lanes(hn::CappedTag<float, 16>(), s, n, mu)
               : softmax_lanes(hn::CappedTag<float, 8>(), s, n, mu);
}
double softmax_f64(const double* s, std::size_t n, double* mu) {
  return softmax_lanes(hn::CappedTag<double, 8>(), s, n, mu);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(softmax_f32);
HWY_EXPORT(softmax_f64);

double softmax(const float* s, std::size_t n, float* mu) {
  return HWY_DYNAMIC_DISPATCH(softmax_f32)(s, n, mu);
}
double softmax(const double* s, std::size_t n, double* mu) {
  return HWY_DYNAMIC_DISPATCH(softmax_f64)(s, n, mu);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
