#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "espalier/features/sparse_rows.h"

namespace espalier {

// Tells the attributes that several rows of an example have from those that just one row has. On CoNLL-2000
// seven entries of ten are the only ones of their sentence.
class SharedEntries {
 public:
  struct Entry {
    std::uint32_t attribute, row;
    float value;
  };

  explicit SharedEntries(std::size_t num_attributes) : counts_(num_attributes, 0) {}

  // For `count` rows, the r-th of them row_id(r): calls own(r, attribute, value) for attributes that only row
  // r has, row by row, and returns the other entries by attribute, then by row. Valid until the next call.
  template <class RowId, class Own>
  std::span<const Entry> split(const SparseRows& rows, std::size_t count, const RowId& row_id,
                               const Own& own) {
    for (std::size_t r = 0; r < count; ++r) {
      for (const std::uint32_t a : rows.row(row_id(r)).ids) ++counts_[a];
    }
    shared_.clear();
    for (std::size_t r = 0; r < count; ++r) {
      const auto row = rows.row(row_id(r));
      for (std::size_t j = 0; j < row.ids.size(); ++j) {
        if (counts_[row.ids[j]] == 1) {
          own(r, row.ids[j], row.value(j));
        } else {
          shared_.push_back({row.ids[j], static_cast<std::uint32_t>(r), row.value(j)});
        }
      }
    }
    for (std::size_t r = 0; r < count; ++r) {
      for (const std::uint32_t a : rows.row(row_id(r)).ids) counts_[a] = 0;
    }
    std::sort(shared_.begin(), shared_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.attribute, a.row) < std::tie(b.attribute, b.row);
    });
    return shared_;
  }

 private:
  std::vector<std::uint32_t> counts_;  // how many rows of the example have an attribute; 0 between two calls
  std::vector<Entry> shared_;
};

}  // namespace espalier
