#pragma once

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

}  // namespace espalier
