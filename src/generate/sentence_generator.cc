#include "generate/sentence_generator.h"

#include <array>

#include "espalier/base/error.h"
#include "generate/lexicon.h"
#include "generate/phrase_rules.h"

namespace espalier {
namespace {

// One sentence in kBorrowingSentences takes one word in kBorrowedWords from another topic.
constexpr std::size_t kBorrowingSentences = 20;
constexpr std::size_t kBorrowedWords = 2;

// No rule has more children.
constexpr std::size_t kMaxChildren = 8;

Weighted topic_weights() {
  Weighted weights;
  for (const TopicRow& row : topic_rows()) weights.add(row.weight);
  return weights;
}

}  // namespace

void SentenceGenerator::next(Sentence& out) {
  static const Weighted topics = topic_weights();
  static const std::size_t start = PhraseRules::instance().find("S");
  topic_ = topics.draw(random_);
  borrowed_topic_ = random_.below(kBorrowingSentences) == 0 ? random_.below(kNumTopics) : topic_;
  // A derivation of the wrong length is drawn again; one that grows too long is given up on the way.
  do {
    nodes_.clear();
    num_words_ = 0;
    derive(start);
  } while (num_words_ < kMinWords || num_words_ > kMaxWords);
  spell();

  out.topic = topic_rows()[topic_].name;
  out.words.clear();
  out.tags.clear();
  out.entities.clear();
  out.heads.clear();
  out.relations.clear();
  out.tree.clear();
  std::size_t cursor = 0;
  const std::uint32_t root = read_phrase(start, cursor, true, out);
  out.heads[root] = 0;
  out.relations[root] = "root";
}

std::size_t SentenceGenerator::topic_for_word() {
  const bool borrows = borrowed_topic_ != topic_ && random_.below(kBorrowedWords) == 0;
  return borrows ? borrowed_topic_ : topic_;
}

void SentenceGenerator::derive(std::size_t phrase) {
  const PhraseRule& rule = PhraseRules::instance()[phrase].draw(topic_, random_);
  nodes_.push_back({&rule, nullptr});
  for (const RuleChild& child : rule.children) {
    if (num_words_ > kMaxWords) return;
    if (child.is_word) {
      const LexiconWord& word = Lexicon::instance().draw(child.list, child.form, topic_for_word(), random_);
      nodes_.push_back({nullptr, &word});
      ++num_words_;
    } else {
      derive(child.phrase);
    }
  }
}

// "a" becomes "an" before a vowel, which is not known before the next word is.
void SentenceGenerator::spell() {
  static const LexiconWord an("an");
  Node* previous = nullptr;
  for (Node& node : nodes_) {
    if (node.word == nullptr) continue;
    const bool vowel = std::string_view("aeiouAEIOU").find(node.word->text.front()) != std::string_view::npos;
    if (previous != nullptr && previous->word->text == "a" && vowel) previous->word = &an;
    previous = &node;
  }
}

// Reads the phrase that begins at the cursor and returns its head word. The children of a rule depend on the
// head word of its head child, which itself finds its own head further up.
std::uint32_t SentenceGenerator::read_phrase(std::size_t phrase, std::size_t& cursor, bool bracket,
                                             Sentence& out) const {
  const Phrase& description = PhraseRules::instance()[phrase];
  const PhraseRule& rule = *nodes_[cursor++].rule;
  bracket = bracket && !description.label.empty();
  if (bracket) {
    if (!out.tree.empty()) out.tree += ' ';
    out.tree += '(';
    out.tree += description.label;
  }

  ESPALIER_EXPECT(rule.children.size() <= kMaxChildren);
  std::array<std::uint32_t, kMaxChildren> heads{};
  const std::size_t begin = out.words.size();
  for (std::size_t i = 0; i < rule.children.size(); ++i) {
    const RuleChild& child = rule.children[i];
    if (!child.is_word) {
      heads[i] = read_phrase(child.phrase, cursor, !rule.renames, out);
      continue;
    }
    const LexiconWord& word = *nodes_[cursor++].word;
    heads[i] = static_cast<std::uint32_t>(out.words.size());
    out.words.push_back(out.words.empty() ? word.capitalised : word.text);
    out.tags.push_back(child.tag);
    out.entities.push_back("O");
    out.heads.push_back(0);
    out.relations.emplace_back();
    out.tree.append(" (").append(child.tag).append(" ").append(out.words.back()).append(")");
  }
  if (bracket) out.tree += ')';

  for (std::size_t i = 0; i < rule.children.size(); ++i) {
    if (i == rule.head) continue;
    out.heads[heads[i]] = heads[rule.head] + 1;
    out.relations[heads[i]] = rule.children[i].relation;
  }
  if (!description.entity_begin.empty()) {
    for (std::size_t w = begin; w < out.words.size(); ++w) out.entities[w] = description.entity_inside;
    out.entities[begin] = description.entity_begin;
  }
  return heads[rule.head];
}

}  // namespace espalier
