#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

#include "tasks/treebank/model.h"

namespace espalier {

// Rules have names: "NP -> DT NN". Other features are found by hashing, so their weights have no other names than their
// places: "place 17".

inline constexpr std::string_view kPlace = "place ";

inline std::optional<WeightPlace> find_treebank_weight(const TreebankModel& model, const WeightName& name) {
  if (!name.before.empty() || !name.label.empty()) return std::nullopt;
  if (const auto rule = model.rule_names().find(name.attribute)) return model.features().rule_place(*rule);
  if (!name.attribute.starts_with(kPlace)) return std::nullopt;
  std::size_t place = 0;
  const char* end = name.attribute.data() + name.attribute.size();
  const auto result = std::from_chars(name.attribute.data() + kPlace.size(), end, place);
  const std::size_t rules = model.index().num_rules();
  if (result.ec != std::errc() || result.ptr != end || place >= model.features().weight_shape().rows - rules)
    return std::nullopt;
  return WeightPlace{rules + place, 0};
}

template <class Visit>
void for_each_treebank_weight(const TreebankModel& model, WeightsView theta, const Visit& visit) {
  const std::size_t rules = model.index().num_rules();
  for (std::uint32_t rule = 0; rule < rules; ++rule)
    visit(WeightName{model.rule_names().name(rule), {}, ""}, theta.at(model.features().rule_place(rule)));
  for (std::size_t row = rules; row < theta.shape.rows; ++row)
    visit(WeightName{fmt::format("{}{}", kPlace, row - rules), {}, ""}, theta.at({row, 0}));
}

}  // namespace espalier
