#include "espalier/tasks/named_rows.h"

#include <fmt/format.h>

#include <cmath>

#include "espalier/base/error.h"

namespace espalier {

void NamedRows::add(std::span<const Attribute> attributes) {
  const std::size_t number = rows_.size() + 1;
  for (const auto& [name, value] : attributes) {
    if (name.empty()) throw Error::at(kDataInMemory, number, "an attribute without a name", "expected one");
    if (std::isfinite(value)) continue;
    throw Error::at(kDataInMemory, number, fmt::format("the value {} of {}", value, in_quotes(name)),
                    "expected a finite number");
  }
  for (const auto& [name, value] : attributes) rows_.add(names_.add(name), value);
  rows_.finish_row();
}

void NamedRows::get(std::size_t i, std::vector<Attribute>& to) const {
  const SparseRows::Row row = rows_.row(i);
  to.clear();
  for (std::size_t j = 0; j < row.ids.size(); ++j) to.push_back({names_.name(row.ids[j]), row.value(j)});
}

}  // namespace espalier
