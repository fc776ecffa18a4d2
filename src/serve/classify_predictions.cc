#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "serve/classify_reasons.h"
#include "serve/predictions.h"
#include "tasks/json_lines.h"

namespace espalier::serve {
namespace {

class ClassifyPredictions final : public Predictions {
 public:
  explicit ClassifyPredictions(const Model& model)
      : classifier_(model.classifier()), files_(make_file_predictions(model, {})), reasons_(model) {}

  Labelled answer(const Json& question, const Budget& budget, std::string& to) override {
    if (member(question, "input") != nullptr) return files_->answer(question, budget, to);
    check_members(question, {"text", "attributes", "input", "format", "marginals", "kbest", "explain"});
    const Json *text = member(question, "text"), *attributes = member(question, "attributes");
    if ((text == nullptr) == (attributes == nullptr))
      throw BadQuestion("expected one of text, attributes and input");
    const std::size_t kbest = kbest_of(question, budget);
    const Json* explain = member(question, "explain");
    if (explain != nullptr) check_members(*explain, {"example", "label"});
    const std::string marginals = marginals_of(question);
    if (marginals == "entity") throw BadQuestion("marginals: expected true or \"label\"");
    if (!marginals.empty() && !classifier_.has_probabilities())
      throw BadQuestion("marginals: the loss of this model has no probabilities");

    const Json& given = text != nullptr ? *text : *attributes;
    Labelled labelled;
    to += "\"examples\":[";
    const auto add = [&](const Json& one) {
      if (labelled.examples++ > 0) to += ',';
      const std::vector<double> values = text != nullptr ? values_of_text(one) : values_of_attributes(one);
      append(values, !marginals.empty(), kbest, to);
      if (explain != nullptr && explained_number(*explain, "example").value_or(0) + 1 == labelled.examples)
        append_reasons(one, *explain, values, to);
      to += '}';
      budget.check(to);
    };
    if (given.is_array()) {
      for (const Json& one : given) add(one);
    } else {
      add(given);
    }
    to += ']';
    return labelled;
  }

 private:
  // The probability of each label, or its score where there are none.
  std::vector<double> values_of_text(const Json& text) const {
    if (!text.is_string()) throw BadQuestion("text: expected a string or a list of strings");
    const auto string = text.get<std::string>();
    return classifier_.has_probabilities() ? classifier_.text_probabilities(string)
                                           : classifier_.text_scores(string);
  }
  std::vector<double> values_of_attributes(const Json& attributes) const {
    if (!attributes.is_object())
      throw BadQuestion("attributes: expected an object of numbers by name, or a list of them");
    std::vector<Classifier::Attribute> all;
    for (const Json::Member& one : attributes.items()) {
      if (!one.value.is_number())
        throw BadQuestion(fmt::format("attributes: {} is not a number", in_quotes(one.key)));
      all.push_back({one.key, one.value.get<float>()});
    }
    return classifier_.has_probabilities() ? classifier_.probabilities(all) : classifier_.scores(all);
  }

  // All but the end.
  void append(const std::vector<double>& values, bool marginals, std::size_t kbest, std::string& to) const {
    std::vector<std::uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return values[a] > values[b]; });
    to += "{\"label\":";
    append_json(classifier_.label(order.front()), to);
    if (marginals) {
      to += ",\"marginals\":{";
      for (std::uint32_t y = 0; y < values.size(); ++y) {
        if (y > 0) to += ',';
        append_json(classifier_.label(y), to);
        to += ':';
        append_json(values[y], to);
      }
      to += '}';
    }
    if (kbest > 0) {
      to += ",\"kbest\":";
      append_json_list(std::min(kbest, order.size()), to, [&](std::size_t rank) {
        to += "{\"label\":";
        append_json(classifier_.label(order[rank]), to);
        append_json_value(classifier_.has_probabilities(), values[order[rank]], to);
        to += '}';
      });
    }
  }

  void append_reasons(const Json& example, const Json& explain, const std::vector<double>& values,
                      std::string& to) {
    std::string label(
        classifier_.label(static_cast<std::uint32_t>(std::ranges::max_element(values) - values.begin())));
    if (const Json* other = member(explain, "label")) {
      label = other->is_string() ? other->get<std::string>() : std::string();
      if (!classifier_.find_label(label))
        throw BadQuestion(fmt::format("explain: {}; expected a label of the model", in_quotes(label)));
    }
    to += ",\"explanation\":";
    append_explanation({}, label, reasons_.of(example, label), to);
  }

  const Classifier& classifier_;
  std::unique_ptr<Predictions> files_;
  ClassifyReasons reasons_;
};

}  // namespace

std::unique_ptr<Predictions> make_classify_predictions(const Model& model) {
  return std::make_unique<ClassifyPredictions>(model);
}

}  // namespace espalier::serve
