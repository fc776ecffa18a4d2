// Where a dependency parser is wrong.

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/parse.h"
#include "report/quality.h"
#include "report/tallies.h"

namespace espalier {
namespace {

struct Attached {
  std::size_t words = 0, heads = 0, labelled = 0;
};

// By relation, say: [["By relation", "relation", [{"name", "words", "heads", "labelled"}]], ...].
class AttachedBy {
 public:
  void add(std::string_view name, bool head, bool labelled) {
    Attached& of = counts_[std::string(name)];
    ++of.words;
    of.heads += head ? 1 : 0;
    of.labelled += labelled ? 1 : 0;
  }
  bool empty() const { return counts_.empty(); }
  // The most frequent ones first; or in the order of `names`.
  Json json(const char* caption, const char* what, std::span<const std::string> names = {}) const {
    constexpr std::size_t kMost = 60;
    std::vector<std::pair<std::string, Attached>> order(counts_.begin(), counts_.end());
    std::ranges::stable_sort(order,
                             [](const auto& a, const auto& b) { return a.second.words > b.second.words; });
    order.resize(std::min(order.size(), kMost));
    if (!names.empty())
      std::ranges::sort(order, {},
                        [&](const auto& one) { return std::ranges::find(names, one.first) - names.begin(); });
    Json list = Json::array();
    for (const auto& [name, of] : order)
      list.push_back({{"name", name}, {"words", of.words}, {"heads", of.heads}, {"labelled", of.labelled}});
    return Json::array({caption, what, list});
  }

 private:
  std::map<std::string, Attached> counts_;
};

std::string_view part_of_speech(const DependencyWord& word) {
  return word.coarse.empty() || word.coarse == "_" ? word.fine : word.coarse;
}

const std::array<std::string, 11> kDistances{"root", "1", "2", "3", "4",         "5",
                                             "6",    "7", "8", "9", "10 or more"};

const std::string& distance_name(std::size_t head, std::size_t word) {
  if (head == 0) return kDistances.front();
  return kDistances[std::min(head < word ? word - head : head - word, kDistances.size() - 1)];
}

class ParseQuality {
 public:
  explicit ParseQuality(const Parser& parser) : parser_(parser), parsed_(parser) {}

  void add(const DependencySentence& gold) {
    parsed_.set(gold);
    const auto heads = parsed_.heads();
    heads_.assign(heads.begin(), heads.end());
    relations_.clear();
    for (const std::string_view relation : parsed_.relations()) relations_.emplace_back(relation);
    std::size_t right_heads = 0, wrong = 0;
    likely_ = Json::object();
    kinds_.clear();
    sureness_ = 0;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      const DependencyWord& word = gold.words[i];
      const bool head = heads_[i] == word.head;
      const bool labelled = head && (relations_.empty() || relations_[i] == word.relation);
      right_heads += head ? 1 : 0;
      wrong += labelled ? 0 : 1;
      by_distance_.add(distance_name(word.head, i + 1), head, labelled);
      by_tag_.add(part_of_speech(word), head, labelled);
      if (!relations_.empty()) {
        by_relation_.add(word.relation, head, labelled);
        pairs_.add(word.relation, relations_[i]);
      }
      if (parser_.has_probabilities()) add_probabilities(i, word, head);
      if (!labelled)
        kinds_.push_back(relations_.empty() ? std::string(part_of_speech(word))
                                            : std::string(word.relation) + '\t' + relations_[i]);
    }
    lengths_.add(heads_.size(), right_heads);
    if (wrong > 0) add_error(gold, wrong);
  }

  void write(Json& quality) {
    Json& tables = quality["attachment"] = Json::array();
    if (!by_relation_.empty()) tables.push_back(by_relation_.json("By relation", "relation"));
    tables.push_back(by_tag_.json("By part of speech", "part of speech"));
    tables.push_back(by_distance_.json("By distance to the head", "distance", kDistances));
    if (!by_relation_.empty()) quality["confusion"] = pairs_.json();
    quality["lengths"] = lengths_.json();
    if (!calibration_.empty()) quality["calibration"] = calibration_.json();
    quality["errors"] = errors_.json();
    quality["errors"]["measure"] = parser_.has_probabilities() ? "probability" : "errors";
    Json& names = quality["labels"] = Json::array();
    for (std::uint32_t r = 0; r < labels_.size(); ++r) names.push_back(labels_.name(r));
  }

 private:
  void add_probabilities(std::size_t i, const DependencyWord& word, bool right) {
    const std::span<const double> of = parsed_.head_probabilities(i + 1);
    const double predicted = of[heads_[i]];
    calibration_.add(predicted, right);
    if (right) return;
    sureness_ = std::max(sureness_, predicted);
    likely_[std::to_string(i + 1)] = most_likely(of, word.head);
  }

  void add_error(const DependencySentence& gold, std::size_t wrong) {
    constexpr std::size_t kLongest = 60;  // words of a tree that a page can draw
    if (heads_.size() > kLongest) return errors_.add(0, {}, Json());
    Json words = Json::array(), tags = Json::array(), heads = Json::array();
    Json relations = Json::array(), predicted_relations = Json::array();
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      const DependencyWord& word = gold.words[i];
      words.push_back(word.form);
      tags.push_back(part_of_speech(word));
      heads.push_back(word.head);
      if (relations_.empty()) continue;
      relations.push_back(labels_.add(word.relation));
      predicted_relations.push_back(labels_.add(relations_[i]));
    }
    Json content{{"words", words}, {"tags", tags}, {"heads", heads}, {"predicted", heads_}};
    if (!relations_.empty()) {
      content["relations"] = relations;
      content["predicted_relations"] = predicted_relations;
    }
    const double measure = parser_.has_probabilities() ? sureness_ : static_cast<double>(wrong);
    if (!likely_.empty()) content["likely"] = likely_;
    content["sure"] = short_json(measure);
    errors_.add(measure, kinds_, std::move(content));
  }

  const Parser& parser_;
  Parser::Sentence parsed_;
  AttachedBy by_relation_, by_tag_, by_distance_;
  LabelPairs pairs_;
  LengthTally lengths_;
  Calibration calibration_;
  ErrorList errors_;
  Dictionary labels_;
  // Of the sentence.
  std::vector<std::uint32_t> heads_;
  std::vector<std::string> relations_, kinds_;
  Json likely_;
  double sureness_ = 0;
};

}  // namespace

void add_parse_quality(const Model& model, const std::string& data, Json& quality) {
  ParseQuality parse(model.parser());
  for (const DependencySentence& gold : read_dependencies(data, true)) parse.add(gold);
  parse.write(quality);
}

}  // namespace espalier
