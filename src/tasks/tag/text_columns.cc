#include "tasks/tag/text_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "espalier/base/error.h"
#include "features/templates.h"
#include "tasks/sequence_reader.h"
#include "tasks/text_sentences.h"

namespace espalier {

std::vector<TextColumn> text_columns(const TagInput& input, std::span<const ColumnTagger> taggers) {
  constexpr std::string_view kPos = "pos";
  if (input.format != TagFormat::columns) {
    throw Error::in(setting("format"),
                    fmt::format("{} for a model of {} attributes", kTextFormat, to_string(input.format)),
                    "expected a model that was trained on columns");
  }
  // Columns have the numbers that they have in training; pos is the second one, as in CoNLL's files.
  std::optional<Templates> templates;
  if (!input.templates.empty()) templates.emplace(input.templates, input.template_name);
  std::vector<TextColumn> columns;
  std::vector<std::string> names;
  bool has_word = false;
  for (std::size_t column = 0; column < input.num_columns; ++column) {
    if (column == input.label_column) continue;
    if (column == input.weight_column) {
      columns.push_back({std::nullopt, "1"});
    } else if (!std::exchange(has_word, true)) {
      columns.push_back({0});
    } else {
      const std::string number = std::to_string(column + 1);
      names.push_back(number);
      if (column == 1) names.emplace_back(kPos);
      columns.push_back(
          {column == 1 ? find_column(taggers, {number, kPos}) : find_column(taggers, {number}), "_"});
      if (!columns.back().of_text && (!templates || templates->use_column(column))) {
        throw Error::in(
            setting("format"),
            fmt::format("{} for a model that looks at column {} besides the words", kTextFormat, number),
            fmt::format("expected a tagger that fills it: {} {}=MODEL", setting("columns"),
                        column == 1 ? std::string(kPos) : number));
      }
    }
  }
  check_columns(
      taggers, true, [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); },
      names.empty() ? "none: the model looks at words alone"
                    : fmt::format("a column that the model looks at: {}", fmt::join(names, ", ")));
  if (input.tabs) return columns;
  for (const ColumnTagger& of : taggers) {
    for (std::uint32_t y = 0; y < of.tagger->num_labels(); ++y) {
      const std::string_view label = of.tagger->label(y);
      if (std::ranges::none_of(label, is_white_space)) continue;
      throw Error::in(fmt::format("{} {}", setting("columns"), of.name),
                      fmt::format("the label {}", in_quotes(label)), "expected labels without spaces");
    }
  }
  return columns;
}

}  // namespace espalier
