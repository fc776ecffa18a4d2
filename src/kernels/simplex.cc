// The maximiser of a separable quadratic over the simplex, vectorised over labels.
//
// tau is the root of  f(tau) = sum_k max(b_k - tau, 0) - 1,  which is convex, falls and is linear between two
// b. Newton's method from below, where f >= 0, rises to the root and is there when a step leaves the set of b
// above tau as it was. It begins at max b - 1: of many labels, only a few are above that.
//
// In floats, b and tau would know a small mass only to the digits of a large one. So it is written for what
// changes: with a_k = (max s - s_k)/q and t = -tau (less the same for all labels),
//   mu_k - mu'_k = a_k - t  for labels S above tau, mu_k for the others,
//                           t = (sum_S a_k + sum_others mu_k) / |S|,
// where everything is small when the step is.

#include "kernels/simplex.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simplex.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/partial-inl.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Which lanes of vector v are among n.
template <class D>
HWY_INLINE hn::Mask<D> labels(D d, std::size_t v, std::size_t n) {
  const std::size_t begin = v * hn::Lanes(d);
  return hn::FirstN(d, n > begin ? n - begin : 0);
}

// Vector v of n elements; `filler` after them.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* from, std::size_t v, std::size_t n, float filler) {
  const std::size_t lanes = hn::Lanes(d), begin = v * lanes;
  if (begin + lanes <= n) return hn::LoadU(d, from + begin);
  return load_first(d, from + begin, n > begin ? n - begin : 0, filler);
}

template <class D>
HWY_INLINE void store(hn::Vec<D> vector, D d, float* to, std::size_t v, std::size_t n) {
  const std::size_t lanes = hn::Lanes(d), begin = v * lanes;
  if (begin + lanes <= n) {
    hn::StoreU(vector, d, to + begin);
  } else if (begin < n) {
    hn::BlendedStore(vector, hn::FirstN(d, n - begin), d, to + begin);
  }
}

// The vectors that n labels take: a number that the compiler knows, so that they are in registers,
template <class D, std::size_t kVectors>
struct InRegisters {
  hn::Vec<D> vectors[kVectors];
  static constexpr std::size_t size() { return kVectors; }
  HWY_INLINE hn::Vec<D> get(std::size_t v) const { return vectors[v]; }
  HWY_INLINE void set(std::size_t v, hn::Vec<D> to) { vectors[v] = to; }
};
// or any, where they are in memory.
template <class D>
struct InMemory {
  float* values;
  std::size_t n;
  HWY_INLINE std::size_t size() const { return (n + hn::Lanes(D()) - 1) / hn::Lanes(D()); }
  HWY_INLINE hn::Vec<D> get(std::size_t v) const { return load(D(), values, v, n, 0.0f); }
  HWY_INLINE void set(std::size_t v, hn::Vec<D> to) { store(to, D(), values, v, n); }
};

// mu <- mu'. Scores are -infinity in lanes without a label. `change` is scratch, and mu - mu' where that is
// not zero.
template <class D, class Scores, class Change>
HWY_INLINE SimplexStep maximise(D d, const Scores& scores, float q, std::size_t n, float* mu,
                                Change& change) {
  using V = hn::Vec<D>;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const V zero = hn::Zero(d);
  V highest = hn::Set(d, kLowest);
  for (std::size_t v = 0; v < change.size(); ++v) highest = hn::Max(highest, scores(v));
  highest = hn::MaxOfLanes(d, highest);

  // max s - s.mu as a sum of what is not below zero, so that it is exactly zero where all mass is on best
  // labels.
  const V inverse = hn::Set(d, 1 / std::max(q, std::numeric_limits<float>::min()));
  V gaps = zero, largest = hn::Set(d, kLowest);
  for (std::size_t v = 0; v < change.size(); ++v) {
    const V m = load(d, mu, v, n, 0.0f);
    const V behind = hn::Sub(highest, scores(v));
    // 0 * infinity is 0: a label without mass has no share.
    gaps = hn::Add(gaps, hn::IfThenElseZero(hn::Gt(m, zero), hn::Mul(m, behind)));
    const V a = hn::Mul(behind, inverse);
    largest = hn::Max(largest, hn::Sub(m, a));
    change.set(v, a);
  }
  SimplexStep step;
  if (hn::AllFalse(d, hn::Gt(gaps, zero))) return step;
  step.gap = hn::GetLane(hn::SumOfLanes(d, gaps));

  V t = hn::Sub(hn::Set(d, 1.0f), hn::MaxOfLanes(d, largest));
  for (std::size_t before = n + 1;;) {
    std::size_t above = 0;
    V sum = zero;
    for (std::size_t v = 0; v < change.size(); ++v) {
      const V m = load(d, mu, v, n, 0.0f), a = change.get(v);
      const auto is_above = hn::And(labels(d, v, n), hn::Gt(hn::Add(hn::Sub(m, a), t), zero));
      sum = hn::Add(sum, hn::IfThenElse(is_above, a, m));
      above += hn::CountTrue(d, is_above);
    }
    if (above == 0) return {};  // numbers that are not finite
    if (above >= before) break;
    t = hn::Mul(hn::SumOfLanes(d, sum), hn::Set(d, 1 / static_cast<float>(above)));
    before = above;
  }

  // s.(mu' - mu) - q/2 |mu' - mu|^2
  V gain = zero;
  auto moves = hn::Lt(zero, zero);
  const V half = hn::Set(d, q / 2), least = hn::Set(d, kLeastMove);
  for (std::size_t v = 0; v < change.size(); ++v) {
    const V m = load(d, mu, v, n, 0.0f), a = change.get(v);
    const auto is_above = hn::And(labels(d, v, n), hn::Gt(hn::Add(hn::Sub(m, a), t), zero));
    const V delta = hn::IfThenElse(is_above, hn::Sub(a, t), m);
    moves = hn::Or(moves, hn::Gt(hn::Abs(delta), hn::Mul(least, m)));
    const V behind = hn::Sub(highest, scores(v));
    gain = hn::Add(
        gain, hn::IfThenElseZero(hn::Ne(delta, zero), hn::Mul(delta, hn::NegMulAdd(half, delta, behind))));
    change.set(v, delta);
  }
  if (hn::AllFalse(d, moves)) return step;
  for (std::size_t v = 0; v < change.size(); ++v) {
    const V after = hn::Sub(load(d, mu, v, n, 0.0f), change.get(v));
    store(hn::Max(after, zero), d, mu, v, n);
  }
  step.gain = hn::GetLane(hn::SumOfLanes(d, gain));
  step.moved = true;
  return step;
}

template <class D>
HWY_INLINE SimplexStep maximise_in_memory(D d, const float* s, float q, std::size_t n, float* mu,
                                          float* delta) {
  InMemory<D> change{delta, n};
  const auto scores = [&](std::size_t v)
                          HWY_ATTR { return load(d, s, v, n, -std::numeric_limits<float>::infinity()); };
  return maximise(d, scores, q, n, mu, change);
}

SimplexStep maximise_f32(const float* s, float q, std::size_t n, float* mu, float* delta) {
  // NOLINTNEXTLINE(bugprone-branch-clone): the two are the same only where vectors are short
  return n > 8 ? maximise_in_memory(hn::CappedTag<float, 16>(), s, q, n, mu, delta)
               : maximise_in_memory(hn::CappedTag<float, 8>(), s, q, n, mu, delta);
}

template <std::size_t kVectors, std::size_t kChains, class D>
HWY_INLINE SimplexStep maximise_in_registers(D d, const RowTable<float>& rows, const SparseRow& x,
                                             float scale, const LabelCosts& costs, float q, float omega,
                                             float* mu) {
  using V = hn::Vec<D>;
  const std::size_t n = rows.width;
  const RowTable<float> w{rows.data, n, kVectors * hn::Lanes(d)};  // a stride that the compiler knows
  InRegisters<D, kVectors> s, change;
  sum_rows<kVectors, kChains>(d, RowTable<const float>{w.data, w.width, w.stride}, x, 0, s.vectors);
  const V factor = hn::Set(d, scale), dear = hn::Set(d, costs.scale);
  for (std::size_t v = 0; v < kVectors; ++v) {
    V cost = dear;
    if (costs.values) {
      cost = hn::Mul(dear, load(d, costs.values, v, n, 0.0f));
    } else {
      const auto label = hn::Iota(d, static_cast<float>(v * hn::Lanes(d)));
      cost = hn::IfThenZeroElse(hn::Eq(label, hn::Set(d, static_cast<float>(costs.gold))), dear);
    }
    s.vectors[v] = hn::IfThenElse(labels(d, v, n), hn::MulAdd(factor, s.vectors[v], cost),
                                  hn::Set(d, -std::numeric_limits<float>::infinity()));
  }
  const auto scores = [&](std::size_t v) HWY_ATTR { return s.get(v); };
  const SimplexStep step = maximise(d, scores, q, n, mu, change);
  if (step.moved) {
    for (V& c : change.vectors) c = hn::Mul(c, hn::Set(d, omega));
    add_to_rows<kVectors>(d, w, x, 0, change.vectors);
  }
  return step;
}

SimplexStep maximise_by_parts(RowTable<float> w, SparseRow x, float scale, const LabelCosts& costs, float q,
                              float omega, float* mu, float* memory) {
  const std::size_t n = w.width;
  float *s = memory, *delta = memory + n;
  score_rows(RowTable<const float>{w.data, w.width, w.stride}, x, scale, s);
  costs.add_to(s, n);
  const SimplexStep step = maximise_f32(s, q, n, mu, delta);
  if (step.moved) {
    for (std::size_t k = 0; k < n; ++k) delta[k] *= omega;
    accumulate_rows(w, x, delta);
  }
  return step;
}

// A stride is 1, 2, 4 or a multiple of 8 (row_stride). Labels are told apart by floats, which is exact for so
// few.
template <class D>
HWY_INLINE SimplexStep maximise_any(D d, const RowTable<float>& w, const SparseRow& x, float scale,
                                    const LabelCosts& costs, float q, float omega, float* mu, float* memory) {
  switch (w.stride % hn::Lanes(d) == 0 ? w.stride / hn::Lanes(d) : 0) {
    case 1:
      return maximise_in_registers<1, 4>(d, w, x, scale, costs, q, omega, mu);
    case 2:
      return maximise_in_registers<2, 2>(d, w, x, scale, costs, q, omega, mu);
    case 3:
      return maximise_in_registers<3, 2>(d, w, x, scale, costs, q, omega, mu);
    case 4:
      return maximise_in_registers<4, 1>(d, w, x, scale, costs, q, omega, mu);
    default:
      return maximise_by_parts(w, x, scale, costs, q, omega, mu, memory);
  }
}

SimplexStep maximise_rows_f32(RowTable<float> w, SparseRow x, float scale, const LabelCosts& costs, float q,
                              float omega, float* mu, float* memory) {
  if (w.stride % 16 == 0)
    return maximise_any(hn::CappedTag<float, 16>(), w, x, scale, costs, q, omega, mu, memory);
  return maximise_any(hn::CappedTag<float, 8>(), w, x, scale, costs, q, omega, mu, memory);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(maximise_f32);
HWY_EXPORT(maximise_rows_f32);

SimplexStep maximise_on_simplex(const float* s, float q, std::size_t n, float* mu, float* delta) {
  return HWY_DYNAMIC_DISPATCH(maximise_f32)(s, q, n, mu, delta);
}
SimplexStep maximise_over_rows(RowTable<float> w, SparseRow x, float scale, const LabelCosts& costs, float q,
                               float omega, float* mu, float* memory) {
  return HWY_DYNAMIC_DISPATCH(maximise_rows_f32)(w, x, scale, costs, q, omega, mu, memory);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
