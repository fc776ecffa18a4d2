#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include "espalier/tasks/task.h"

namespace espalier {

// Features that are found by hashing have no names but the number of their row: "arc 17". The row of such a
// name, if it is of this kind and below `rows`.
inline std::optional<std::size_t> find_hashed_row(const WeightName& name, std::string_view kind,
                                                  std::size_t rows) {
  const std::string_view attribute = name.attribute;
  if (!name.before.empty() || !attribute.starts_with(kind) || attribute.size() < kind.size() + 2 ||
      attribute[kind.size()] != ' ')
    return std::nullopt;
  std::size_t row = 0;
  const char* const end = attribute.data() + attribute.size();
  const auto result = std::from_chars(attribute.data() + kind.size() + 1, end, row);
  if (result.ec != std::errc() || result.ptr != end || row >= rows) return std::nullopt;
  return row;
}

}  // namespace espalier
