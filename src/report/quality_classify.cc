// Where a classifier is wrong.

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "espalier/tasks/classify.h"
#include "report/pixels.h"
#include "report/quality.h"
#include "report/tallies.h"

namespace espalier {
namespace {

class ClassifyQuality {
 public:
  ClassifyQuality(const Classifier& classifier, const Dictionary& attributes)
      : classifier_(classifier), attributes_(attributes), pixels_(find_pixels(attributes)) {
    for (std::uint32_t y = 0; y < classifier.num_labels(); ++y) labels_.add(classifier.label(y));
  }

  void add(const Classifier::Labelled& example) {
    const auto best =
        static_cast<std::uint32_t>(std::ranges::max_element(example.scores) - example.scores.begin());
    const std::string_view gold = example.gold.empty() ? kUnknown : example.gold;
    const bool right = gold == classifier_.label(best);
    pairs_.add(gold, classifier_.label(best));
    const std::size_t number = ++examples_;
    if (!example.probabilities.empty()) calibration_.add(example.probabilities[best], right);
    if (right) return;
    const std::uint32_t gold_id = labels_.add(gold);
    Json content{{"number", number}, {"gold", gold_id}, {"predicted", best}};
    double sureness = 0;
    if (!example.probabilities.empty()) {
      sureness = example.probabilities[best];
      content["likely"] = most_likely(example.probabilities);
    } else if (gold_id < example.scores.size()) {
      sureness = example.scores[best] - example.scores[gold_id];
    }
    content["sure"] = short_json(sureness);
    if (pixels_) {
      content["pixels"] = pixel_bytes(*pixels_, attributes_, example);
    } else {
      content["attributes"] = strongest(example);
    }
    errors_.add(sureness, {std::string(gold) + '\t' + std::string(classifier_.label(best))},
                std::move(content));
  }

  void write(Json& quality) {
    quality["examples"] = examples_;
    quality["confusion"] = pairs_.json();
    quality["confused"] = pairs_.most_confused(12);
    if (!calibration_.empty()) quality["calibration"] = calibration_.json();
    quality["errors"] = errors_.json();
    quality["errors"]["measure"] = classifier_.has_probabilities() ? "probability" : "score";
    if (pixels_) quality["pixels"] = Json{{"rows", pixels_->rows}, {"columns", pixels_->columns}};
    Json& names = quality["labels"] = Json::array();
    for (std::uint32_t y = 0; y < labels_.size(); ++y) names.push_back(labels_.name(y));
  }

 private:
  static constexpr std::string_view kUnknown = "(unknown)";

  // The attributes of an example, in its order: [name, value] where the value is not 1.
  Json strongest(const Classifier::Labelled& example) const {
    constexpr std::size_t kMost = 60;
    Json list = Json::array();
    for (std::size_t j = 0; j < std::min(example.attributes.size(), kMost); ++j) {
      const std::string_view name = attributes_.name(example.attributes[j]);
      const float value = example.values.empty() ? 1.0f : example.values[j];
      list.push_back(value == 1.0f ? Json(name) : Json::array({name, short_json(value)}));
    }
    if (example.attributes.size() > kMost) list.push_back("…");
    return list;
  }

  const Classifier& classifier_;
  const Dictionary& attributes_;
  std::optional<PixelGrid> pixels_;
  Dictionary labels_;  // the model's, then others
  std::size_t examples_ = 0;
  LabelPairs pairs_;
  Calibration calibration_;
  ErrorList errors_;
};

}  // namespace

void add_classify_quality(const Model& model, const std::string& data, Json& quality) {
  ClassifyQuality classify(model.classifier(), model.predictor().attributes());
  model.classifier().for_each_labelled(data, [&](const Classifier::Labelled& example) {
    classify.add(example);
    return true;
  });
  classify.write(quality);
}

}  // namespace espalier
