#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/features/sparse_rows.h"

namespace espalier {

// What stands for the name of a file in messages about data that a program has in memory; numbers of lines
// are those of tokens or examples.
inline constexpr const char* kDataInMemory = "data in memory";

// Rows of attributes by name, as a program adds them. A name is kept once, however often it is added.
class NamedRows {
 public:
  struct Attribute {
    std::string_view name;
    float value;
  };

  // Throws Error for an empty name, and for a value that is not finite.
  void add(std::span<const Attribute> attributes);
  std::size_t size() const { return rows_.size(); }
  // As it was added, in `to`. The names are valid until the next one is added.
  void get(std::size_t i, std::vector<Attribute>& to) const;

 private:
  Dictionary names_;
  SparseRows rows_;
};

}  // namespace espalier
