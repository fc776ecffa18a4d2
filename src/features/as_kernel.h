#pragma once

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
