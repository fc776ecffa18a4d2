#include <fmt/format.h>

#include <cmath>

#include "espalier/base/error.h"
#include "espalier/tasks/classify.h"
#include "tasks/classify/builder.h"
#include "tasks/classify/column_ids.h"

namespace espalier {

ColumnIds::ColumnIds(const NumberedRows& rows, std::span<const std::string> names)
    : rows_(rows), names_(names), ids_(rows.num_columns(), kNotYet) {
  if (names.empty() || names.size() == rows.num_columns()) return;
  throw Error::in(kDataInMemory, fmt::format("{} names for {} columns", names.size(), rows.num_columns()),
                  "expected one for each");
}

std::uint32_t ColumnIds::id(std::uint32_t column, ClassifyBuilder& builder) {
  std::uint32_t& known = ids_[column];
  if (known == kNotYet) {
    known = names_.empty() ? builder.attribute(fmt::format_int(std::uint64_t{column} + 1).c_str())
                           : builder.attribute(names_[column]);
  }
  return known;
}

void ColumnIds::add_row(std::size_t i, ClassifyBuilder& builder) {
  rows_.get(i, columns_, values_);
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    if (columns_[k] >= ids_.size())
      throw Error::at(kDataInMemory, i + 1, fmt::format("column {}", columns_[k]),
                      fmt::format("expected columns below {}", ids_.size()));
    if (!std::isfinite(values_[k]))
      throw Error::at(kDataInMemory, i + 1, fmt::format("the value {} in column {}", values_[k], columns_[k]),
                      "expected a finite number");
    if (values_[k] != 0) builder.add(id(columns_[k], builder), values_[k]);
  }
}

void take_matrix(const ClassifyMatrix& data, ClassifyBuilder& builder) {
  const std::size_t n = data.rows.size();
  if (data.labels.size() != n || (!data.weights.empty() && data.weights.size() != n)) {
    throw Error::in(
        kDataInMemory,
        fmt::format("{} rows, {} labels and {} weights", n, data.labels.size(), data.weights.size()),
        "expected a label for each row, and as many weights or none");
  }
  ColumnIds ids(data.rows, data.columns);
  for (std::size_t i = 0; i < n && !builder.full(); ++i) {
    if (data.labels[i] >= data.label_names.size() || data.label_names[data.labels[i]].empty())
      throw Error::at(kDataInMemory, i + 1, "no label", "expected one for each example");
    const double weight = data.weights.empty() ? 1 : data.weights[i];
    if (!(weight > 0) || !std::isfinite(weight))
      throw Error::at(kDataInMemory, i + 1, fmt::format("the weight {}", weight),
                      "expected a finite number above 0");
    ids.add_row(i, builder);
    builder.finish_example(data.label_names[data.labels[i]], weight);
  }
}

}  // namespace espalier
