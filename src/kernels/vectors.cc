// Sums over vectors, with as many partial sums in double precision as a vector has lanes.

#include "kernels/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vectors.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Floats = hn::Rebind<float, Doubles>;  // as many floats as there are doubles in a vector

// Calls step(k, load, count) for each vector of n elements from k on, where load(p) gives the lanes p[k], p[k
// + 1], ... and zeros after the end; count of them exist.
template <class D, class Step, class Real = hn::TFromD<D>>
HWY_INLINE void for_vectors(D f, std::size_t n, Step step) {
  const std::size_t lanes = hn::Lanes(f);
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    step(
        k, [&](const Real* p) HWY_ATTR { return hn::LoadU(f, p + k); }, lanes);
  }
  if (k < n) {
    step(
        k, [&](const Real* p) HWY_ATTR { return load_first(f, p + k, n - k, Real{0}); }, n - k);
  }
}

double dot_f32(const float* a, const float* b, std::size_t n) {
  const Doubles d;
  auto sum = hn::Zero(d);
  for_vectors(Floats(), n, [&](std::size_t, auto load, std::size_t) HWY_ATTR {
    sum = hn::MulAdd(hn::PromoteTo(d, load(a)), hn::PromoteTo(d, load(b)), sum);
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

double dot_f64(const double* a, const double* b, std::size_t n) {
  const Doubles d;
  auto sum = hn::Zero(d);
  for_vectors(d, n,
              [&](std::size_t, auto load, std::size_t) HWY_ATTR { sum = hn::MulAdd(load(a), load(b), sum); });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// `in` is of the lanes of s and mu.
template <class D, class Real = hn::TFromD<D>>
HWY_INLINE ExpectedScore expected(D in, const Real* s, const Real* mu, std::size_t n) {
  const Doubles d;
  auto value = hn::Zero(d), absolute = hn::Zero(d);
  for_vectors(in, n, [&](std::size_t, auto load, std::size_t) HWY_ATTR {
    const auto mass = load(mu);
    const auto score = hn::IfThenElseZero(hn::Gt(mass, hn::Zero(in)), load(s));
    if constexpr (sizeof(Real) == sizeof(double)) {
      value = hn::MulAdd(score, mass, value);
      absolute = hn::MulAdd(hn::Abs(score), mass, absolute);
    } else {
      const auto wide_score = hn::PromoteTo(d, score), wide_mass = hn::PromoteTo(d, mass);
      value = hn::MulAdd(wide_score, wide_mass, value);
      absolute = hn::MulAdd(hn::Abs(wide_score), wide_mass, absolute);
    }
  });
  return {hn::GetLane(hn::SumOfLanes(d, value)), hn::GetLane(hn::SumOfLanes(d, absolute))};
}
ExpectedScore expected_f32(const float* s, const float* mu, std::size_t n) {
  return expected(Floats(), s, mu, n);
}
ExpectedScore expected_f64(const double* s, const double* mu, std::size_t n) {
  return expected(Doubles(), s, mu, n);
}

MarginalChange change_f32(const float* direction, const float* mu, const float* new_mu, float* delta,
                          std::size_t n) {
  const Doubles d;
  const Floats f;
  auto gain = hn::Zero(d), mean = hn::Zero(d), absolute = hn::Zero(d);
  for_vectors(f, n, [&](std::size_t k, auto load, std::size_t count) HWY_ATTR {
    const auto along = hn::PromoteTo(d, load(direction));
    const auto after = load(new_mu);
    const auto difference = hn::Sub(load(mu), after);
    if (count == hn::Lanes(f)) {
      hn::StoreU(difference, f, delta + k);
    } else {
      hn::BlendedStore(difference, hn::FirstN(f, count), f, delta + k);
    }
    gain = hn::NegMulAdd(along, hn::PromoteTo(d, difference), gain);
    mean = hn::MulAdd(along, hn::PromoteTo(d, after), mean);
    absolute = hn::MulAdd(hn::Abs(along), hn::PromoteTo(d, after), absolute);
  });
  return {hn::GetLane(hn::SumOfLanes(d, gain)), hn::GetLane(hn::SumOfLanes(d, mean)),
          hn::GetLane(hn::SumOfLanes(d, absolute))};
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(dot_f32);
HWY_EXPORT(dot_f64);
HWY_EXPORT(expected_f32);
HWY_EXPORT(expected_f64);
HWY_EXPORT(change_f32);

double dot(const float* a, const float* b, std::size_t n) { return HWY_DYNAMIC_DISPATCH(dot_f32)(a, b, n); }
double dot(const double* a, const double* b, std::size_t n) { return HWY_DYNAMIC_DISPATCH(dot_f64)(a, b, n); }
ExpectedScore expected_score(const float* s, const float* mu, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(expected_f32)(s, mu, n);
}
ExpectedScore expected_score(const double* s, const double* mu, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(expected_f64)(s, mu, n);
}
double squared_norm(const float* a, std::size_t n) { return dot(a, a, n); }
MarginalChange change_along(const float* d, const float* mu, const float* new_mu, float* delta,
                            std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(change_f32)(d, mu, new_mu, delta, n);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
