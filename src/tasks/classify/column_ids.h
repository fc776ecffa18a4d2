#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/tasks/classify.h"
#include "tasks/classify/builder.h"

namespace espalier {

// The attributes of a matrix's columns, each of which is looked up once: where it first has a value, so that
// attributes are numbered as those of a file with the same rows.
class ColumnIds {
 public:
  // Keeps references. Throws Error where there are names, but not one for each column.
  ColumnIds(const NumberedRows& rows, std::span<const std::string> names);

  // Adds row i to the example that is being built. Throws Error for a value that is not finite.
  void add_row(std::size_t i, ClassifyBuilder& builder);

 private:
  static constexpr std::uint32_t kNotYet = kUnknownAttribute - 1;

  std::uint32_t id(std::uint32_t column, ClassifyBuilder& builder);

  const NumberedRows& rows_;
  std::span<const std::string> names_;
  std::vector<std::uint32_t> ids_;
  std::vector<std::uint32_t> columns_;
  std::vector<float> values_;
};

}  // namespace espalier
