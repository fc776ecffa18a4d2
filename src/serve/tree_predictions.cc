// Parsers: what `predict` writes of sentences, with what only one who asks wants to know: why a word has its
// head, or a phrase its label, and how probable phrases are.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/treebank.h"
#include "serve/explanation.h"
#include "serve/predictions.h"

namespace espalier::serve {
namespace {

// The question without what is answered here.
Json without(const Json& question, std::initializer_list<std::string_view> names) {
  Json rest = question;
  for (const std::string_view name : names) {
    if (rest.contains(name)) rest.erase(name);
  }
  return rest;
}

// The one of `results` that is to be explained.
Json& explained(Json& results, const Json& explain) {
  const std::size_t number = explained_number(explain, "sentence").value_or(0);
  if (number >= results.size())
    throw BadQuestion(
        fmt::format("explain: sentence {}; expected one of the {}, from 0", number, results.size()));
  return results[number];
}

Json explanation_of(std::string_view label, std::vector<Reason> reasons) {
  std::string text;
  append_explanation({}, label, std::move(reasons), text);
  return Json::parse(text);
}

class ParsePredictions final : public Predictions {
 public:
  ParsePredictions(const Model& model, std::span<const ColumnTagger> taggers)
      : parser_(model.parser()), parsed_(parser_), files_(make_file_predictions(model, taggers)) {}

  Labelled answer(const Json& question, const Budget& budget, std::string& to) override {
    const Json* explain = member(question, "explain");
    if (explain == nullptr) return files_->answer(question, budget, to);
    check_members(*explain, {"sentence", "word", "head"});
    if (member(question, "input") != nullptr) throw BadQuestion("explain: expected text or tokens");
    std::string text = "{";
    const Labelled labelled = files_->answer(without(question, {"explain"}), budget, text);
    Json results = Json::parse(text + '}').at("results");
    add_reasons(question, *explain, results);
    to += "\"results\":" + results.dump();
    budget.check(to);
    return labelled;
  }

 private:
  // The sentence as it was parsed: the parts of speech are among the tokens, or were found by other models.
  void take(const Json& words, const Json* tokens, const Json* columns) {
    parsed_.clear();
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::vector<std::string> fields{words[i].get<std::string>()};
      const Json* tags = tokens != nullptr ? &(*tokens)[i] : columns != nullptr ? &(*columns)[i] : nullptr;
      if (tags != nullptr && tags->is_array()) {
        for (std::size_t k = tokens != nullptr ? 1 : 0; k < tags->size(); ++k)
          fields.push_back((*tags)[k].get<std::string>());
      }
      fields.resize(2, "_");
      fields.resize(3, fields[1]);
      parsed_.add({.form = fields[0], .coarse = fields[1], .fine = fields[2]});
    }
  }

  // Sentences without tokens have no results.
  static std::size_t nonempty(const Json& sentences, std::size_t number) {
    std::size_t i = 0;
    for (std::size_t seen = 0; seen < number || sentences[i].empty(); ++i)
      seen += sentences[i].empty() ? 0 : 1;
    return i;
  }

  void add_reasons(const Json& question, const Json& explain, Json& results) {
    Json& result = explained(results, explain);
    const std::size_t sentence = explained_number(explain, "sentence").value_or(0),
                      size = result.at("words").size();
    const auto word = explained_number(explain, "word");
    if (!word || *word == 0 || *word > size)
      throw BadQuestion(fmt::format("explain: expected the number of a word, from 1 to {}", size));
    const Json *tokens = member(question, "tokens"), *forced = member(question, "forced");
    const std::size_t asked = tokens != nullptr ? nonempty(*tokens, sentence) : sentence;
    take(result.at("words"), tokens != nullptr ? &(*tokens)[asked] : nullptr, member(result, "columns"));
    if (forced != nullptr) {
      std::vector<std::optional<std::uint32_t>> heads;
      for (const Json& head : (*forced)[asked])
        heads.push_back(head.is_null() ? std::nullopt : std::optional(head.get<std::uint32_t>()));
      parsed_.force_heads(heads);
    }
    const auto found = result.at("heads")[*word - 1].get<std::uint32_t>();
    const std::size_t head = explained_number(explain, "head").value_or(found);
    std::vector<Parser::Sentence::Contribution> all;
    parsed_.for_each_contribution(*word, *word, [&](const Parser::Sentence::Contribution& one) {
      if (one.head == head) all.push_back(one);
    });
    if (all.empty())
      throw BadQuestion(
          fmt::format("explain: the head {} of word {}, which pruning leaves out", head, *word));
    const std::optional<std::uint32_t> relation = relation_of(result, *word, head == found, all);
    std::vector<Reason> reasons;
    for (const Parser::Sentence::Contribution& one : all) {
      if (!one.relation || one.relation == relation)
        reasons.push_back({std::string(one.feature), {}, 1, one.weight});
    }
    Json explanation = explanation_of(relation ? parser_.relation(*relation) : "", std::move(reasons));
    explanation["word"] = *word;
    explanation["head"] = head;
    result["explanation"] = explanation;
  }

  // That of the tree, or the best one to another head.
  std::optional<std::uint32_t> relation_of(const Json& result, std::size_t word, bool in_tree,
                                           std::span<const Parser::Sentence::Contribution> all) const {
    if (!parser_.labelled()) return std::nullopt;
    if (in_tree) return parser_.find_relation(result.at("relations")[word - 1].get<std::string>());
    std::vector<double> sums(parser_.num_relations());
    for (const auto& one : all) {
      if (one.relation) sums[*one.relation] += one.weight;
    }
    return static_cast<std::uint32_t>(std::ranges::max_element(sums) - sums.begin());
  }

  const Parser& parser_;
  Parser::Sentence parsed_;
  std::unique_ptr<Predictions> files_;
};

class TreebankPredictions final : public Predictions {
 public:
  TreebankPredictions(const Model& model, std::span<const ColumnTagger> taggers)
      : parser_(model.treebank_parser()), parsed_(parser_), files_(make_file_predictions(model, taggers)) {}

  Labelled answer(const Json& question, const Budget& budget, std::string& to) override {
    const Json* explain = member(question, "explain");
    const bool marginals = !marginals_of(question).empty();
    if (marginals && !parser_.has_probabilities())
      throw BadQuestion("marginals: the loss of this model has no probabilities");
    if (explain != nullptr) check_members(*explain, {"sentence", "begin", "end", "label"});
    std::string text = "{";
    const Labelled labelled = files_->answer(without(question, {"explain", "marginals"}), budget, text);
    if (explain == nullptr && !marginals) {
      to += std::string_view(text).substr(1);
      return labelled;
    }
    Json results = Json::parse(text + '}').at("results");
    for (std::size_t i = 0; marginals && i < results.size(); ++i) {
      take(results[i]);
      Json& list = results[i]["constituents"] = Json::array();
      for (const TreebankParser::Sentence::Constituent& one : parsed_.constituents(0.001))
        list.push_back(
            {{"label", one.label}, {"begin", one.begin}, {"end", one.end}, {"probability", one.probability}});
      budget.check(to);
    }
    if (explain != nullptr) add_reasons(*explain, explained(results, *explain));
    to += "\"results\":" + results.dump();
    budget.check(to);
    return labelled;
  }

 private:
  // The words of a tree, with their tags.
  void take(const Json& result) {
    TreebankData data;
    data.add(std::string_view(result.at("tree").get<std::string>()));
    std::vector<TaggedWord> words;
    append_words(data.tree(0), words);
    parsed_.set(words);
  }

  void add_reasons(const Json& explain, Json& result) {
    take(result);
    const auto begin = explained_number(explain, "begin"), end = explained_number(explain, "end");
    const Json* label = member(explain, "label");
    if (!begin || !end || *begin >= *end || *end > parsed_.size() || label == nullptr || !label->is_string())
      throw BadQuestion(fmt::format("explain: expected begin, end (words 0 to {}) and the label of a phrase",
                                    parsed_.size()));
    const auto name = label->get<std::string>();
    std::vector<Reason> reasons;
    parsed_.for_each_contribution([&](const TreebankParser::Sentence::Contribution& one) {
      if (one.begin == *begin && one.end == *end && one.label == name)
        reasons.push_back({std::string(one.feature), {}, 1, one.weight});
    });
    if (reasons.empty())
      throw BadQuestion(
          fmt::format("explain: {} over words {} to {}, of which no feature of the model says anything",
                      in_quotes(name), *begin, *end));
    Json explanation = explanation_of(name, std::move(reasons));
    explanation["begin"] = *begin;
    explanation["end"] = *end;
    result["explanation"] = explanation;
  }

  const TreebankParser& parser_;
  TreebankParser::Sentence parsed_;
  std::unique_ptr<Predictions> files_;
};

}  // namespace

std::unique_ptr<Predictions> make_parse_predictions(const Model& model,
                                                    std::span<const ColumnTagger> taggers) {
  return std::make_unique<ParsePredictions>(model, taggers);
}

std::unique_ptr<Predictions> make_treebank_predictions(const Model& model,
                                                       std::span<const ColumnTagger> taggers) {
  return std::make_unique<TreebankPredictions>(model, taggers);
}

}  // namespace espalier::serve
