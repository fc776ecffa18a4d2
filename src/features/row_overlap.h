#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/features/sparse_rows.h"
#include "features/shared_entries.h"

namespace espalier {

namespace kernels {
struct Overlap;
}

// How the sparse rows of an example overlap, so that with one vector delta_r a row
//   | sum_r x_r (x) delta_r |^2  =  sum_r c_r |delta_r|^2  +  sum_a | sum_{r has a} x_ra delta_r |^2
// needs no look at the weights: c_r sums the squares of attributes that only row r of the example has, and
// the second sum is over the others. Its memory and time are linear in the number of entries, where those of
// a Gram matrix are quadratic in the number of rows.
class RowOverlap {
 public:
  explicit RowOverlap(std::size_t num_attributes) : entries_(num_attributes) {}

  // Takes in the next example, which has these rows, in the order of their deltas.
  void add_example(const SparseRows& rows, std::span<const std::uint32_t> of_example);
  // Rows begin, begin + 1, ..., end - 1.
  void add_example(const SparseRows& rows, std::size_t begin, std::size_t end);
  // Takes in the examples of another one, after its own.
  void append(const RowOverlap& other);
  // Frees what only add_example() needs.
  void finish() { entries_ = SharedEntries(0); }

  // The sum above for example i, with a delta of `width` values for each of its rows.
  double squared_norm(std::size_t i, std::span<const float> delta, std::size_t width) const;
  double squared_norm(std::size_t i, std::span<const double> delta, std::size_t width) const;
  // The largest that it can be where no delta is longer than 1: sum_a ( sum_r |x_ra| )^2.
  double largest_squared_norm(std::size_t i) const { return examples_[i].largest; }

  void prefetch(std::size_t i, Prefetch what) const;

 private:
  struct Example {
    std::size_t rows = 0, members = 0;  // where its part of own_ and members_ begins
    double largest = 0;
  };
  kernels::Overlap as_kernel(std::size_t i) const;
  template <class RowId>
  void add(const SparseRows& rows, std::size_t count, const RowId& row_id);

  std::vector<Example> examples_{{}};  // and one more, for the last one's end
  std::vector<double> own_;            // c_r of every row
  std::vector<std::uint32_t>
      members_;  // the rows of each shared attribute, the last one marked by kernels::kEndOfGroup
  std::vector<float> values_;  // x_ra of each member; empty where all are 1
  SharedEntries entries_;      // scratch
};

}  // namespace espalier
