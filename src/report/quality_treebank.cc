// Where a phrase-structure parser is wrong.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "espalier/tasks/treebank.h"
#include "report/quality.h"
#include "report/tallies.h"
#include "tasks/treebank/parseval.h"

namespace espalier {
namespace {

struct Brackets {
  std::size_t gold = 0, predicted = 0, correct = 0;
};

void collect_labels(const BracketTree& tree, std::set<std::string>& labels) {
  if (tree.is_word()) return;
  labels.emplace(without_function(tree.label));
  for (const BracketTree& child : tree.children) collect_labels(child, labels);
}

using Span = std::tuple<std::size_t, std::size_t, std::string>;  // begin, end, label

void collect_spans(const BracketTree& tree, std::size_t& begin, std::set<Span>& spans) {
  const std::size_t first = begin;
  if (tree.is_word()) ++begin;
  for (const BracketTree& child : tree.children) collect_spans(child, begin, spans);
  if (!tree.is_word()) spans.emplace(first, begin, tree.label);
}

// [label, child, ...], [tag, "word"]
Json nested(const BracketTree& tree) {
  Json list = Json::array({tree.label});
  if (tree.is_word()) list.push_back(tree.word);
  for (const BracketTree& child : tree.children) list.push_back(nested(child));
  return list;
}

class TreebankQuality {
 public:
  explicit TreebankQuality(const TreebankParser& parser) : parser_(parser), parsed_(parser) {}

  void add(const BracketTree& gold) {
    words_.clear();
    append_words(gold, words_);
    parsed_.set(words_);
    const BracketTree predicted = parsed_.tree();
    const ParsevalCounts counts = count_brackets(gold, predicted);
    if (counts.status == ParsevalCounts::Status::valid) count_by_label(gold, predicted);
    if (parser_.has_probabilities()) calibrate(gold, predicted);
    if (counts.exact() && counts.correct_tags == counts.words) return;
    constexpr std::size_t kLongest = 60;  // words of a tree that a page can draw
    if (words_.size() > kLongest) return errors_.add(0, {}, Json());
    Json content{{"gold", nested(gold)}, {"predicted", nested(predicted)}};
    Json& words = content["words"] = Json::array();
    for (const TaggedWord& word : words_) words.push_back(word.word);
    const double sureness = parser_.has_probabilities()
                                ? parsed_.probability(parsed_.kbest(1).front().score)
                                : static_cast<double>(counts.gold + counts.predicted - 2 * counts.matched);
    content["sure"] = short_json(sureness);
    errors_.add(sureness, {}, std::move(content));
  }

  void write(Json& quality) {
    std::vector<std::pair<std::string, Brackets>> order(labels_.begin(), labels_.end());
    std::ranges::stable_sort(order,
                             [](const auto& a, const auto& b) { return a.second.gold > b.second.gold; });
    Json& types = quality["types"] = Json::object();
    for (const auto& [label, of] : order) {
      if (of.gold + of.predicted > 0)
        types[label] = {{"gold", of.gold}, {"predicted", of.predicted}, {"correct", of.correct}};
    }
    if (!calibration_.empty()) quality["calibration"] = calibration_.json();
    quality["errors"] = errors_.json();
    quality["errors"]["measure"] = parser_.has_probabilities() ? "probability" : "errors";
  }

 private:
  // A constituent of the predicted tree, once where a label repeats over the same words, is right where the
  // gold tree has it.
  void calibrate(const BracketTree& gold, const BracketTree& predicted) {
    std::set<Span> golds, predictions;
    std::size_t begin = 0;
    collect_spans(gold, begin, golds);
    begin = 0;
    collect_spans(predicted, begin, predictions);
    for (const TreebankParser::Sentence::Constituent& one : parsed_.constituents()) {
      const Span span{one.begin, one.end, std::string(one.label)};
      if (predictions.contains(span)) calibration_.add(std::min(1.0, one.probability), golds.contains(span));
    }
  }
  // As evalb counts them, one label at a time: brackets of the others are deleted.
  void count_by_label(const BracketTree& gold, const BracketTree& predicted) {
    const ParsevalRules usual;
    std::set<std::string> labels;
    collect_labels(gold, labels);
    collect_labels(predicted, labels);
    for (const auto& [one, other] : usual.equal) {
      if (labels.erase(one) > 0) labels.insert(other);
    }
    for (const std::string& label : usual.deleted) labels.erase(label);
    for (const std::string& label : labels) {
      ParsevalRules rules = usual;
      for (const std::string& other : labels) {
        if (other != label) rules.deleted.push_back(other);
      }
      for (const auto& [one, other] : usual.equal) {
        if (other != label) rules.deleted.push_back(one);
      }
      const ParsevalCounts counts = count_brackets(gold, predicted, rules);
      Brackets& of = labels_[label];
      of.gold += counts.gold;
      of.predicted += counts.predicted;
      of.correct += counts.matched;
    }
  }

  const TreebankParser& parser_;
  TreebankParser::Sentence parsed_;
  std::vector<TaggedWord> words_;
  std::map<std::string, Brackets> labels_;
  Calibration calibration_;
  ErrorList errors_;
};

}  // namespace

void add_treebank_quality(const Model& model, const std::string& data, Json& quality) {
  const Json settings = model.describe().at("settings");
  TreebankData trees;
  trees.read(data);
  TreebankQuality treebank(model.treebank_parser());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    BracketTree tree = trees.tree(i);
    if (!settings.at("traces").get<bool>() && !remove_traces(tree)) continue;
    if (!settings.at("functions").get<bool>()) remove_functions(tree);
    treebank.add(tree);
  }
  treebank.write(quality);
}

}  // namespace espalier
