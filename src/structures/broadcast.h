#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace espalier {

// How the entries of a table go with those of a smaller one over some of its variables. Runs of entries in a
// row go with a row of the small table or with a single entry of it where they are long enough to be worth a
// loop; shorter ones are taken together, with a list of where each entry of theirs belongs.
class Broadcast {
 public:
  struct Axis {
    std::size_t size,
        stride;  // labels, and how far apart they are in the small table: 0 where it lacks the variable
  };

  // The axes of the table, the slowest first.
  explicit Broadcast(std::span<const Axis> axes) {
    for (const Axis& axis : axes) {
      if (axis.size == 1) continue;
      if (!outer_.empty() && outer_.back().stride == axis.stride * axis.size) {
        outer_.back() = {outer_.back().size * axis.size, axis.stride};
      } else {
        outer_.push_back(axis);
      }
    }
    if (outer_.empty()) return;
    inner_ = outer_.back().size;
    stride_ = outer_.back().stride;
    outer_.pop_back();
    if (inner_ >= kShort && stride_ <= 1) return;
    index_.resize(inner_);
    for (std::size_t k = 0; k < inner_; ++k) index_[k] = static_cast<std::uint32_t>(k * stride_);
    while (inner_ < kBlock && !outer_.empty()) {
      const Axis axis = outer_.back();
      outer_.pop_back();
      index_.resize(inner_ * axis.size);
      for (std::size_t k = inner_; k < index_.size(); ++k) {
        index_[k] = index_[k - inner_] + static_cast<std::uint32_t>(axis.stride);
      }
      inner_ = index_.size();
    }
  }

  // table += small, entry by entry
  void add(const double* small, double* table) const {
    for_each_run(table, small, [&](double* run, const double* from) {
      if (!index_.empty()) {
        for (std::size_t k = 0; k < inner_; ++k) run[k] += from[index_[k]];
      } else if (stride_ == 1) {
        for (std::size_t k = 0; k < inner_; ++k) run[k] += from[k];
      } else {
        const double all = *from;
        for (std::size_t k = 0; k < inner_; ++k) run[k] += all;
      }
    });
  }

  // small += the sums of the table's entries
  void sum(const double* table, double* small) const {
    for_each_run(table, small, [&](const double* run, double* to) {
      if (!index_.empty()) {
        for (std::size_t k = 0; k < inner_; ++k) to[index_[k]] += run[k];
      } else if (stride_ == 1) {
        for (std::size_t k = 0; k < inner_; ++k) to[k] += run[k];
      } else {
        // Four sums, so that additions need not wait for one another.
        std::array<double, 4> sums{};
        std::size_t k = 0;
        for (; k + 4 <= inner_; k += 4) {
          for (std::size_t j = 0; j < 4; ++j) sums[j] += run[k + j];
        }
        for (; k < inner_; ++k) sums[0] += run[k];
        *to += (sums[0] + sums[1]) + (sums[2] + sums[3]);
      }
    });
  }

 private:
  static constexpr std::size_t kShort = 8, kBlock = 64, kMostAxes = 64;

  template <class Table, class Small, class Use>
  void for_each_run(Table* table, Small* small, const Use& use) const {
    std::array<std::size_t, kMostAxes> at{};  // memory for more axes than this no machine has
    for (;;) {
      use(table, small);
      table += inner_;
      std::size_t axis = outer_.size();
      for (; axis > 0; --axis) {
        const Axis& outer = outer_[axis - 1];
        small += outer.stride;
        if (++at[axis - 1] < outer.size) break;
        at[axis - 1] = 0;
        small -= outer.stride * outer.size;
      }
      if (axis == 0) return;
    }
  }

  std::vector<Axis> outer_;
  std::size_t inner_ = 1, stride_ = 1;  // of a run; without an index the stride is 0 or 1
  std::vector<std::uint32_t> index_;    // of each entry of a run; empty: k times the stride
};

}  // namespace espalier
