#include "serve/classify_reasons.h"

#include <map>
#include <optional>
#include <span>

#include "features/text_attributes.h"
#include "model/make_model.h"
#include "serve/question.h"
#include "tasks/classify/reader.h"
#include "tasks/common.h"

namespace espalier::serve {

struct ClassifyReasons::State {
  explicit State(const Model& of) : model(of), settings(of.describe().at("settings")) {
    if (!settings.contains("text")) return;
    const Json& json = settings.at("text");
    text = {json.at("ngrams").get<std::size_t>(), json.at("char_ngrams").get<std::size_t>(),
            json.at("keep_case").get<bool>(), TextWeighting::count};
    if (json.at("weighting") == Json("binary")) text.weighting = TextWeighting::binary;
    if (json.at("weighting") == Json("tf-idf")) text.weighting = TextWeighting::tf_idf;
    attributes.emplace(text);
    if (text.weighting == TextWeighting::tf_idf)
      idf = as_numbers<float>(section_of(of, "idf"), "idf", of.name());
  }

  // The known attributes of an example by their numbers, as training and prediction have them.
  std::map<std::uint32_t, float> values_of(const Json& example) {
    const Dictionary& names = model.predictor().attributes();
    std::map<std::uint32_t, float> values;
    if (example.is_string()) {
      if (!attributes) return values;
      for (const std::string_view name : attributes->of(example.get<std::string>())) {
        const auto id = names.find(name);
        if (!id) continue;
        float& value = values[*id];
        value = text.weighting == TextWeighting::binary ? 1.0f : value + 1.0f;
      }
      if (!idf.empty()) weigh(values);
    } else {
      for (const Json::Member& one : example.items()) {
        if (const auto id = names.find(one.key)) values[*id] += one.value.get<float>();
      }
    }
    if (settings.at("bias") == Json(true)) {
      if (const auto bias = names.find(kBiasAttribute)) values[*bias] = 1;
    }
    return values;
  }
  void weigh(std::map<std::uint32_t, float>& values) const {
    std::vector<std::uint32_t> ids;
    std::vector<float> weighed;
    for (const auto& [id, value] : values) {
      ids.push_back(id);
      weighed.push_back(value);
    }
    weigh_by_tf_idf(ids, idf, weighed);
    for (std::size_t j = 0; j < ids.size(); ++j) values[ids[j]] = weighed[j];
  }

  const Model& model;
  Json settings;
  TextSettings text;
  std::optional<TextAttributes> attributes;
  std::span<const float> idf;
};

ClassifyReasons::ClassifyReasons(const Model& model) : state_(std::make_unique<State>(model)) {}
ClassifyReasons::~ClassifyReasons() = default;

std::vector<Reason> ClassifyReasons::of(const Json& example, std::string_view label) {
  if (state_->settings.contains("kernel"))
    throw BadQuestion("explain: a model of a kernel, which has no weights of attributes");
  std::vector<Reason> reasons;
  for (const auto& [id, value] : state_->values_of(example)) {
    const std::string_view name = state_->model.predictor().attributes().name(id);
    if (const auto weight = state_->model.predictor().find_weight({name, {}, label}))
      reasons.push_back({std::string(name), {}, value, *weight});
  }
  return reasons;
}

}  // namespace espalier::serve
