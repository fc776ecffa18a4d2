// The measures of Black et al. (1991), counted as evalb (Sekine and Collins) counts them.

#include "tasks/treebank/parseval.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace espalier {
namespace {

struct Bracket {
  std::string_view label;
  std::size_t begin, end;
  auto operator<=>(const Bracket&) const = default;
};

// A tree as its words and brackets that count. Positions are among those words.
struct Brackets {
  std::vector<std::pair<std::string_view, std::string_view>> words;  // with tags
  std::vector<Bracket> brackets;
  std::size_t length = 0;

  Brackets(const BracketTree& tree, const ParsevalRules& rules) {
    add(tree, rules);
    std::sort(brackets.begin(), brackets.end());
  }

 private:
  static bool is_deleted(std::string_view label, const ParsevalRules& rules) {
    return std::find(rules.deleted.begin(), rules.deleted.end(), label) != rules.deleted.end();
  }
  static std::string_view category(std::string_view label, const ParsevalRules& rules) {
    if (!rules.labelled) return {};
    for (const auto& [one, other] : rules.equal) {
      if (label == one) return other;
    }
    return label;
  }

  void add(const BracketTree& tree, const ParsevalRules& rules) {
    if (tree.is_word()) {
      if (tree.label != "-NONE-" || rules.deleted.empty()) ++length;
      if (!is_deleted(tree.label, rules)) words.emplace_back(tree.word, tree.label);
      return;
    }
    const std::size_t begin = words.size();
    for (const BracketTree& child : tree.children) add(child, rules);
    const std::string_view label = without_function(tree.label);
    if (words.size() > begin && !is_deleted(label, rules))
      brackets.push_back({category(label, rules), begin, words.size()});
  }
};

bool cross(const Bracket& a, const Bracket& b) {
  return (a.begin < b.begin && b.begin < a.end && a.end < b.end) ||
         (b.begin < a.begin && a.begin < b.end && b.end < a.end);
}

double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

ParsevalCounts count_brackets(const BracketTree& gold_tree, const BracketTree& predicted_tree,
                              const ParsevalRules& rules) {
  const Brackets gold(gold_tree, rules), predicted(predicted_tree, rules);
  ParsevalCounts counts;
  counts.length = gold.length;
  if (gold.words.empty() || predicted.words.empty()) {
    counts.status = ParsevalCounts::Status::no_words;
    return counts;
  }
  const auto same_word = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::equal(gold.words.begin(), gold.words.end(), predicted.words.begin(), predicted.words.end(),
                  same_word)) {
    counts.status = ParsevalCounts::Status::other_words;
    return counts;
  }
  counts.words = gold.words.size();
  for (std::size_t k = 0; k < counts.words; ++k)
    counts.correct_tags += gold.words[k] == predicted.words[k] ? 1 : 0;

  counts.gold = gold.brackets.size();
  counts.predicted = predicted.brackets.size();
  auto next = gold.brackets.begin();
  for (const Bracket& bracket : predicted.brackets) {
    next = std::lower_bound(next, gold.brackets.end(), bracket);
    if (next == gold.brackets.end()) break;
    if (*next != bracket) continue;
    ++counts.matched;
    ++next;
  }
  for (const Bracket& bracket : predicted.brackets) {
    counts.crossing += std::any_of(gold.brackets.begin(), gold.brackets.end(),
                                   [&](const Bracket& other) { return cross(bracket, other); })
                           ? 1
                           : 0;
  }
  return counts;
}

void ParsevalScores::Sums::add(const ParsevalCounts& counts) {
  ++sentences;
  if (counts.status == ParsevalCounts::Status::other_words) {
    ++other_words;
    return;
  }
  if (counts.status == ParsevalCounts::Status::no_words) {
    ++no_words;
    return;
  }
  matched += counts.matched;
  gold += counts.gold;
  predicted += counts.predicted;
  words += counts.words;
  correct_tags += counts.correct_tags;
  crossing += counts.crossing;
  exact += counts.exact() ? 1 : 0;
  without_crossing += counts.crossing == 0 ? 1 : 0;
  few_crossing += counts.crossing <= 2 ? 1 : 0;
}

double ParsevalScores::Sums::precision() const { return share(matched, predicted); }
double ParsevalScores::Sums::recall() const { return share(matched, gold); }
// 2 P R / (P + R) = 2 matched / (gold + predicted)
double ParsevalScores::Sums::f1() const { return share(2 * matched, gold + predicted); }

Json ParsevalScores::Sums::rates() const {
  Json json;
  json["precision"] = precision();
  json["recall"] = recall();
  json["f1"] = f1();
  json["exact"] = share(exact, valid());
  json["tagging"] = share(correct_tags, words);
  return json;
}

void ParsevalScores::add(const ParsevalCounts& counts) {
  all_.add(counts);
  if (counts.length <= kShort) short_.add(counts);
}

Evaluation ParsevalScores::evaluation() const {
  Evaluation result;
  result.rates = all_.rates();
  const auto describe = [](const Sums& sums, Json json) {
    json["average_crossing"] = share(sums.crossing, sums.valid());
    json["no_crossing"] = share(sums.without_crossing, sums.valid());
    json["two_or_less_crossing"] = share(sums.few_crossing, sums.valid());
    json["sentences"] = sums.sentences;
    json["other_words"] = sums.other_words;
    json["no_words"] = sums.no_words;
    json["exact_sentences"] = sums.exact;
    json["correct_brackets"] = sums.matched;
    json["gold_brackets"] = sums.gold;
    json["predicted_brackets"] = sums.predicted;
    json["words"] = sums.words;
    json["correct_tags"] = sums.correct_tags;
    return json;
  };
  result.report = describe(all_, result.rates);
  result.report["unparsed"] = unparsed_;
  result.report["in_pieces"] = in_pieces_;
  result.report[fmt::format("up_to_{}", kShort)] = describe(short_, short_.rates());

  result.dev_error = 1 - all_.f1();
  result.metric = "F1 %";
  result.value = 100 * all_.f1();
  result.headline = fmt::format("F1 {} %", percentage(result.value));

  std::string& text = result.text;
  const auto percent = [](double value) { return percentage(100 * value) + " %"; };
  text = fmt::format("{} (precision {}, recall {})\n\n{:<26}  {:>10}  {:>10}\n", result.headline,
                     percent(all_.precision()), percent(all_.recall()), "", "all",
                     fmt::format("to {} words", kShort));
  const auto add_row = [&](const char* name, const auto& cell) {
    text += fmt::format("{:<26}  {:>10}  {:>10}\n", name, cell(all_), cell(short_));
  };
  add_row("F1", [&](const Sums& sums) { return percent(sums.f1()); });
  add_row("precision", [&](const Sums& sums) { return percent(sums.precision()); });
  add_row("recall", [&](const Sums& sums) { return percent(sums.recall()); });
  add_row("whole trees", [&](const Sums& sums) { return percent(share(sums.exact, sums.valid())); });
  add_row("without crossing brackets",
          [&](const Sums& sums) { return percent(share(sums.without_crossing, sums.valid())); });
  add_row("tags", [&](const Sums& sums) { return percent(share(sums.correct_tags, sums.words)); });
  add_row("sentences", [&](const Sums& sums) { return grouped(sums.sentences); });
  if (all_.other_words + all_.no_words > 0) {
    add_row("left out: punctuation", [&](const Sums& sums) { return grouped(sums.other_words); });
    add_row("left out: no words", [&](const Sums& sums) { return grouped(sums.no_words); });
  }
  if (unparsed_ > 0) text += fmt::format("{:<26}  {:>10}\n", "not in the grammar", grouped(unparsed_));
  if (in_pieces_ > 0) text += fmt::format("{:<26}  {:>10}\n", "parsed in pieces", grouped(in_pieces_));
  return result;
}

}  // namespace espalier
