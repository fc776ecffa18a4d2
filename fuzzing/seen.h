#pragma once

// What a reader made of a file, as a text to compare.

#include <string>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"

namespace espalier::fuzz {

struct Seen {
  std::string text;

  template <class... T>
  void add(const T&... values) {
    (add_one(values), ...);
  }

 private:
  template <class T>
  void add_numbers(const T* values, std::size_t size) {
    text += std::to_string(size) + ':';
    text.append(reinterpret_cast<const char*>(values), size * sizeof(T));
  }
  template <class T>
  void add_one(const std::vector<T>& values) {
    add_numbers(values.data(), values.size());
  }
  // Where names are in the table is part of a model.
  void add_one(const Dictionary& names) {
    for (std::uint32_t id = 0; id < names.size(); ++id) text.append(names.name(id)).append("\n");
    add_numbers(names.table().data(), names.table().size());
  }
  void add_one(const SparseRows& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SparseRows::Row row = rows.row(i);
      add_numbers(row.ids.data(), row.ids.size());
      add_numbers(row.values.data(), row.values.size());
    }
  }
};

}  // namespace espalier::fuzz
