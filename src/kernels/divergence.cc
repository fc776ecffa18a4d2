// Divergences along the line between two distributions, with Highway's logarithm.

#include "kernels/divergence.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/divergence.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 8>;

DivergenceTerms divergence_f32(const float* p, const float* q, float step, std::size_t n) {
  const Floats f;
  const std::size_t lanes = hn::Lanes(f);
  const auto eta = hn::Set(f, step), left = hn::Set(f, 1 - step), least = hn::Set(f, kLeastMass);
  const auto one = hn::Set(f, 1.0f), smallest = hn::Set(f, kSmallestRatio);
  // Sums of many terms lose digits, so lanes are summed for a block at a time and blocks in double.
  constexpr std::size_t kVectorsPerBlock = 64;
  DivergenceTerms sum;
  auto value = hn::Zero(f), first = hn::Zero(f), second = hn::Zero(f);
  const auto add = [&](hn::Vec<Floats> from, hn::Vec<Floats> to) HWY_ATTR {
    const auto d = hn::Sub(to, from);
    const auto x = hn::MulAdd(eta, to, hn::Mul(left, from));  // from + eta d would lose small masses
    const auto counts = hn::Ge(x, least);
    if (hn::AllFalse(f, counts)) return;
    const auto inverse = hn::IfThenElseZero(counts, hn::Div(one, x));
    // What does not count has a ratio of one.
    const auto ratio = hn::IfThenElse(counts, hn::Max(hn::Mul(to, inverse), smallest), one);
    const auto log = hn::Log(f, ratio);
    value = hn::NegMulAdd(x, log, value);
    first = hn::NegMulAdd(d, log, first);
    second = hn::MulAdd(hn::Mul(d, d), inverse, second);
  };
  for (std::size_t k = 0; k < n;) {
    const std::size_t end = std::min(n, k + kVectorsPerBlock * lanes);
    for (; k + lanes <= end; k += lanes) add(hn::LoadU(f, p + k), hn::LoadU(f, q + k));
    if (k < end) {
      add(load_first(f, p + k, end - k, 0.0f), load_first(f, q + k, end - k, 0.0f));
      k = end;
    }
    sum.value += hn::GetLane(hn::SumOfLanes(f, value));
    sum.first += hn::GetLane(hn::SumOfLanes(f, first));
    sum.second += hn::GetLane(hn::SumOfLanes(f, second));
    value = first = second = hn::Zero(f);
  }
  return sum;
}

void mix_f32(float* p, const float* q, float step, std::size_t n) {
  const Floats f;
  const std::size_t lanes = hn::Lanes(f);
  const auto eta = hn::Set(f, step), left = hn::Set(f, 1 - step);
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes)
    hn::StoreU(hn::MulAdd(eta, hn::LoadU(f, q + k), hn::Mul(left, hn::LoadU(f, p + k))), f, p + k);
  for (; k < n; ++k) p[k] = (1 - step) * p[k] + step * q[k];
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(divergence_f32);
HWY_EXPORT(mix_f32);

DivergenceTerms divergence_along(const float* p, const float* q, float step, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(divergence_f32)(p, q, step, n);
}
void mix(float* p, const float* q, float step, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(mix_f32)(p, q, step, n);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
