#include "tasks/tag_model.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/base/text.h"
#include "espalier/features/templates.h"
#include "tasks/common.h"

namespace espalier {
namespace {

Encoding stored_encoding(const StoredTask& stored) {
  const auto name = stored.settings.at("encoding").get<std::string>();
  try {
    return parse_encoding(name);
  } catch (const Error&) {
    throw Error::in(stored.file, fmt::format("the encoding {}", in_quotes(name)), "train the model anew");
  }
}

TagInput load_input(const StoredTask& stored) {
  TagInput input;
  input.format = stored_format(stored, parse_tag_format);
  const auto& settings = stored.settings;
  if (settings.contains("encoding")) input.encoding = stored_encoding(stored);
  if (settings.contains("example_weights")) {
    const auto& weights = settings.at("example_weights");
    input.weight_comments = weights == "comment";
    if (!input.weight_comments) input.weight_column = weights.get<std::size_t>() - 1;
  }
  if (input.format != TagFormat::columns) return input;
  input.num_columns = stored.settings.at("columns").get<std::size_t>();
  input.label_column = stored.settings.at("label_column").get<std::size_t>() - 1;
  input.templates = stored.array("templates");
  input.template_name = stored.file;
  if (settings.value("gazetteer", false)) {
    input.gazetteer =
        std::make_shared<const Gazetteer>(Gazetteer::from_text(stored.array("gazetteer"), stored.file));
  }
  if (input.label_column >= input.num_columns || input.weight_column >= input.num_columns) {
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
    if (input.gazetteer) {
      sections.settings["gazetteer"] = true;
      sections.arrays.emplace_back("gazetteer", input.gazetteer->text());
    }
  }
  if (input.encoding) sections.settings["encoding"] = to_string(*input.encoding);
  if (input.weight_comments) sections.settings["example_weights"] = "comment";
  if (input.weight_column) sections.settings["example_weights"] = *input.weight_column + 1;
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
