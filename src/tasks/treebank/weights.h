#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "tasks/hashed_weight.h"
#include "tasks/treebank/model.h"

namespace espalier {

// Rules have names: "NP -> DT NN". Other features are found by hashing, so what their weights are called is
// the number of a row: "span 17" with the label of a phrase for those of spans and splits, "word 4" with a
// tag for those of words.

inline constexpr std::string_view kSpanWeight = "span", kWordWeight = "word";

inline std::optional<WeightPlace> find_treebank_weight(const TreebankModel& model, const WeightName& name) {
  const CfgFeatures& features = model.features();
  if (name.label.empty()) {
    const auto rule = name.before.empty() ? model.rule_names().find(name.attribute) : std::nullopt;
    if (!rule) return std::nullopt;
    return features.rule_place(*rule);
  }
  if (const auto row = find_hashed_row(name, kSpanWeight, features.num_label_rows())) {
    const auto label = model.grammar().labels().find(name.label);
    if (!label) return std::nullopt;
    return features.label_place(*row, *label);
  }
  const auto row = find_hashed_row(name, kWordWeight, features.num_tag_rows());
  const auto tag = model.grammar().tags().find(name.label);
  if (!row || !tag) return std::nullopt;
  return features.tag_place(*row, *tag);
}

template <class Visit>
void for_each_treebank_weight(const TreebankModel& model, WeightsView theta, const Visit& visit) {
  const CfgFeatures& features = model.features();
  for (std::uint32_t rule = 0; rule < model.index().num_rules(); ++rule)
    visit(WeightName{model.rule_names().name(rule), {}, ""}, theta.at(features.rule_place(rule)));
  const auto visit_rows = [&](std::string_view kind, std::size_t rows, const Dictionary& names,
                              const auto& place) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::string name = fmt::format("{} {}", kind, row);
      for (std::uint32_t y = 0; y < names.size(); ++y)
        visit(WeightName{name, {}, names.name(y)}, theta.at(place(row, y)));
    }
  };
  visit_rows(kSpanWeight, features.num_label_rows(), model.grammar().labels(),
             [&](std::size_t row, std::size_t y) { return features.label_place(row, y); });
  visit_rows(kWordWeight, features.num_tag_rows(), model.grammar().tags(),
             [&](std::size_t row, std::size_t y) { return features.tag_place(row, y); });
}

}  // namespace espalier
