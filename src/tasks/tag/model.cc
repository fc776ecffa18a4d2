#include "tasks/tag/model.h"

#include <fmt/format.h>

#include <limits>

#include <algorithm>

#include "base/text.h"
#include "espalier/base/error.h"
#include "features/templates.h"
#include "tasks/common.h"
#include "tasks/kernel_model.h"
#include "tasks/tag/encoding.h"
#include "tasks/tag/label_constraints.h"

namespace espalier {
namespace {

// The sections of the constraints.
constexpr const char *kFirst = "first_allowed", *kLast = "last_allowed", *kSteps = "steps_allowed";

Encoding stored_encoding(const StoredTask& stored) {
  const auto name = stored.settings.at("encoding").get<std::string>();
  try {
    return parse_encoding(name);
  } catch (const Error&) {
    throw Error::in(stored.file, fmt::format("the encoding {}", in_quotes(name)), "retrain the model");
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
  input.more_columns = settings.value("more_columns", false);
  input.tabs = settings.value("separator", std::string()) == "tab";
  input.templates = stored.array("templates");
  input.template_name = stored.file;
  if (settings.value("gazetteer", false)) {
    input.gazetteer =
        std::make_shared<const Gazetteer>(Gazetteer::from_text(stored.array("gazetteer"), stored.file));
  }
  if (input.num_columns > kMostColumns)
    throw Error::in(stored.file, fmt::format("{} columns", input.num_columns), "retrain the model");
  if (input.label_column >= input.num_columns || input.weight_column >= input.num_columns ||
      (input.more_columns && input.label_column + 1 != input.num_columns)) {
    throw Error::in(stored.file,
                    fmt::format("label column {} of {}", stored.settings.at("label_column").dump(),
                                stored.settings.at("columns").dump()),
                    "retrain the model");
  }
  if (!input.templates.empty()) {
    Templates(input.templates, input.template_name).check_columns(input.num_columns, input.label_column);
  }
  return input;
}

std::optional<ChainConstraints> load_constraints(const StoredTask& stored, std::size_t num_labels) {
  if (!stored.settings.value("constraints", false)) return std::nullopt;
  const auto load = [&](const char* name, std::size_t size) {
    const auto bytes = as_array<std::uint8_t>(stored.array(name), name, stored.file);
    if (bytes.size() != size || std::any_of(bytes.begin(), bytes.end(), [](auto byte) { return byte > 1; })) {
      throw Error::in(stored.file,
                      fmt::format("the section {} is not a table of zeros and ones", in_quotes(name)),
                      fmt::format("expected {}; retrain the model", size));
    }
    return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
  };
  ChainConstraints constraints{load(kFirst, num_labels), load(kLast, num_labels),
                               load(kSteps, num_labels * num_labels)};
  if (const auto length = impossible_length(constraints)) {
    throw Error::in(stored.file, fmt::format("no sequence of {} is possible", counted(*length, "label")),
                    "retrain the model");
  }
  return constraints;
}

}  // namespace

ChainShape TagModel::shape() const {
  ChainShape shape = layout.shape(dictionaries);
  if (kernel) shape.num_attributes = kernel->size();
  shape.by_rows = by_rows;
  return shape;
}

bool rows_pay(const ChainShape& shape, std::size_t most_bytes) {
  return shape.observed() && !shape.steps && rows_may_be_observed(shape.num_labels) &&
         shape.num_attributes * row_stride(shape.num_labels) * sizeof(float) <= most_bytes;
}

std::optional<WeightPlace> TagModel::find_weight(const WeightName& name) const {
  std::vector<std::uint32_t> consecutive;
  for (const std::string_view before : name.before) {
    const auto label = dictionaries.labels.find(before);
    if (!label) return std::nullopt;
    consecutive.push_back(*label);
  }
  const auto label = dictionaries.labels.find(name.label);
  if (!label) return std::nullopt;
  consecutive.push_back(*label);

  const ChainShape shape = this->shape();
  if (consecutive.size() == 1) {
    const auto attribute = kernel ? find_node(*kernel, dictionaries.attributes, name.attribute)
                                  : dictionaries.attributes.find(name.attribute);
    return attribute ? shape.token_weight(*attribute, *label) : std::nullopt;
  }
  const auto attribute = dictionaries.transitions.find(name.attribute);
  if (consecutive.size() == 2 && shape.has_tables()) {
    return attribute ? shape.step_weight(*attribute, consecutive[0], *label) : std::nullopt;
  }
  if (!shape.ngrams || name.attribute != ngram_attribute()) return std::nullopt;
  const auto ngram = shape.ngrams->find(consecutive);
  return ngram ? std::optional(shape.ngram_weight(*ngram)) : std::nullopt;
}

std::string_view TagModel::ngram_attribute() const {
  return dictionaries.transitions.size() == 1 ? dictionaries.transitions.name(0) : kTiedTransition;
}

std::string TagModel::describe() const {
  return fmt::format("{}, {}{}", counted(dictionaries.labels.size(), "label"),
                     counted(dictionaries.attributes.size(), "attribute"), describe_kernel(kernel.get()));
}

TaskSections TagModel::sections() const {
  TaskSections sections;
  sections.settings["format"] = to_string(input.format);
  if (input.format == TagFormat::columns) {
    sections.settings["columns"] = input.num_columns;
    sections.settings["label_column"] = input.label_column + 1;
    if (input.more_columns) sections.settings["more_columns"] = true;
    if (input.tabs) sections.settings["separator"] = "tab";
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
  layout.add_to(sections);
  if (kernel) sections.settings["kernel"] = kernel->kernel().name();
  if (constraints) {
    sections.settings["constraints"] = true;
    const auto add = [&](const char* name, const std::vector<std::uint8_t>& allowed) {
      sections.arrays.emplace_back(name, as_bytes(std::span(allowed)));
    };
    add(kFirst, constraints->first);
    add(kLast, constraints->last);
    add(kSteps, constraints->step);
  }
  return sections;
}

TagModel TagModel::load(const StoredTask& stored) {
  TagModel model;
  model.input = load_input(stored);
  model.dictionaries.labels = load_dictionary("labels", stored);
  model.dictionaries.attributes = load_dictionary("attributes", stored);
  model.dictionaries.transitions = load_dictionary("transitions", stored);
  if (model.dictionaries.labels.size() == 0) throw Error::in(stored.file, "no labels", "retrain the model");
  model.layout = TagLayout::load(stored, model.dictionaries);
  model.kernel = load_kernel_nodes(stored, model.dictionaries.attributes.size());
  if (stored.theta.shape != model.shape().weights() &&
      rows_pay(model.shape(), std::numeric_limits<std::size_t>::max()))
    model.by_rows = true;
  if (stored.theta.shape != model.shape().weights()) {
    throw Error::in(
        stored.file,
        fmt::format("{} x {} weights for {}, {} of transitions", stored.theta.shape.rows,
                    stored.theta.shape.width, model.describe(), model.dictionaries.transitions.size()),
        "expected one for each label, or pair of them; retrain the model");
  }
  model.constraints = load_constraints(stored, model.dictionaries.labels.size());
  return model;
}

}  // namespace espalier
