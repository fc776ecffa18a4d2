// Where a tagger is wrong.

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "espalier/tasks/tag.h"
#include "report/attribute_templates.h"
#include "report/quality.h"
#include "report/tallies.h"

namespace espalier {
namespace {

struct Right {
  std::size_t tokens = 0, correct = 0;
  Json json() const { return {{"tokens", tokens}, {"correct", correct}}; }
};

// Accuracy of words that the model has an attribute for, and of others. The words' attributes are those of
// the template that has the most of the data's words; without one, nothing is known of words.
Json known_words(const std::unordered_map<std::string, Right>& words, const Dictionary& attributes) {
  std::map<std::string, std::size_t, std::less<>> matches;
  for (std::uint32_t id = 0; id < attributes.size(); ++id) {
    const TemplateParts parts = template_parts(attributes.name(id));
    if (parts.name.empty() || !words.contains(std::string(parts.value))) continue;
    auto found = matches.find(parts.name);
    if (found == matches.end()) found = matches.emplace(parts.name, 0).first;
    ++found->second;
  }
  const auto best =
      std::ranges::max_element(matches, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == matches.end() || best->second * 4 < words.size()) return nullptr;
  const std::string& name = best->first;
  std::string attribute;
  const auto has = [&](char between, const std::string& word) {
    attribute = name;
    attribute += between;
    attribute += word;
    return attributes.find(attribute).has_value();
  };
  Right seen, unseen;
  for (const auto& [word, right] : words) {
    Right& of = has('=', word) || has(':', word) ? seen : unseen;
    of.tokens += right.tokens;
    of.correct += right.correct;
  }
  return {{"template", name}, {"seen", seen.json()}, {"unseen", unseen.json()}};
}

class TagQuality {
 public:
  explicit TagQuality(const Tagger& tagger) : tagger_(tagger) {
    for (std::uint32_t y = 0; y < tagger.num_labels(); ++y) labels_.add(tagger.label(y));
  }

  void add(Tagger::Sentence& sentence, const Tagger::Labelled& labelled) {
    const auto best = sentence.labels();
    predicted_.assign(best.begin(), best.end());
    probabilities_ = tagger_.has_probabilities() ? sentence.marginals() : std::span<const double>();
    std::size_t correct = 0;
    for (std::size_t t = 0; t < predicted_.size(); ++t) {
      const bool right = labelled.gold[t] == tagger_.label(predicted_[t]);
      correct += right ? 1 : 0;
      pairs_.add(labelled.gold[t], tagger_.label(predicted_[t]));
      if (!probabilities_.empty()) calibration_.add(probability(t, predicted_[t]), right);
      Right& word = words_[std::string(word_of(labelled.words[t]))];
      ++word.tokens;
      word.correct += right ? 1 : 0;
    }
    lengths_.add(predicted_.size(), correct);
    ++sentences_;
    if (correct < predicted_.size()) add_error(sentence, labelled);
  }

  void write(const Dictionary& attributes, Json& quality) {
    quality["sentences"] = sentences_;
    quality["confusion"] = pairs_.json();
    quality["lengths"] = lengths_.json();
    if (!calibration_.empty()) quality["calibration"] = calibration_.json();
    const Json words = known_words(words_, attributes);
    if (!words.is_null()) quality["words"] = words;
    quality["errors"] = errors_.json();
    quality["errors"]["measure"] = tagger_.has_probabilities() ? "probability" : "score";
    Json& names = quality["labels"] = Json::array();
    for (std::uint32_t y = 0; y < labels_.size(); ++y) names.push_back(labels_.name(y));
  }

 private:
  double probability(std::size_t t, std::uint32_t label) const {
    return probabilities_[t * tagger_.num_labels() + label];
  }

  // In files of attributes a word is the first of them, "w[0]=The".
  std::string_view word_of(std::string_view word) const {
    if (tagger_.format() == TagFormat::columns) return word;
    const TemplateParts parts = template_parts(word);
    return parts.name.empty() ? word : parts.value;
  }

  void add_error(Tagger::Sentence& sentence, const Tagger::Labelled& labelled) {
    constexpr std::size_t kLongest = 200;  // tokens that are shown of a sentence
    constexpr double kSure = 0.995;
    Json words = Json::array(), gold = Json::array(), predicted = Json::array(),
         likely_labels = Json::object();
    std::vector<std::string> kinds;
    std::vector<std::uint32_t> gold_ids;
    bool known = true;
    double sureness = 0;
    for (std::size_t t = 0; t < predicted_.size(); ++t) {
      const bool right = labelled.gold[t] == tagger_.label(predicted_[t]);
      const auto gold_id = tagger_.find_label(labelled.gold[t]);
      known = known && gold_id;
      gold_ids.push_back(gold_id.value_or(0));
      if (!right) {
        if (!probabilities_.empty()) sureness = std::max(sureness, probability(t, predicted_[t]));
        kinds.push_back(std::string(labelled.gold[t]) + '\t' + std::string(tagger_.label(predicted_[t])));
      }
      if (t >= kLongest) continue;
      words.push_back(word_of(labelled.words[t]));
      gold.push_back(labels_.add(labelled.gold[t]));
      predicted.push_back(predicted_[t]);
      if (!probabilities_.empty() && (!right || probability(t, predicted_[t]) < kSure))
        likely_labels[std::to_string(t)] =
            most_likely(probabilities_.subspan(t * tagger_.num_labels(), tagger_.num_labels()));
    }
    Json content{{"words", words}, {"gold", gold}, {"predicted", predicted}};
    if (predicted_.size() > kLongest) content["left_out"] = predicted_.size() - kLongest;
    if (!probabilities_.empty()) {
      content["likely"] = likely_labels;
    } else if (known) {
      sureness = sentence.score(predicted_) - sentence.score(gold_ids);
    }
    content["sure"] = short_json(sureness);
    errors_.add(sureness, std::move(kinds), std::move(content));
  }

  const Tagger& tagger_;
  Dictionary labels_;  // the model's, then others
  std::vector<std::uint32_t> predicted_;
  std::span<const double> probabilities_;
  std::size_t sentences_ = 0;
  LabelPairs pairs_;
  LengthTally lengths_;
  Calibration calibration_;
  std::unordered_map<std::string, Right> words_;
  ErrorList errors_;
};

}  // namespace

void add_tag_quality(const Model& model, const std::string& data, Json& quality) {
  TagQuality tag(model.tagger());
  model.tagger().for_each_labelled(data, [&](Tagger::Sentence& sentence, const Tagger::Labelled& labelled) {
    tag.add(sentence, labelled);
    return true;
  });
  tag.write(model.predictor().attributes(), quality);
}

}  // namespace espalier
