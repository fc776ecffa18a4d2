#include "generate/lexicon.h"

#include <algorithm>
#include <span>

#include "espalier/base/error.h"
#include "generate/morphology.h"
#include "generate/split.h"

namespace espalier {
namespace {

constexpr std::size_t kNoTopic = kNumTopics;

// Zipf's law, flattened at the top so that the first word of a list is not a third of it.
constexpr std::uint64_t kWrittenScale = 1'000'000'000;
constexpr std::uint64_t kDerivedScale = kWrittenScale / 15;
constexpr std::uint64_t kTopRank = 4;

std::uint64_t zipf(std::uint64_t scale, std::size_t rank) { return scale / (rank + kTopRank); }

std::size_t topic_index(std::string_view name) {
  if (name.empty()) return kNoTopic;
  const auto rows = topic_rows();
  const auto row = std::ranges::find(rows, name, &TopicRow::name);
  ESPALIER_EXPECT(row != rows.end());
  return static_cast<std::size_t>(row - rows.begin());
}

std::vector<std::string> inflect(WordKind kind, std::string_view entry) {
  const auto parts = split(entry, '/');
  const std::string stem(parts[0]);
  const bool irregular = parts.size() > 1;
  switch (kind) {
    case WordKind::fixed:
      return {std::string(entry)};
    case WordKind::noun:
      return {stem, irregular ? std::string(parts[1]) : with_s(stem)};
    case WordKind::verb: {
      const std::string past = irregular ? std::string(parts[1]) : with_ed(stem);
      const std::string participle = irregular ? std::string(parts[2]) : past;
      return {stem, with_s(stem), past, participle, with_ing(stem)};
    }
    case WordKind::adjective:
      return {stem, irregular ? std::string(parts[1]) : with_suffix(stem, "ly")};
  }
  return {};
}

std::span<const std::string_view> tags_of(WordKind kind) {
  static constexpr std::string_view kNoun[] = {"NN", "NNS"};
  static constexpr std::string_view kVerb[] = {"VB", "VBZ", "VBD", "VBN", "VBG"};
  static constexpr std::string_view kAdjective[] = {"JJ", "RB"};
  switch (kind) {
    case WordKind::noun:
      return kNoun;
    case WordKind::verb:
      return kVerb;
    case WordKind::adjective:
      return kAdjective;
    case WordKind::fixed:
      break;
  }
  return {};
}

std::vector<LexiconWord> words(const std::vector<std::string>& forms) {
  return std::vector<LexiconWord>(forms.begin(), forms.end());
}

}  // namespace

LexiconWord::LexiconWord(std::string_view word) : text(word), capitalised(with_capital(word)) {}

const Lexicon& Lexicon::instance() {
  static const Lexicon lexicon;
  return lexicon;
}

Lexicon::Lexicon() {
  add_written_words();
  add_numbers();
  add_names();
  add_derived_words();
}

Lexicon::List& Lexicon::list_to_fill(std::string_view name) {
  const auto found = std::ranges::find(lists_, name, &List::name);
  if (found != lists_.end()) return *found;
  List& list = lists_.emplace_back();
  list.name = name;
  const auto rows = list_rows();
  const auto row = std::ranges::find(rows, name, &ListRow::name);
  if (row != rows.end()) {
    list.kind = row->kind;
    list.own_percent = row->own_percent;
    list.common_percent = row->common_percent;
  }
  return list;
}

void Lexicon::add_written_words() {
  for (const WordsRow& row : words_rows()) {
    List& list = list_to_fill(row.list);
    Shelf& shelf = list.shelves[topic_index(row.topic)];
    for (const std::string_view entry : split(row.words, ' ')) {
      shelf.weights.add(zipf(kWrittenScale, shelf.stems.size()));
      shelf.stems.push_back(words(inflect(list.kind, entry)));
    }
  }
}

void Lexicon::add_numbers() {
  for (const NumberRow& row : number_rows()) {
    Shelf& shelf = list_to_fill(row.list).shelves[kNoTopic];
    for (unsigned n = row.first; n <= row.last; n += row.step) {
      shelf.weights.add(zipf(kWrittenScale, shelf.stems.size()));
      shelf.stems.push_back(words({std::to_string(n)}));
    }
  }
}

void Lexicon::add_names() {
  // A fixed order, but another one for each list: a name that is common for people need not be so for places.
  Random order(1);
  for (const NameRow& row : name_rows()) {
    std::vector<std::string> names;
    for (const std::string_view beginning : split(name_beginnings(), ' ')) {
      for (const std::string_view ending : split(row.endings, ' ')) {
        names.push_back(std::string(beginning).append(ending));
      }
    }
    order.shuffle(std::span(names));
    Shelf& shelf = list_to_fill(row.list).shelves[kNoTopic];
    for (const std::string& name : names) {
      shelf.weights.add(zipf(kWrittenScale, shelf.stems.size()));
      shelf.stems.push_back(words({name}));
    }
  }
}

void Lexicon::add_derived_words() {
  // Only written words are derived from, whatever the order of the table.
  std::vector<std::array<std::size_t, kNumTopics + 1>> written(lists_.size());
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    for (std::size_t t = 0; t <= kNumTopics; ++t) written[i][t] = lists_[i].shelves[t].stems.size();
  }
  for (const AffixRow& row : affix_rows()) {
    const std::size_t from = list(row.from);
    List& to = lists_[list(row.to)];
    for (std::size_t t = 0; t <= kNumTopics; ++t) {
      for (std::size_t i = 0; i < written[from][t]; ++i) {
        const auto& stem = lists_[from].shelves[t].stems[i];
        std::vector<std::string> forms;
        if (row.suffix.empty()) {
          for (const LexiconWord& form : stem) forms.push_back(std::string(row.prefix) + form.text);
        } else {
          forms = inflect(to.kind, std::string(row.prefix) + with_suffix(stem[0].text, row.suffix));
        }
        Shelf& shelf = to.shelves[t];
        shelf.weights.add(zipf(kDerivedScale, shelf.stems.size()));
        shelf.stems.push_back(words(forms));
      }
    }
  }
}

std::size_t Lexicon::list(std::string_view name) const {
  const auto found = std::ranges::find(lists_, name, &List::name);
  ESPALIER_EXPECT(found != lists_.end());
  return static_cast<std::size_t>(found - lists_.begin());
}

std::size_t Lexicon::form(std::size_t list, std::string_view tag) const {
  const auto tags = tags_of(lists_[list].kind);
  if (tags.empty()) return 0;
  const auto found = std::ranges::find(tags, tag);
  ESPALIER_EXPECT(found != tags.end());
  return static_cast<std::size_t>(found - tags.begin());
}

const LexiconWord& Lexicon::draw(std::size_t list, std::size_t form, std::size_t topic,
                                 Random& random) const {
  const List& from = lists_[list];
  std::size_t shelf = kNoTopic;
  if (from.common_percent < 100) {
    const std::size_t percent = random.below(100);
    if (percent < from.own_percent) {
      shelf = topic;
    } else if (percent >= from.own_percent + from.common_percent) {
      shelf = random.below(kNumTopics);
    }
  }
  const Shelf& words = from.shelves[shelf];
  return words.stems[words.weights.draw(random)][form];
}

}  // namespace espalier
