#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "serve/predictions.h"
#include "tasks/json_lines.h"

namespace espalier::serve {
namespace {

class ClassifyPredictions final : public Predictions {
 public:
  explicit ClassifyPredictions(const Model& model)
      : classifier_(model.classifier()), files_(make_file_predictions(model, {})) {}

  Labelled answer(const Json& question, const Budget& budget, std::string& to) override {
    if (member(question, "input") != nullptr) return files_->answer(question, budget, to);
    check_members(question, {"text", "attributes", "input", "format", "marginals", "kbest"});
    const Json *text = member(question, "text"), *attributes = member(question, "attributes");
    if ((text == nullptr) == (attributes == nullptr))
      throw BadQuestion("expected one of text, attributes and input");
    const std::size_t kbest = kbest_of(question, budget);
    const std::string marginals = marginals_of(question);
    if (marginals == "entity") throw BadQuestion("marginals: expected true or \"label\"");
    if (!marginals.empty() && !classifier_.has_probabilities())
      throw BadQuestion("marginals: the loss of this model has no probabilities");

    const Json& given = text != nullptr ? *text : *attributes;
    Labelled labelled;
    to += "\"examples\":[";
    const auto add = [&](const Json& one) {
      if (labelled.examples++ > 0) to += ',';
      append(text != nullptr ? values_of_text(one) : values_of_attributes(one), !marginals.empty(), kbest,
             to);
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
        throw BadQuestion(fmt::format("attributes: {} is no number", in_quotes(one.key)));
      all.push_back({one.key, one.value.get<float>()});
    }
    return classifier_.has_probabilities() ? classifier_.probabilities(all) : classifier_.scores(all);
  }

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
    to += '}';
  }

  const Classifier& classifier_;
  std::unique_ptr<Predictions> files_;
};

}  // namespace

std::unique_ptr<Predictions> make_classify_predictions(const Model& model) {
  return std::make_unique<ClassifyPredictions>(model);
}

}  // namespace espalier::serve
