// A score is the sum of what the templates contribute: s(y) = sum_k c_k(y). With both centred over labels,
// sum_y s(y)^2 = sum_k sum_y c_k(y) s(y), so that the shares
//   share_k = sum c_k(y) s(y) / sum s(y)^2
// over all tokens and labels add up to 1: how much of the variance is gone without the template.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "report/attribute_templates.h"
#include "report/learnt.h"
#include "report/tallies.h"

namespace espalier {
namespace {

constexpr std::size_t kMostContributions = 3'000'000;  // that are looked at

class Shares {
 public:
  explicit Shares(std::size_t num_labels) : num_labels_(num_labels) {}

  void add(std::string_view name, std::size_t label, double contribution) {
    if (name.empty()) name = kNoTemplate;
    auto found = templates_.find(name);
    if (found == templates_.end())
      found = templates_.emplace(name, Template{std::vector<double>(num_labels_), 0}).first;
    found->second.contributions[label] += contribution;
    ++contributions_;
  }
  bool full() const { return contributions_ > kMostContributions; }

  // Ends a token or an example.
  void finish() {
    std::vector<double> score(num_labels_);
    for (auto& [name, one] : templates_) {
      double mean = 0;
      for (const double c : one.contributions) mean += c / static_cast<double>(num_labels_);
      for (std::size_t y = 0; y < num_labels_; ++y) score[y] += one.contributions[y] -= mean;
    }
    for (auto& [name, one] : templates_) {
      for (std::size_t y = 0; y < num_labels_; ++y) one.covariance += one.contributions[y] * score[y];
      one.contributions.assign(num_labels_, 0.0);
    }
    for (const double s : score) variance_ += s * s;
    ++examples_;
  }

  Json json() const {
    if (variance_ == 0) return nullptr;
    Json shares = Json::object();
    for (const auto& [name, one] : templates_) shares[name] = short_json(one.covariance / variance_);
    return {{"examples", examples_}, {"shares", shares}};
  }

 private:
  struct Template {
    std::vector<double> contributions;  // to each label, of this token
    double covariance;
  };
  std::size_t num_labels_, contributions_ = 0, examples_ = 0;
  std::map<std::string, Template, std::less<>> templates_;
  double variance_ = 0;
};

Json shares_of_tags(const Tagger& tagger, const std::string& data) {
  Shares shares(tagger.num_labels());
  tagger.for_each_labelled(data, [&](Tagger::Sentence& sentence, const Tagger::Labelled&) {
    const auto best = sentence.labels();
    std::vector<std::uint32_t> labels(best.begin(), best.end());
    for (std::size_t t = 0; t < labels.size() && !shares.full(); ++t) {
      const std::uint32_t predicted = labels[t];
      for (std::uint32_t y = 0; y < tagger.num_labels(); ++y) {
        labels[t] = y;  // after the label that is predicted before it
        sentence.for_each_contribution(t, labels, [&](const Tagger::Sentence::Contribution& of) {
          shares.add(of.before.empty() ? template_parts(of.attribute).name : kTransitionTemplate, y,
                     of.value * of.weight);
        });
      }
      labels[t] = predicted;
      shares.finish();
    }
    return !shares.full();
  });
  return shares.json();
}

Json shares_of_classes(const Model& model, const std::string& data) {
  const Classifier& classifier = model.classifier();
  const Predictor& predictor = model.predictor();
  Shares shares(classifier.num_labels());
  classifier.for_each_labelled(data, [&](const Classifier::Labelled& example) {
    for (std::size_t j = 0; j < example.attributes.size(); ++j) {
      const std::string_view attribute = predictor.attributes().name(example.attributes[j]);
      const double value = example.values.empty() ? 1 : example.values[j];
      for (std::uint32_t y = 0; y < classifier.num_labels(); ++y) {
        if (const auto weight = predictor.find_weight({attribute, {}, classifier.label(y)}))
          shares.add(template_parts(attribute).name, y, value * *weight);
      }
    }
    shares.finish();
    return !shares.full();
  });
  return shares.json();
}

}  // namespace

Json template_shares(const Model& model, const std::string& data) {
  if (model.describe().at("settings").contains("kernel")) return nullptr;
  if (model.info().task == "tag") return shares_of_tags(model.tagger(), data);
  if (model.info().task == "classify") return shares_of_classes(model, data);
  return nullptr;
}

}  // namespace espalier
