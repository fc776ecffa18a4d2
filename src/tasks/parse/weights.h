#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "tasks/hashed_weight.h"
#include "tasks/parse/model.h"

namespace espalier {

// Features are found by hashing, so their weights have no other names than their places: "arc 17" for those
// of arcs, "relation 4" with the relation as the label for the rows of relations, and in second order "part
// 17" for those of pairs of arcs. They lie in this order (DependencyFeatures).

inline constexpr std::string_view kArcWeight = "arc", kRelationWeight = "relation", kPartWeight = "part";

// Where those of pairs of arcs begin. Made from the numbers alone: there are millions of weights, and
// features take long to make.
inline std::size_t first_part_weight(const ParseModel& model) {
  const std::size_t arcs = std::size_t{1} << model.bits, labels = model.shape.num_labels;
  return arcs + (labels > 1 ? (std::size_t{1} << model.relation_bits) * row_stride(labels) : 0);
}

inline std::optional<std::size_t> find_parse_weight(const ParseModel& model, const WeightName& name) {
  const std::size_t arcs = std::size_t{1} << model.bits;
  if (name.label.empty()) {
    if (const auto arc = find_hashed_row(name, kArcWeight, arcs)) return arc;
    if (const auto part = find_hashed_row(name, kPartWeight, model.second_order ? arcs : 0))
      return first_part_weight(model) + *part;
  }
  const auto row = find_hashed_row(name, kRelationWeight, std::size_t{1} << model.relation_bits);
  const auto label = model.relations.find(name.label);
  if (!row || !label || model.shape.num_labels < 2) return std::nullopt;
  return arcs + *row * row_stride(model.shape.num_labels) + *label;
}

template <class Visit>
void for_each_parse_weight(const ParseModel& model, const float* theta, const Visit& visit) {
  const std::size_t arcs = std::size_t{1} << model.bits, labels = model.shape.num_labels;
  for (std::size_t place = 0; place < arcs; ++place)
    visit(WeightName{fmt::format("{} {}", kArcWeight, place), {}, ""}, theta[place]);
  for (std::size_t row = 0; labels > 1 && row < std::size_t{1} << model.relation_bits; ++row) {
    const std::string name = fmt::format("{} {}", kRelationWeight, row);
    for (std::uint32_t l = 0; l < labels; ++l)
      visit(WeightName{name, {}, model.relations.name(l)}, theta[arcs + row * row_stride(labels) + l]);
  }
  const float* const parts = theta + first_part_weight(model);
  for (std::size_t place = 0; model.second_order && place < arcs; ++place)
    visit(WeightName{fmt::format("{} {}", kPartWeight, place), {}, ""}, parts[place]);
}

}  // namespace espalier
