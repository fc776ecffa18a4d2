#pragma once

#include <algorithm>
#include <cstddef>

#include "base/team.h"
#include "espalier/features/weights.h"

namespace espalier {

// to <- scale * from, as BasicWeights::assign() does it, with several threads.
template <class To, class From>
void assign_weights(BasicWeights<To>& to, const BasicWeights<From>& from, double scale, Team& team) {
  to.resize(from.shape());
  const auto values = to.values();
  const auto others = from.values();
  share_range(team, values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) values[j] = static_cast<To>(scale * others[j]);
  });
}

// Zeros of this shape. New ones come from the system as such: nobody writes them, and each thread makes the
// pages that it is the first to need.
template <class Real>
void clear_weights(BasicWeights<Real>& w, WeightShape shape, Team& team) {
  if (w.shape() != shape) return w.resize(shape);
  const auto values = w.values();
  share_range(team, values.size(), [&](std::size_t begin, std::size_t end) {
    std::fill(values.data() + begin, values.data() + end, Real{0});
  });
}

}  // namespace espalier
