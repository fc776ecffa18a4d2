#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/base/soft_threshold.h"

namespace espalier::kernels {

// The ids and values of one sparse row; values == nullptr stands for ones.
struct SparseRow {
  const std::uint32_t* ids;
  const float* values;
  std::size_t size;
};

// Rows one after the other: row r has the entries offsets[r] to offsets[r + 1] - 1.
struct SparseRowRange {
  const std::size_t* offsets;
  const std::uint32_t* ids;
  const float* values;
  std::size_t size;

  SparseRow row(std::size_t r) const {
    return {ids + offsets[r], values ? values + offsets[r] : nullptr, offsets[r + 1] - offsets[r]};
  }
};

// A table of weights: `width` values every `stride`, starting on a cache line. Where it has a threshold,
// scores are those of soft(W, threshold).
template <class Real>
struct RowTable {
  Real* data;
  std::size_t width, stride;
  SoftThreshold threshold = {};
  // Which weights of a row may change, a bit for each column, of which there are at most 64; nullptr: all.
  // Not where rows are shorter than a vector of eight.
  const std::uint64_t* columns = nullptr;
};

// s[k] = scale * sum_j x_j soft(W[id_j][k]) for k < width.
void score_rows(RowTable<const float> w, SparseRow x, float scale, float* s);
void score_rows(RowTable<const float> w, SparseRow x, double scale, double* s);
void score_rows(RowTable<const double> w, SparseRow x, double scale, double* s);

// W[id_j][k] += x_j delta[k] for k < width, or for those columns that may change. Requires distinct ids.
void accumulate_rows(RowTable<float> w, SparseRow x, const float* delta);
void accumulate_rows(RowTable<double> w, SparseRow x, const double* delta);

// The same for many rows, with s and delta `width` values per row: one call an example, which sees in time
// which weights come next.
void score_row_range(RowTable<const float> w, SparseRowRange x, float scale, float* s);
void score_row_range(RowTable<const float> w, SparseRowRange x, double scale, double* s);
void score_row_range(RowTable<const double> w, SparseRowRange x, double scale, double* s);
void accumulate_row_range(RowTable<float> w, SparseRowRange x, const float* delta);
void accumulate_row_range(RowTable<double> w, SparseRowRange x, const double* delta);

// What the kernels must agree with, written the plain way.
namespace reference {
template <class W, class Real>
void score_rows(RowTable<const W> w, SparseRow x, Real scale, Real* s) {
  for (std::size_t k = 0; k < w.width; ++k) {
    Real sum = 0;
    for (std::size_t j = 0; j < x.size; ++j) {
      const Real value = x.values ? x.values[j] : 1.0f;
      const auto threshold = static_cast<Real>(w.threshold.of_row(x.ids[j]));
      sum += value * soft(static_cast<Real>(w.data[x.ids[j] * w.stride + k]), threshold);
    }
    s[k] = scale * sum;
  }
}
template <class Real>
void accumulate_rows(RowTable<Real> w, SparseRow x, const Real* delta) {
  for (std::size_t j = 0; j < x.size; ++j) {
    const Real value = x.values ? x.values[j] : 1.0f;
    for (std::size_t k = 0; k < w.width; ++k) {
      if (w.columns && (w.columns[x.ids[j]] >> k & 1) == 0) continue;
      w.data[x.ids[j] * w.stride + k] += value * delta[k];
    }
  }
}
}  // namespace reference
}  // namespace espalier::kernels
