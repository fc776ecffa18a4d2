#include "tasks/tag/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/parse_number.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "features/templates.h"
#include "tasks/tag/convert_programs.h"
#include "tasks/tag/model.h"

namespace espalier {

std::string_view ModelText::require(std::string_view expected) {
  if (next()) return line_;
  if (reader_.line_number() == 0) throw Error::in(name(), "an empty file", expected);
  fail("the end of the file", expected);
}

void ModelText::require_end() {
  while (next()) {
    if (!line_.empty()) fail(in_quotes(line_), "expected the end of the file");
  }
}

std::size_t ModelText::number(std::string_view text, std::string_view expected) const {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) fail(in_quotes(text), expected);
  return value;
}

float ModelText::weight(std::string_view text, double factor) const {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  std::optional<double> value;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    double parsed = 0;
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, parsed, std::chars_format::hex);
    if (result.ec == std::errc() && result.ptr == end) value = negative ? -parsed : parsed;
  } else {
    value = parse_double(text);
  }
  const auto weight = static_cast<float>(value.value_or(0) * factor);
  if (!value || !std::isfinite(weight)) {
    fail(fmt::format("the weight {}", in_quotes(text)), "expected a finite number");
  }
  return weight;
}

std::uint32_t ModelText::add(std::string_view name, Dictionary& to) const {
  const std::size_t size = to.size();
  const std::uint32_t id = to.add(name);
  if (id < size) fail(fmt::format("{} a second time", in_quotes(name)), "expected each name once");
  return id;
}

void set_template(std::string lines, std::size_t num_columns, const ModelText& text, ForeignModel& model) {
  if (num_columns >= kMostColumns)
    text.fail(grouped(num_columns) + " columns",
              fmt::format("expected fewer than {}", grouped(kMostColumns)));
  TagInput& input = model.input;
  input.format = TagFormat::columns;
  input.templates = std::move(lines);
  input.template_name = text.name() + ", templates";
  input.label_column = std::max<std::size_t>(num_columns, 1);
  input.num_columns = input.label_column + 1;
  input.more_columns = true;
  const Templates templates(input.templates, input.template_name);
  templates.check_columns(input.num_columns, input.label_column);
  const auto steps = templates.transitions();
  if (steps.size() == 1 && steps.front().is_constant()) steps.front().expand({}, 0, model.every_step);
}

namespace {

// Binary models of CRF++ begin with a number that has zero bytes, those of CRFsuite say what they are. A pipe
// is not looked at: it can be read only once.
void refuse_binary(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;
  char first[4] = {};
  const std::size_t n = ByteReader(path).read(first, sizeof(first));
  if (std::string_view(first, n) != "lCRF" && std::count(first, first + n, '\0') == 0) return;
  throw Error::in(path, "a binary file",
                  "expected text: the output of 'crfsuite dump', a model of Wapiti, or the text model that "
                  "'crf_learn -t' writes");
}

ForeignModel read_foreign(const std::string& path) {
  refuse_binary(path);
  ModelText text(path);
  const std::string_view first = text.require("expected a model of CRFsuite, Wapiti or CRF++");
  if (first == "FILEHEADER = {") return read_crfsuite_dump(text);
  if (first.starts_with("#mdl#")) return read_wapiti_model(text);
  if (first.starts_with("version: ")) return read_crfpp_model(text);
  if (std::count(first.begin(), first.end(), '\t') == 3) {
    text.fail("a dump of Wapiti, which lacks the patterns",
              "expected the model file that it is a dump of, which begins with #mdl#");
  }
  text.fail(
      in_quotes(first),
      "expected 'FILEHEADER = {' (crfsuite dump), '#mdl#' (a model of Wapiti) or 'version: ' (crf_learn -t)");
}

// In the order of attributes, then of labels.
void sort_weights(std::vector<ForeignModel::Weight>& weights, const Dictionary& names,
                  const std::string& file) {
  std::sort(weights.begin(), weights.end(), [](const auto& a, const auto& b) {
    return a.attribute != b.attribute ? a.attribute < b.attribute : a.label < b.label;
  });
  const auto twice = std::adjacent_find(weights.begin(), weights.end(), [](const auto& a, const auto& b) {
    return a.attribute == b.attribute && a.label == b.label;
  });
  if (twice == weights.end()) return;
  throw Error::in(
      file, fmt::format("two weights of {} with the same label", in_quotes(names.name(twice->attribute))),
      "expected one");
}

std::shared_ptr<const ObservedPairs> pairs_of(const std::vector<ForeignModel::Weight>& weights,
                                              std::size_t num_attributes) {
  std::vector<std::uint64_t> offsets(num_attributes + 1);
  std::vector<std::uint32_t> labels;
  for (const auto& weight : weights) {
    ++offsets[weight.attribute + 1];
    labels.push_back(weight.label);
  }
  for (std::size_t a = 0; a < num_attributes; ++a) offsets[a + 1] += offsets[a];
  return std::make_shared<ObservedPairs>(std::move(offsets), std::move(labels));
}

// All features where at least half of them have a weight: pairs take twice the memory of a weight, and rows
// are faster.
TagLayout layout_of(const ForeignModel& foreign) {
  const std::size_t labels = foreign.num_labels(), attributes = foreign.names.attributes.size(),
                    transitions = foreign.names.transitions.size();
  const std::size_t all = labels * (attributes + labels * transitions);
  if (2 * (foreign.tokens.size() + foreign.steps.size()) >= all) return {};
  ChainShape shape;
  shape.tokens = pairs_of(foreign.tokens, attributes);
  if (transitions == 0 || (transitions == 1 && foreign.names.transitions.name(0) == foreign.every_step)) {
    std::vector<std::vector<std::uint32_t>> bigrams;
    for (const auto& step : foreign.steps) {
      bigrams.push_back(
          {static_cast<std::uint32_t>(step.label / labels), static_cast<std::uint32_t>(step.label % labels)});
    }
    shape.ngrams = std::make_shared<LabelNgrams>(labels, std::move(bigrams));
  } else {
    shape.steps = pairs_of(foreign.steps, transitions);
  }
  return TagLayout(shape);
}

Weights weights_of(const ForeignModel& foreign, const ChainShape& shape) {
  Weights theta(shape.weights());
  const auto set = [&](const WeightPlace& place, float value) { theta.row(place.row)[place.column] = value; };
  for (const auto& [attribute, label, value] : foreign.tokens) {
    set(*shape.token_weight(attribute, label), value);
  }
  for (const auto& [attribute, pair, value] : foreign.steps) {
    const auto labels = static_cast<std::uint32_t>(shape.num_labels);
    const std::uint32_t consecutive[] = {pair / labels, pair % labels};
    set(shape.has_tables() ? *shape.step_weight(attribute, consecutive[0], consecutive[1])
                           : shape.ngram_weight(*shape.ngrams->find(consecutive)),
        value);
  }
  return theta;
}

}  // namespace

struct ConvertedTagger::State {
  explicit State(ForeignModel foreign)
      : program(foreign.program), num_weights(foreign.tokens.size() + foreign.steps.size()) {
    model.layout = layout_of(foreign);
    model.input = std::move(foreign.input);
    model.dictionaries = std::move(foreign.names);
    theta = weights_of(foreign, model.shape());
  }

  std::string_view program;
  std::size_t num_weights;
  TagModel model;
  Weights theta;
};

ConvertedTagger::ConvertedTagger(const std::string& path) {
  ForeignModel foreign = read_foreign(path);
  constexpr std::size_t kMostLabels = 65535;  // pairs of them have 32 bits
  if (foreign.num_labels() < 2 || foreign.num_labels() > kMostLabels) {
    throw Error::in(path, "a model with " + counted(foreign.num_labels(), "label"),
                    fmt::format("expected 2 to {}", kMostLabels));
  }
  if (foreign.tokens.empty() && foreign.steps.empty()) {
    throw Error::in(path, "a model without weights", "expected at least one that is not 0");
  }
  sort_weights(foreign.tokens, foreign.names.attributes, path);
  sort_weights(foreign.steps, foreign.names.transitions, path);
  state_ = std::make_unique<State>(std::move(foreign));
}
ConvertedTagger::~ConvertedTagger() = default;

std::string_view ConvertedTagger::program() const { return state_->program; }
std::string ConvertedTagger::describe() const {
  return fmt::format("{}, {}", state_->model.describe(), counted(state_->num_weights, "weight"));
}
TaskSections ConvertedTagger::sections() const { return state_->model.sections(); }
const Weights& ConvertedTagger::theta() const { return state_->theta; }

}  // namespace espalier
