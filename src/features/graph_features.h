#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/base/memory.h"
#include "espalier/base/workspace.h"
#include "espalier/features/sparse_rows.h"
#include "espalier/features/weights.h"
#include "features/kernel_matrix.h"
#include "features/row_changes.h"

namespace espalier {

// The weights of graphs are tied by type: nodes of one type, or cliques of one type, share a block of
// weights, one row for each attribute of the type, one column for each label (nodes) or joint labelling
// (cliques). Types have different numbers of columns, so all blocks lie one after the other in one long row
// of weights, each padded as BasicWeights pads its rows, and begin on cache lines.
struct GraphTypeSize {
  std::size_t attributes = 0;
  std::size_t columns = 0;
  std::size_t arity = 1;  // nodes in a clique of the type; 1 for nodes
};

class GraphWeights {
 public:
  struct Block {
    std::size_t begin, attributes, columns, stride;
    std::size_t size() const { return attributes * stride; }
  };
  explicit GraphWeights(std::span<const GraphTypeSize> types);

  WeightShape shape() const { return {size_, 1}; }
  std::size_t num_types() const { return blocks_.size(); }
  const Block& block(std::size_t type) const { return blocks_[type]; }
  std::size_t place(std::size_t type, std::size_t attribute, std::size_t column) const {
    const Block& of = blocks_[type];
    return of.begin + attribute * of.stride + column;
  }

 private:
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
};

// The linear operator of graphs: with x_c the attributes of a node or clique c of type T(c),
//   (F'w)_c,k  = sum_a x_ca w_T(c),ak
//   F delta    : row a of the block of T changes by sum of x_ca delta_c over the c of type T
// The statistics of a graph are in the order of types, and in each type in the order in which its rows were
// added. Requires that a row names an attribute at most once. Types may have a kernel: then the rows of their
// block are coefficients (kernel_matrix.h), one for each node of the kernel.
class GraphFeatures {
 public:
  explicit GraphFeatures(std::vector<GraphTypeSize> types);
  // The same graphs, with kernels for types: one for each type, null for those that have none, and for the
  // last ones left out. Row r of a type is input r of its kernel. Requires all graphs to be finished.
  GraphFeatures(GraphFeatures&& linear, std::vector<std::shared_ptr<const KernelMatrix>> kernels);
  GraphFeatures(GraphFeatures&&) = default;
  GraphFeatures& operator=(GraphFeatures&&) = default;

  // Appends to the row of the given type that is being built.
  void add(std::size_t type, std::uint32_t attribute, float value) {
    tables_[type].rows.add(attribute, value);
  }
  void finish_row(std::size_t type) { tables_[type].rows.finish_row(); }
  void finish_graph();

  std::size_t size() const { return squared_changes_.size(); }  // graphs
  const GraphWeights& weights() const { return weights_; }
  const SparseRows& rows(std::size_t type) const { return tables_[type].rows; }
  // What the statistics of graph i are: the tables of these rows of each type.
  std::size_t begin(std::size_t i, std::size_t type) const { return ends_[i * tables_.size() + type]; }
  std::size_t end(std::size_t i, std::size_t type) const { return ends_[(i + 1) * tables_.size() + type]; }
  // nullptr: none.
  const KernelMatrix* kernel(std::size_t type) const { return tables_[type].kernel.get(); }
  bool has_kernels() const { return has_kernels_; }

  // w is the first weight of all.
  template <class Real, class Scale>
  void score(std::size_t i, const Real* w, Scale scale, std::span<Scale> s, Workspace& ws,
             double threshold = 0) const;
  template <class Real>
  void accumulate(std::size_t i, std::span<const Real> delta, Real* w) const;
  // What it adds, appended to lists.
  template <class Real>
  void list_changes(std::size_t i, std::span<const Real> delta, RowChanges<Real>& changes) const;
  template <class Real>
  double squared_norm(std::size_t i, std::span<const Real> delta, Workspace& ws) const;

  // Of all weights, where types may have kernels.
  template <class Real>
  double squared_norm(const BasicWeights<Real>& w) const;
  double inner_product(const DoubleWeights& a, const DoubleWeights& b) const;

  double squared_diameter(std::size_t i) const { return squared_diameters_[i]; }
  double squared_change(std::size_t i) const { return squared_changes_[i]; }
  void prefetch(std::size_t i, Prefetch what) const;

 private:
  template <class Real, class Sink>
  void add_all(std::size_t i, std::span<const Real> delta, const Sink& sink) const;

  struct Table {
    SparseRows rows;  // with a kernel, its inputs
    std::shared_ptr<const KernelMatrix> kernel = nullptr;
    // For each entry, which of the graph's attributes of this type it has: |F delta|^2 is summed in a block
    // of just these.
    std::vector<std::uint32_t> local_ids;
    std::vector<std::uint32_t> local_of;  // scratch: of each attribute, in the graph that is being built
  };

  // How far rows can move F, squared and but for a factor of 2: all of them together, and one alone, summed
  // over all.
  struct Reach {
    double together = 0, alone = 0;
  };
  void add_reach(std::size_t i, std::size_t type, Reach& sum, Workspace& ws) const;
  void measure(std::size_t i);

  SparseRows::Range range(std::size_t i, std::size_t type) const {
    return tables_[type].rows.range(begin(i, type), end(i, type));
  }

  std::vector<GraphTypeSize> types_;
  GraphWeights weights_;
  std::vector<Table> tables_;
  std::vector<std::size_t> ends_;        // rows of each type before each graph, and at the end
  std::vector<std::uint32_t> distinct_;  // attributes of each type in each graph
  std::vector<double> squared_diameters_, squared_changes_;
  bool has_kernels_ = false;
};

}  // namespace espalier
