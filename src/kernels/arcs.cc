// Where the weights of an arc's features are.

#include "kernels/arcs.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/arcs.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void arc_places_u32(const std::uint32_t* head, const std::uint32_t* modifier, std::size_t n,
                    std::uint32_t direction, std::uint32_t column, std::uint32_t mask,
                    std::uint32_t* places) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const auto key = [&](std::size_t t) HWY_ATTR {
    return hn::Xor(hn::Xor(hn::LoadU(d, head + t), hn::LoadU(d, modifier + t)), hn::Set(d, direction));
  };
  const auto in_space = hn::Set(d, mask), in_line = hn::Set(d, 15u);
  // Each loop writes a little too much, which the next one overwrites.
  for (std::size_t t = 0; t < n; t += hn::Lanes(d)) hn::StoreU(hn::And(key(t), in_space), d, places + t);
  for (std::size_t t = 0; t < n; t += hn::Lanes(d)) {
    const auto x = key(t);
    const auto moved = hn::And(hn::Add(x, hn::Set(d, column)), in_line);
    hn::StoreU(hn::And(hn::Or(hn::AndNot(in_line, x), moved), in_space), d, places + n + t);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(arc_places_u32);

void arc_places(const std::uint32_t* head, const std::uint32_t* modifier, std::size_t n,
                std::uint32_t direction, std::uint32_t column, std::uint32_t mask, std::uint32_t* places) {
  HWY_DYNAMIC_DISPATCH(arc_places_u32)(head, modifier, n, direction, column, mask, places);
}

}  // namespace espalier::kernels
#endif
