#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/features/weights.h"
#include "features/as_kernel.h"
#include "features/observed_pairs.h"
#include "features/pair_rows.h"
#include "features/row_changes.h"
#include "kernels/relaxed.h"
#include "kernels/rows.h"

namespace espalier {

// What F delta is added to: weights, or a list of changes that owners of weights make later. Features say
// what they add once, to either. Places count from the first weight of the sink.

template <class Real>
class WeightsSink {
 public:
  explicit WeightsSink(Real* w) : w_(w) {}
  Real* weights() const { return w_; }
  WeightsSink from(std::size_t place) const { return WeightsSink(w_ + place); }

  // Row id_j of the block += x_j delta; of many rows x, with a delta each.
  void add_rows(const RowBlock& block, const kernels::SparseRow& x, const Real* delta) const {
    kernels::accumulate_rows(block.table(w_), x, delta);
  }
  void add_row_range(const RowBlock& block, const kernels::SparseRowRange& x, const Real* delta) const {
    kernels::accumulate_row_range(block.table(w_), x, delta);
  }
  // What accumulate_pairs() does.
  void add_pairs(std::size_t first, const ObservedPairs& pairs, const SparseRows::Range& rows,
                 std::size_t width, const Real* delta) const {
    accumulate_pairs(pairs, rows, width, delta, w_ + first);
  }
  // Weights that lie side by side. They always have to be the same ones.
  void add_run(std::size_t place, const Real* values, std::size_t n) const {
    for (std::size_t k = 0; k < n; ++k) add(place + k, values[k]);
  }
  // Weights anywhere: a value for each, or one for all.
  void add_each(const std::uint32_t* places, std::size_t n, const Real* values) const {
    for (std::size_t k = 0; k < n; ++k) add(places[k], values[k]);
  }
  void add_to_each(const std::uint32_t* places, std::size_t n, Real value) const {
    for (std::size_t k = 0; k < n; ++k) add(places[k], value);
  }

 private:
  void add(std::size_t place, Real value) const {
    kernels::relaxed_store(w_ + place, kernels::relaxed_load(w_ + place) + value);
  }

  Real* w_;
};

template <class Real>
class ListSink {
 public:
  explicit ListSink(RowChanges<Real>& list, std::size_t first = 0) : list_(&list), first_(first) {}
  ListSink from(std::size_t place) const { return ListSink(*list_, first_ + place); }

  void add_rows(RowBlock block, const kernels::SparseRow& x, const Real* delta) const {
    block.first += first_;
    list_->add_rows(block, x, delta);
  }
  void add_row_range(RowBlock block, const kernels::SparseRowRange& x, const Real* delta) const {
    block.first += first_;
    for (std::size_t r = 0; r < x.size; ++r) list_->add_rows(block, x.row(r), delta + r * block.width);
  }
  void add_pairs(std::size_t first, const ObservedPairs& pairs, const SparseRows::Range& rows,
                 std::size_t width, const Real* delta) const {
    list_pairs(pairs, rows, width, delta, first_ + first, *list_);
  }
  void add_run(std::size_t place, const Real* values, std::size_t n) const {
    list_->add_run(first_ + place, values, n);
  }
  void add_each(const std::uint32_t* places, std::size_t n, const Real* values) const {
    list_->add_each(first_, places, n, values);
  }
  void add_to_each(const std::uint32_t* places, std::size_t n, Real value) const {
    list_->add_to_each(first_, places, n, value);
  }
  // What kernels::add_row() adds.
  void add_lines(const std::uint32_t* places, std::size_t n, const Real* line) const {
    list_->add_lines(first_, places, n, line);
  }

 private:
  RowChanges<Real>* list_;
  std::size_t first_;
};

}  // namespace espalier
