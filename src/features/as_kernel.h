#pragma once

#include "espalier/base/workspace.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/features/weights.h"
#include "kernels/rows.h"

namespace espalier {

// Rows and weights as the kernels see them.

inline kernels::SparseRow as_kernel(const SparseRows::Row& row) {
  return {row.ids.data(), row.values.empty() ? nullptr : row.values.data(), row.ids.size()};
}
inline kernels::SparseRowRange as_kernel(const SparseRows::Range& range) {
  return {range.offsets, range.ids, range.values, range.size};
}
// Rows with only those entries that are in a share.
inline SparseRows::Range entries_of_share(const SparseRows::Range& x, const RowShare& share,
                                          Workspace::Frame& frame) {
  if (share.of == 1) return x;
  const std::size_t most = x.offsets[x.size] - x.offsets[0];
  const auto offsets = frame.take<std::size_t>(x.size + 1);
  const auto ids = frame.take<std::uint32_t>(most);
  const auto values = frame.take<float>(x.values ? most : 0);
  std::size_t count = 0;
  for (std::size_t r = 0; r < x.size; ++r) {
    offsets[r] = count;
    for (std::size_t j = x.offsets[r]; j < x.offsets[r + 1]; ++j) {
      if (!share.has(x.ids[j])) continue;
      if (x.values) values[count] = x.values[j];
      ids[count++] = x.ids[j];
    }
  }
  offsets[x.size] = count;
  return {offsets.data(), ids.data(), x.values ? values.data() : nullptr, x.size};
}

template <class Real>
kernels::RowTable<const Real> as_kernel(const BasicWeights<Real>& w) {
  return {w.row(0), w.shape().width, w.stride()};
}
template <class Real>
kernels::RowTable<Real> as_kernel(BasicWeights<Real>& w) {
  return {w.row(0), w.shape().width, w.stride()};
}
inline kernels::RowTable<const float> as_kernel(const WeightsView& theta) {
  return {theta.values, theta.shape.width, theta.stride()};
}

}  // namespace espalier
