#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"

namespace espalier {

struct AttributeValue {
  std::uint32_t id;
  float value;
  friend bool operator<(const AttributeValue& a, const AttributeValue& b) {
    return a.id != b.id ? a.id < b.id : a.value < b.value;
  }
};

// The rows of Sequences::transitions, each distinct set of attributes once.
class TransitionSets {
 public:
  // The row of a set, added where it is new. Changes the order of the attributes.
  std::uint32_t row(std::vector<AttributeValue>& set, SparseRows& rows) {
    std::sort(set.begin(), set.end());
    const std::uint32_t row =
        rows_.add({reinterpret_cast<const char*>(set.data()), set.size() * sizeof(AttributeValue)});
    if (row == rows.size()) {
      for (const auto& [id, value] : set) rows.add(id, value);
      rows.sum_repeated();
      rows.finish_row();
    }
    return row;
  }
  void clear() { rows_.clear(); }

  // The sets so far, and the attributes of one as they were given, in some order.
  std::size_t size() const { return rows_.size(); }
  void get(std::uint32_t row, std::vector<AttributeValue>& set) const {
    const std::string_view bytes = rows_.name(row);
    set.resize(bytes.size() / sizeof(AttributeValue));
    if (!set.empty()) std::memcpy(set.data(), bytes.data(), bytes.size());
  }

 private:
  Dictionary rows_;
};

}  // namespace espalier
