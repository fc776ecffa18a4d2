#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

#include "tasks/parse/model.h"

namespace espalier {

// Features are found by hashing, so their weights have no other names than their places: "arc 17" for those of arcs, and
// "relation 4" with the relation as the label for the rows of relations.

inline std::optional<std::size_t> find_parse_weight(const ParseModel& model, const WeightName& name) {
  const auto number_behind = [&](std::string_view word, std::size_t most) -> std::optional<std::size_t> {
    if (!name.before.empty() || !name.attribute.starts_with(word)) return std::nullopt;
    std::size_t number = 0;
    const char* end = name.attribute.data() + name.attribute.size();
    const auto result = std::from_chars(name.attribute.data() + word.size(), end, number);
    if (result.ec != std::errc() || result.ptr != end || number >= most) return std::nullopt;
    return number;
  };
  const std::size_t arcs = std::size_t{1} << model.bits;
  if (const auto arc = number_behind("arc ", arcs); arc && name.label.empty()) return arc;
  const auto row = number_behind("relation ", std::size_t{1} << model.relation_bits);
  const auto label = model.relations.find(name.label);
  if (!row || !label || model.shape.num_labels < 2) return std::nullopt;
  return arcs + *row * row_stride(model.shape.num_labels) + *label;
}

template <class Visit>
void for_each_parse_weight(const ParseModel& model, const float* theta, const Visit& visit) {
  const std::size_t arcs = std::size_t{1} << model.bits, labels = model.shape.num_labels;
  for (std::size_t place = 0; place < arcs; ++place)
    visit(WeightName{fmt::format("arc {}", place), {}, ""}, theta[place]);
  if (labels < 2) return;
  for (std::size_t row = 0; row < std::size_t{1} << model.relation_bits; ++row) {
    const std::string name = fmt::format("relation {}", row);
    for (std::uint32_t l = 0; l < labels; ++l)
      visit(WeightName{name, {}, model.relations.name(l)}, theta[arcs + row * row_stride(labels) + l]);
  }
}

}  // namespace espalier
