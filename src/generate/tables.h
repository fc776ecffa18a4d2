#pragma once

#include <cstddef>
#include <span>
#include <string_view>

// The language that SentenceGenerator speaks, as tables: rule_tables.cc and word_tables.cc have the rows,
// phrase_rules.cc and lexicon.cc turn them into what can be drawn from.
namespace espalier {

struct TopicRow {
  std::string_view name;
  unsigned weight;
};

// "NP", 3, "the:DT/det *noun:NN PP/nmod", "sports": an NP becomes this in proportion to the weight, four
// times as often in the topics that the last column names.
//   phrase     an upper-case name; the label in the tree is what stands before the first '-'
//   _phrase    leaves no bracket: its children stand among those of its parent
//   list:TAG   a word of that list, in the form that the tag asks for
//   *          the head; the other children depend on its head word by the relation after '/'
//   @  #       the rule stands for one rule for each verb form (VB VBZ VBD VBG VBN), or each number (NN NNS)
// A rule with one child of the same label only renames, and leaves no bracket of its own.
struct RuleRow {
  std::string_view phrase;
  unsigned weight;
  std::string_view children;
  std::string_view favoured = {};
};

// The words under this phrase are an entity.
struct EntityRow {
  std::string_view phrase;
  std::string_view entity;
};

enum class WordKind { fixed, noun, verb, adjective };

// How the words of a list inflect, and from where a sentence takes them: its topic's own words, those of no
// topic, or (the rest of a hundred) those of any topic. Lists that are not named here are fixed and have no
// topics.
struct ListRow {
  std::string_view name;
  WordKind kind;
  unsigned own_percent;
  unsigned common_percent;
};

// Words in order of frequency; one that stands here twice is drawn as often as both places say. Irregular
// forms follow the stem: "child/children", "win/won/won", "good/well".
struct WordsRow {
  std::string_view list;
  std::string_view topic;  // empty: of no topic
  std::string_view words;
};

// Rarer words made of those of another list, in the same topic.
struct AffixRow {
  std::string_view from;
  std::string_view to;
  std::string_view prefix;
  std::string_view suffix;
};

// Names: every beginning with each of these endings. Lists that share an ending share its names.
struct NameRow {
  std::string_view list;
  std::string_view endings;
};

// Numbers first, first + step, ..., last.
struct NumberRow {
  std::string_view list;
  unsigned first, last, step;
};

inline constexpr std::size_t kNumTopics = 8;
std::span<const TopicRow> topic_rows();
std::span<const RuleRow> rule_rows();
std::span<const EntityRow> entity_rows();
std::span<const ListRow> list_rows();
std::span<const WordsRow> words_rows();
std::span<const AffixRow> affix_rows();
std::string_view name_beginnings();
std::span<const NameRow> name_rows();
std::span<const NumberRow> number_rows();

}  // namespace espalier
