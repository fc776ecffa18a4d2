#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/base/workspace.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/features/weights.h"
#include "features/kernel_nodes.h"

namespace espalier {

// Rows of coefficients wherever they lie: all weights of a problem, or a block of them.
template <class Real>
struct Coefficients {
  const Real* first;
  std::size_t rows, width, stride;

  Coefficients(const Real* first_of_all, std::size_t num_rows, std::size_t values_in_row)
      : first(first_of_all), rows(num_rows), width(values_in_row), stride(row_stride(values_in_row)) {}
  Coefficients(const BasicWeights<Real>& w)  // NOLINT: weights are rows of them
      : Coefficients(w.row(0), w.shape().rows, w.shape().width) {}
  const Real* row(std::size_t r) const { return first + r * stride; }
};

// The node part of a problem in kernel form. Its weights are coefficients: row v of them, one value per
// label, belongs to node v, and stands for the vector sum_v phi(x_v) (x) c_v, which nobody writes down. With
// K(x, y) = phi(x).phi(y), over the training inputs t = begin, ..., end - 1 of an example (tokens of a
// sequence, nodes of a graph; row `of[t]` is that of input t),
//   (F'w)_t       = sum_v K(x_v, x_t) c_v
//   F delta       : c_of[t] changes by delta_t
//   |F delta|^2   = sum_tt' K(x_t, x_t') delta_t.delta_t'
//   <a, b>        = sum_uv K(x_u, x_v) a_u.b_v
// The Gram matrix of all nodes is kept in full where it fits into the memory given; else rows of it, those
// that were used last. Const and thread-safe.
class KernelMatrix {
 public:
  // `of` says which node each training input is. `memory` in bytes: rows that do not fit are computed
  // whenever they are needed.
  KernelMatrix(std::shared_ptr<const KernelNodes> nodes, const std::vector<std::uint32_t>& of,
               std::size_t memory);

  const KernelNodes& nodes() const { return *nodes_; }
  std::size_t num_nodes() const { return nodes_->size(); }
  // Row t names the node of input t: the attributes that F delta is accumulated by.
  const SparseRows& inputs() const { return inputs_; }
  // Whether the whole Gram matrix is in memory.
  bool complete() const { return slots_.empty(); }

  // w has the nodes' rows, perhaps with others after them.
  void score(std::size_t begin, std::size_t end, Coefficients<float> w, float scale, std::span<float> s,
             Workspace& ws) const;
  void score(std::size_t begin, std::size_t end, Coefficients<float> w, double scale, std::span<double> s,
             Workspace& ws) const;
  void score(std::size_t begin, std::size_t end, Coefficients<double> w, double scale, std::span<double> s,
             Workspace& ws) const;

  // |F delta|^2 where delta has `width` values for each input.
  double squared_norm(std::size_t begin, std::size_t end, std::span<const float> delta, std::size_t width,
                      Workspace& ws) const;
  double squared_norm(std::size_t begin, std::size_t end, std::span<const double> delta, std::size_t width,
                      Workspace& ws) const;
  // The largest that it can be where no |delta_t.delta_t'| is above 1: sum_tt' |K(x_t, x_t')|.
  double largest_squared_norm(std::size_t begin, std::size_t end, Workspace& ws) const;
  // K(x_t, x_t)
  double self(std::size_t t) const { return nodes_->self(node(t)); }

  // <a, b> of weights whose first num_nodes() rows are those of nodes; the others have the Euclidean one.
  double inner_product(Coefficients<double> a, Coefficients<double> b) const;
  double squared_norm(Coefficients<float> w) const;
  double squared_norm(Coefficients<double> w) const;

 private:
  // A place for one row of the matrix.
  struct Slot {
    std::uint32_t node;
    std::uint32_t users = 0;
    bool filled = false;
    std::uint64_t last_use = 0;
  };

  std::uint32_t node(std::size_t t) const { return inputs_.row(t).ids[0]; }
  float* row_memory(std::size_t slot) const { return memory_.data() + slot * nodes_->padded_size(); }
  void compute_all();
  // use(rows), with the rows of these nodes, at most kTogether.
  template <class Use>
  void with_rows(std::span<const std::uint32_t> nodes, Workspace& ws, const Use& use) const;
  std::uint32_t find_slot(std::uint32_t node, bool& fill) const;

  template <class W, class Real>
  void score_of(std::span<const std::uint32_t> nodes, const Coefficients<W>& w, Real scale, std::span<Real> s,
                Workspace& ws) const;
  template <class Real>
  double squared_norm_of(std::size_t begin, std::size_t end, std::span<const Real> delta, std::size_t width,
                         Workspace& ws) const;
  template <class Real>
  double inner_product_of(const Coefficients<Real>& a, const Coefficients<Real>& b) const;

  static constexpr std::size_t kTogether = 8;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::shared_ptr<const KernelNodes> nodes_;
  SparseRows inputs_;
  mutable AlignedVector<float> memory_;  // rows of the matrix: all, or one for each slot
  // Where not all rows fit.
  mutable std::mutex mutex_;
  mutable std::vector<Slot> slots_;
  mutable std::vector<std::uint32_t> slot_of_;  // by node
  mutable std::uint64_t uses_ = 0;
};

}  // namespace espalier
