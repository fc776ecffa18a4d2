#include "generate/phrase_rules.h"

#include <algorithm>
#include <utility>

#include "espalier/base/error.h"
#include "generate/lexicon.h"
#include "generate/split.h"

namespace espalier {
namespace {

constexpr unsigned kFavour = 4;

std::string replace_all(std::string_view text, char variable, std::string_view value) {
  std::string result;
  for (const char c : text) {
    if (c == variable) {
      result += value;
    } else {
      result += c;
    }
  }
  return result;
}

// The rules that a row stands for: itself, or one for each value of its variable.
std::vector<std::pair<std::string, std::string>> instances(const RuleRow& row) {
  std::vector<std::pair<std::string, std::string>> result;
  const auto expand = [&](char variable, std::string_view values) {
    for (const std::string_view value : split(values, ' ')) {
      result.emplace_back(replace_all(row.phrase, variable, value),
                          replace_all(row.children, variable, value));
    }
  };
  if (row.phrase.find('@') != std::string_view::npos) {
    expand('@', "VB VBZ VBD VBG VBN");
  } else if (row.phrase.find('#') != std::string_view::npos) {
    expand('#', "NN NNS");
  } else {
    result.emplace_back(row.phrase, row.children);
  }
  return result;
}

std::string label_of(std::string_view phrase) {
  if (phrase.starts_with('_')) return {};
  return std::string(phrase.substr(0, phrase.find('-')));
}

}  // namespace

const PhraseRules& PhraseRules::instance() {
  static const PhraseRules rules;
  return rules;
}

PhraseRules::PhraseRules() {
  for (const RuleRow& row : rule_rows()) {
    for (const auto& instance : instances(row)) {
      if (std::ranges::find(phrases_, instance.first, &Phrase::name) != phrases_.end()) continue;
      Phrase& phrase = phrases_.emplace_back();
      phrase.name = instance.first;
      phrase.label = label_of(instance.first);
    }
  }
  for (const RuleRow& row : rule_rows()) {
    for (const auto& instance : instances(row)) add_rule(instance.first, instance.second, row);
  }
  for (const EntityRow& row : entity_rows()) {
    Phrase& phrase = phrases_[find(row.phrase)];
    phrase.entity_begin = std::string("B-").append(row.entity);
    phrase.entity_inside = std::string("I-").append(row.entity);
  }
}

std::size_t PhraseRules::find(std::string_view name) const {
  const auto found = std::ranges::find(phrases_, name, &Phrase::name);
  ESPALIER_EXPECT(found != phrases_.end());
  return static_cast<std::size_t>(found - phrases_.begin());
}

void PhraseRules::add_rule(const std::string& phrase_name, const std::string& children, const RuleRow& row) {
  const Lexicon& lexicon = Lexicon::instance();
  PhraseRule rule;
  for (std::string_view text : split(children, ' ')) {
    RuleChild child;
    if (text.starts_with('*')) {
      rule.head = rule.children.size();
      text.remove_prefix(1);
    }
    const std::size_t slash = std::min(text.find('/'), text.size());
    if (slash < text.size()) child.relation = text.substr(slash + 1);
    const std::string_view symbol = text.substr(0, slash);
    const std::size_t colon = symbol.find(':');
    child.is_word = colon != std::string_view::npos;
    if (child.is_word) {
      child.tag = symbol.substr(colon + 1);
      child.list = lexicon.list(symbol.substr(0, colon));
      child.form = lexicon.form(child.list, child.tag);
    } else {
      child.phrase = find(symbol);
    }
    rule.children.push_back(std::move(child));
  }
  for (std::size_t i = 0; i < rule.children.size(); ++i) {
    ESPALIER_EXPECT(rule.children[i].relation.empty() == (i == rule.head));
  }
  Phrase& phrase = phrases_[find(phrase_name)];
  const RuleChild& first = rule.children.front();
  rule.renames = rule.children.size() == 1 && !first.is_word && phrases_[first.phrase].label == phrase.label;
  phrase.rules.push_back(std::move(rule));
  const auto favoured = split(row.favoured, ' ');
  for (std::size_t topic = 0; topic < kNumTopics; ++topic) {
    const bool favours = std::ranges::find(favoured, topic_rows()[topic].name) != favoured.end();
    phrase.weights[topic].add(favours ? kFavour * row.weight : row.weight);
  }
}

}  // namespace espalier
