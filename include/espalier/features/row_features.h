#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/features/weights.h"

namespace espalier {

class KernelMatrix;
template <class Real>
class RowChanges;

// s_k = scale sum_a x_a theta_ak: the scores of one row that is not part of a problem.
void score_row(const SparseRows::Row& x, WeightsView theta, double scale, std::span<double> s);

// The linear operator of multi-class problems: F_i = x_i (x) I, so that
//   (F_i' w)_k   = sum_a x_ia w_ak          the score of label k
//   F_i delta    = x_i delta'               row a of the weights changes by x_ia delta
//   |F_i delta|^2 = |x_i|^2 |delta|^2
// Requires that a row names an attribute at most once (or the last line would be wrong). With a kernel,
// weights are coefficients (kernel_matrix.h) and |x_i|^2 is K(x_i, x_i).
class RowFeatures {
 public:
  RowFeatures(const SparseRows& rows, WeightShape shape);
  // Row i of the problem is input i of the kernel.
  RowFeatures(std::shared_ptr<const KernelMatrix> kernel, std::size_t num_labels);

  WeightShape shape() const { return shape_; }
  SparseRows::Row row(std::size_t i) const { return rows_.row(i); }
  // nullptr: none.
  const KernelMatrix* kernel() const { return kernel_.get(); }

  void score(std::size_t i, const Weights& w, float scale, std::span<float> s, Workspace& ws) const;
  void score(std::size_t i, const Weights& w, double scale, std::span<double> s, Workspace& ws) const;
  void score(std::size_t i, const DoubleWeights& w, double scale, std::span<double> s, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const float> delta, Weights& w) const;
  void accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w) const;

  // What it adds, appended to lists.
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes) const;
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes) const;

  // |F_i delta|^2
  double squared_norm(std::size_t i, std::span<const float> delta) const;
  double squared_norm(std::size_t i, std::span<const double> delta) const;
  // |x_i|^2
  double squared_length(std::size_t i) const { return squared_lengths_[i]; }
  // The part of |x_i|^2 in attributes that another row, picked at random, has too.
  double overlap(std::size_t i) const { return overlaps_[i]; }
  double score_work(std::size_t i) const {
    return static_cast<double>(rows_.row(i).ids.size() * shape_.width);
  }

  void prefetch(std::size_t i, Prefetch what) const {
    if (what == Prefetch::location) __builtin_prefetch(squared_lengths_.data() + i);
    rows_.prefetch(i, what);
  }

 private:
  std::shared_ptr<const KernelMatrix> kernel_;
  const SparseRows& rows_;
  WeightShape shape_;
  std::vector<double> squared_lengths_;
  std::vector<float> overlaps_;
};

}  // namespace espalier
