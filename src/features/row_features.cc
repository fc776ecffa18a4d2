#include "espalier/features/row_features.h"

#include <utility>

#include "espalier/base/error.h"
#include "features/as_kernel.h"
#include "features/kernel_matrix.h"
#include "features/row_changes.h"
#include "kernels/rows.h"
#include "kernels/vectors.h"

namespace espalier {
void score_row(const SparseRows::Row& x, WeightsView theta, double scale, std::span<double> s) {
  kernels::score_rows(as_kernel(theta), as_kernel(x), scale, s.data());
}

RowFeatures::RowFeatures(std::shared_ptr<const KernelMatrix> kernel, std::size_t num_labels)
    : kernel_(std::move(kernel)), rows_(kernel_->inputs()), shape_{kernel_->num_nodes(), num_labels} {
  for (std::size_t i = 0; i < rows_.size(); ++i) squared_lengths_.push_back(kernel_->self(i));
  overlaps_.assign(rows_.size(), 1.0f);  // in general no input is orthogonal to another
}

RowFeatures::RowFeatures(const SparseRows& rows, WeightShape shape) : rows_(rows), shape_(shape) {
  squared_lengths_.reserve(rows.size());
  overlaps_.reserve(rows.size());
  const std::vector<float> frequencies = rows.frequencies(shape.rows, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    double sum = 0, common = 0;
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      const double square = static_cast<double>(row.value(j)) * row.value(j);
      sum += square;
      common += square * frequencies[row.ids[j]];
    }
    squared_lengths_.push_back(sum);
    overlaps_.push_back(sum > 0 ? static_cast<float>(common / sum) : 0.0f);
  }
}

void RowFeatures::score(std::size_t i, const Weights& w, float scale, std::span<float> s,
                        Workspace& ws) const {
  if (kernel_) return kernel_->score(i, i + 1, w, scale, s, ws);
  kernels::score_rows(as_kernel(w), as_kernel(rows_.row(i)), scale, s.data());
}
void RowFeatures::score(std::size_t i, const Weights& w, double scale, std::span<double> s,
                        Workspace& ws) const {
  if (kernel_) return kernel_->score(i, i + 1, w, scale, s, ws);
  kernels::score_rows(as_kernel(w), as_kernel(rows_.row(i)), scale, s.data());
}
void RowFeatures::score(std::size_t i, const DoubleWeights& w, double scale, std::span<double> s,
                        Workspace& ws) const {
  if (kernel_) return kernel_->score(i, i + 1, w, scale, s, ws);
  kernels::score_rows(as_kernel(w), as_kernel(rows_.row(i)), scale, s.data());
}
void RowFeatures::accumulate(std::size_t i, std::span<const float> delta, Weights& w) const {
  kernels::accumulate_rows(as_kernel(w), as_kernel(rows_.row(i)), delta.data());
}
void RowFeatures::accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w) const {
  kernels::accumulate_rows(as_kernel(w), as_kernel(rows_.row(i)), delta.data());
}

void RowFeatures::list_changes(std::size_t i, std::span<const float> delta,
                               RowChanges<float>& changes) const {
  changes.add_rows({0, shape_.width, row_stride(shape_.width)}, as_kernel(rows_.row(i)), delta.data());
}
void RowFeatures::list_changes(std::size_t i, std::span<const double> delta,
                               RowChanges<double>& changes) const {
  changes.add_rows({0, shape_.width, row_stride(shape_.width)}, as_kernel(rows_.row(i)), delta.data());
}

double RowFeatures::squared_norm(std::size_t i, std::span<const float> delta) const {
  return squared_lengths_[i] * kernels::squared_norm(delta.data(), delta.size());
}
double RowFeatures::squared_norm(std::size_t i, std::span<const double> delta) const {
  double sum = 0;
  for (const double x : delta) sum += x * x;
  return squared_lengths_[i] * sum;
}

}  // namespace espalier
