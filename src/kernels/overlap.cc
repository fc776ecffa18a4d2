// Norms of sums of sparse rows, vectorised over labels.

#include "kernels/overlap.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/overlap.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include "kernels/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The share of kVectors vectors of columns from `column` on; the last of them may be partial.
template <std::size_t kVectors, class D>
HWY_INLINE double norm_of_block(D d, const Overlap& overlap, const float* delta, std::size_t width,
                                std::size_t column) {
  using V = hn::Vec<D>;
  const std::size_t lanes = hn::Lanes(d), end_of_all = overlap.rows * width;
  const std::size_t in_last =
      width - (column + (kVectors - 1) * lanes);  // columns of the last vector, if < lanes
  const bool partial = in_last < lanes;
  const auto first = hn::FirstN(d, partial ? in_last : lanes);
  const auto load_last = [&](std::size_t at) HWY_ATTR {
    if (!partial) return hn::LoadU(d, delta + at);
    // After the end of a row the next one begins, but after that of the last row nothing does.
    if (at + lanes <= end_of_all) return hn::IfThenElseZero(first, hn::LoadU(d, delta + at));
    return load_first(d, delta + at, in_last, 0.0f);
  };
  V squares[kVectors];
  for (auto& v : squares) v = hn::Zero(d);

  for (std::size_t r = 0; r < overlap.rows; ++r) {
    const std::size_t at = r * width + column;
    const V factor = hn::Set(d, static_cast<float>(overlap.own[r]));
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V x = v + 1 < kVectors ? hn::LoadU(d, delta + at + v * lanes) : load_last(at + v * lanes);
      squares[v] = hn::MulAdd(hn::Mul(factor, x), x, squares[v]);
    }
  }
  V sum[kVectors];
  for (auto& v : sum) v = hn::Zero(d);
  for (std::size_t j = 0; j < overlap.num_members; ++j) {
    const std::uint32_t member = overlap.members[j];
    const std::size_t at = (member & ~kEndOfGroup) * width + column;
    const V value = hn::Set(d, overlap.values ? overlap.values[j] : 1.0f);
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V x = v + 1 < kVectors ? hn::LoadU(d, delta + at + v * lanes) : load_last(at + v * lanes);
      sum[v] = hn::MulAdd(value, x, sum[v]);
    }
    if (member & kEndOfGroup) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        squares[v] = hn::MulAdd(sum[v], sum[v], squares[v]);
        sum[v] = hn::Zero(d);
      }
    }
  }
  double total = 0;
  for (const V& v : squares) total += hn::GetLane(hn::SumOfLanes(d, v));
  return total;
}

double overlap_norm_f32(const Overlap& overlap, const float* delta, std::size_t width) {
  const hn::CappedTag<float, 8> d;
  const std::size_t lanes = hn::Lanes(d);
  double total = 0;
  std::size_t column = 0;
  for (; column + 3 * lanes < width; column += 3 * lanes)
    total += norm_of_block<3>(d, overlap, delta, width, column);
  switch ((width - column + lanes - 1) / lanes) {
    case 3:
      return total + norm_of_block<3>(d, overlap, delta, width, column);
    case 2:
      return total + norm_of_block<2>(d, overlap, delta, width, column);
    default:
      return total + norm_of_block<1>(d, overlap, delta, width, column);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(overlap_norm_f32);

double overlap_norm(const Overlap& overlap, const float* delta, std::size_t width) {
  return HWY_DYNAMIC_DISPATCH(overlap_norm_f32)(overlap, delta, width);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
