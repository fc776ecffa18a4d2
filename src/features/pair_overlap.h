#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "features/observed_pairs.h"
#include "features/shared_entries.h"

namespace espalier {

// What RowOverlap is for weights of all labels, for those of observed pairs: with one vector delta_r a row,
//   |F delta|^2  =  sum_rj c_rj delta_rj^2  +  sum_a sum_{j seen with a} ( sum_{r has a} x_ra delta_rj )^2
// where c_rj sums the squares of attributes that only row r of the example has and that were seen with label
// j, and the second sum is over the other attributes. Linear in the number of pairs in memory and time.
class PairOverlap {
 public:
  // Deltas have `width` values per row: the pairs' labels are below it.
  PairOverlap(std::shared_ptr<const ObservedPairs> pairs, std::size_t width)
      : pairs_(std::move(pairs)), width_(width), entries_(pairs_->num_attributes()), sums_(width, 0) {}

  // Takes in the next example, which has these rows, in the order of their deltas.
  void add_example(const SparseRows& rows, std::span<const std::uint32_t> of_example);
  // Rows begin, begin + 1, ..., end - 1.
  void add_example(const SparseRows& rows, std::size_t begin, std::size_t end);
  // Frees what only add_example() needs.
  void finish();

  // The sum above for example i.
  double squared_norm(std::size_t i, std::span<const float> delta) const;
  double squared_norm(std::size_t i, std::span<const double> delta) const;
  // The largest that it can be where each delta is the difference of two unit vectors:
  // sum_a min(2, labels seen with a) ( sum_r |x_ra| )^2.
  double largest_squared_norm(std::size_t i) const { return examples_[i].largest; }

  void prefetch(std::size_t i, Prefetch what) const;

 private:
  struct Example {
    std::size_t own = 0, groups = 0, members = 0;  // where its parts begin
    double largest = 0;
  };
  struct Own {
    std::uint32_t at;  // r * width + j
    double factor;     // c_rj, exact for the sum in double
  };
  struct Group {
    std::uint32_t attribute, size;
  };
  struct Member {
    std::uint32_t row;
    float value;
  };
  template <class RowId>
  void add(const SparseRows& rows, std::size_t count, const RowId& row_id);
  void finish_row(std::size_t r);
  template <class Real>
  double squared_norm_of(std::size_t i, std::span<const Real> delta) const;

  std::shared_ptr<const ObservedPairs> pairs_;
  std::size_t width_;
  std::vector<Example> examples_{{}};  // and one more, for the last one's end
  std::vector<Own> own_;
  std::vector<Group> groups_;  // one a shared attribute
  std::vector<Member> members_;
  SharedEntries entries_;               // scratch
  std::vector<double> sums_;            // scratch: c_rj of the row that is being built
  std::vector<std::uint32_t> touched_;  // scratch: where they are not 0
};

}  // namespace espalier
