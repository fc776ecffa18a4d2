#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/base/workspace.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/features/weights.h"
#include "features/kernel.h"

namespace espalier {

// The distinct ones among some rows, in order of appearance, with ids in ascending order, and which of them
// each row is.
struct DistinctRows {
  SparseRows rows;
  std::vector<std::uint32_t> of;
};
DistinctRows distinct_rows(const SparseRows& rows);

// Inputs x_v that a function f(x) = sum_v K(x_v, x) c_v is an expansion over: the different inputs of the
// training data, or those that a model keeps. The coefficients c_v, one per label, are a row of weights each.
//
// All K(x_v, x) of one x are computed together, attribute by attribute, from lists of the nodes that have an
// attribute; those of attributes that many nodes have are kept in full, which vectors like better. Sums are
// over ascending attributes, so that K(x, y) and K(y, x) are equal to the last bit, and do not depend on what
// else is computed.
class KernelNodes {
 public:
  // Requires distinct rows as distinct_rows() makes them, with ids below num_attributes. Throws Error if the
  // kernel overflows.
  KernelNodes(const Kernel& kernel, SparseRows nodes, std::size_t num_attributes);

  const Kernel& kernel() const { return kernel_; }
  const SparseRows& rows() const { return rows_; }
  std::size_t size() const { return rows_.size(); }
  // What an array of values of all nodes has to hold, at least.
  std::size_t padded_size() const;

  // k[v] = K(x_v, x) for the first `count` nodes; more of k, up to padded_size(), is overwritten. Requires
  // ids in ascending order.
  void values(const SparseRows::Row& x, std::size_t count, float* k) const;
  // The same for node u, and of u with itself.
  void values(std::size_t u, std::size_t count, float* k) const { values(rows_.row(u), count, k); }
  float self(std::size_t u) const { return self_[u]; }

  // The node that is this row, with ids in any order; nullopt where none is.
  std::optional<std::uint32_t> find(const SparseRows::Row& row) const;

  // s_tj = sum_v K(x_v, x_t) theta_vj for inputs x_t that need not be nodes, with ids in any order; the
  // nodes' coefficients are the first rows of theta.
  void score(const SparseRows::Range& x, WeightsView theta, std::span<float> s, Workspace& ws) const;
  void score(const SparseRows::Range& x, WeightsView theta, std::span<double> s, Workspace& ws) const;

 private:
  struct Column {
    std::size_t begin, size;  // of its entries; dense: where it begins in dense_
    bool dense;
  };
  template <class Real>
  void score_of(const SparseRows::Range& x, WeightsView theta, std::span<Real> s, Workspace& ws) const;
  void build_columns(std::size_t num_attributes);

  Kernel kernel_;
  SparseRows rows_;
  std::vector<Column> columns_;  // by attribute
  AlignedVector<float> dense_;
  std::vector<std::uint32_t> nodes_;  // of sparse columns, ascending
  std::vector<float> values_;
  AlignedVector<float> norms_;  // |x_v|^2
  std::vector<float> self_;     // K(x_v, x_v)
  // By their fingerprints, from when one is looked for.
  mutable std::once_flag indexed_;
  mutable std::unordered_multimap<std::uint64_t, std::uint32_t> index_;
};

}  // namespace espalier
