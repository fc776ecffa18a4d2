#include "tasks/tag_model.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/base/text.h"
#include "espalier/features/templates.h"
#include "tasks/common.h"

namespace espalier {
namespace {

TagInput load_input(const StoredTask& stored) {
  TagInput input;
  input.format = stored_format(stored, parse_tag_format);
  if (input.format == TagFormat::crfsuite) return input;
  input.num_columns = stored.settings.at("columns").get<std::size_t>();
  input.label_column = stored.settings.at("label_column").get<std::size_t>() - 1;
  input.templates = stored.array("templates");
  input.template_name = stored.file;
  if (input.label_column >= input.num_columns) {
    throw Error::in(stored.file,
                    fmt::format("label column {} of {}", stored.settings.at("label_column").dump(),
                                stored.settings.at("columns").dump()),
                    "train the model anew");
  }
  if (!input.templates.empty()) {
    Templates(input.templates, input.template_name).check_columns(input.num_columns, input.label_column);
  }
  return input;
}

}  // namespace

std::optional<TagModel::WeightPlace> TagModel::find_weight(const WeightName& name) const {
  const auto label = dictionaries.labels.find(name.label);
  if (!label || name.before.size() > 1) return std::nullopt;
  if (name.before.empty()) {
    const auto attribute = dictionaries.attributes.find(name.attribute);
    if (!attribute) return std::nullopt;
    return WeightPlace{*attribute, *label};
  }
  const auto attribute = dictionaries.transitions.find(name.attribute);
  const auto before = dictionaries.labels.find(name.before.front());
  if (!attribute || !before) return std::nullopt;
  return WeightPlace{shape().transition_row(*attribute, *before), *label};
}

std::string TagModel::describe() const {
  return fmt::format("{} labels, {} attributes", grouped(dictionaries.labels.size()),
                     grouped(dictionaries.attributes.size()));
}

TaskSections TagModel::sections() const {
  TaskSections sections;
  sections.settings["format"] = to_string(input.format);
  if (input.format == TagFormat::columns) {
    sections.settings["columns"] = input.num_columns;
    sections.settings["label_column"] = input.label_column + 1;
    // Not a setting: those are JSON, and a template is any bytes.
    sections.arrays.emplace_back("templates", input.templates);
  }
  add_dictionary("labels", dictionaries.labels, sections);
  add_dictionary("attributes", dictionaries.attributes, sections);
  add_dictionary("transitions", dictionaries.transitions, sections);
  return sections;
}

TagModel TagModel::load(const StoredTask& stored) {
  TagModel model;
  model.input = load_input(stored);
  model.dictionaries.labels = load_dictionary("labels", stored);
  model.dictionaries.attributes = load_dictionary("attributes", stored);
  model.dictionaries.transitions = load_dictionary("transitions", stored);
  if (stored.theta.shape != model.shape().weights()) {
    throw Error::in(
        stored.file,
        fmt::format("{} x {} weights for {}, {} of transitions", stored.theta.shape.rows,
                    stored.theta.shape.width, model.describe(), model.dictionaries.transitions.size()),
        "expected one for each label, or pair of them; train the model anew");
  }
  return model;
}

}  // namespace espalier
