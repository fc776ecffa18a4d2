#pragma once

#include <span>
#include <utility>

#include "espalier/base/workspace.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/features/weights.h"
#include "kernels/rows.h"

namespace espalier {

// Rows and weights as SIMD kernels (src/kernels/) see them.

inline kernels::SparseRow as_kernel(const SparseRows::Row& row) {
  return {row.ids.data(), row.values.empty() ? nullptr : row.values.data(), row.ids.size()};
}
inline kernels::SparseRowRange as_kernel(const SparseRows::Range& range) {
  return {range.offsets, range.ids, range.values, range.size};
}
// Rows with the entries whose attribute belongs to the one part (first(attribute) is 1, not 0), and with the
// others.
template <class First>
std::pair<SparseRows::Range, SparseRows::Range> split_entries(const SparseRows::Range& x,
                                                              Workspace::Frame& frame, const First& first) {
  const std::size_t most = x.offsets[x.size] - x.offsets[0];
  const auto ids = frame.take<std::uint32_t>(2 * most + 2);
  const auto values = frame.take<float>(x.values ? 2 * most + 2 : 0);
  const auto offsets = frame.take<std::size_t>(2 * (x.size + 1));
  const std::span<std::size_t> offsets_of_first = offsets.first(x.size + 1),
                               offsets_of_others = offsets.last(x.size + 1);
  std::size_t in_first = 0, in_others = most + 1;
  for (std::size_t r = 0; r < x.size; ++r) {
    offsets_of_first[r] = in_first;
    offsets_of_others[r] = in_others;
    for (std::size_t j = x.offsets[r]; j < x.offsets[r + 1]; ++j) {
      // Written to both, and kept in one: a branch here would be guessed wrong half of the time.
      ids[in_first] = ids[in_others] = x.ids[j];
      if (x.values) values[in_first] = values[in_others] = x.values[j];
      const std::size_t is_first = first(x.ids[j]);
      in_first += is_first;
      in_others += 1 - is_first;
    }
  }
  offsets_of_first[x.size] = in_first;
  offsets_of_others[x.size] = in_others;
  const float* all_values = x.values ? values.data() : nullptr;
  return {{offsets_of_first.data(), ids.data(), all_values, x.size},
          {offsets_of_others.data(), ids.data(), all_values, x.size}};
}

inline SparseRows::Range entries_of_share(const SparseRows::Range& x, const RowShare& share,
                                          Workspace::Frame& frame) {
  if (share.of == 1) return x;
  return split_entries(x, frame, [&](std::uint32_t row) { return share.has(row) ? 1u : 0u; }).first;
}

template <class Real>
kernels::RowTable<const Real> as_kernel(const BasicWeights<Real>& w) {
  return {w.row(0), w.shape().width, w.stride(), w.threshold()};
}
template <class Real>
kernels::RowTable<Real> as_kernel(BasicWeights<Real>& w) {
  return {w.row(0), w.shape().width, w.stride()};
}
inline kernels::RowTable<const float> as_kernel(const WeightsView& theta) {
  return {theta.values, theta.shape.width, theta.stride()};
}

}  // namespace espalier
