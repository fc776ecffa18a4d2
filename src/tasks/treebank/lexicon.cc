#include "tasks/treebank/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "espalier/base/error.h"
#include "tasks/common.h"

namespace espalier {
namespace {

// Words seen more often have no other tags than those they were seen with.
constexpr std::size_t kRare = 5;
// So many rare words make a class of their own.
constexpr std::size_t kEnough = 10;
// The part of a class that has to have a tag, for the tag to be possible.
constexpr double kShare = 0.01;
// The classes of a word: with so many of its last letters, the most first. The last one is that of all words.
constexpr std::size_t kLevels = 5;

using Counts = std::map<std::uint32_t, std::size_t>;  // by tag

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
// Letters of other alphabets are several bytes, all of this kind.
bool is_other_letter(char c) { return static_cast<unsigned char>(c) >= 0x80; }

std::string shape(std::string_view word) {
  const auto any = [&](const auto& is) { return std::any_of(word.begin(), word.end(), is); };
  std::string shape;
  if (is_upper(word.front())) shape += any(is_lower) ? 'C' : 'U';
  if (any(is_lower) && !is_upper(word.front())) shape += 'l';
  if (any(is_other_letter)) shape += 'x';
  if (any(is_digit)) shape += 'd';
  if (word.find('-') != std::string_view::npos) shape += '-';
  if (word.find('.') != std::string_view::npos) shape += '.';
  if (shape.empty()) shape = word;  // punctuation: each its own
  return shape;
}

// Level 0: the shape and three letters; 1 and 2: fewer letters; 3: the shape; 4: nothing.
std::string word_class(std::string_view word, std::size_t level) {
  if (level + 1 == kLevels) return {};
  const std::size_t letters = std::min(kLevels - 2 - level, word.size());
  return shape(word) + ' ' + std::string(word.substr(word.size() - letters));
}

}  // namespace

TagLexicon::TagLexicon(std::span<const std::vector<TaggedWord>> sentences, const Dictionary& tags) {
  std::map<std::string_view, Counts> words;  // in an order that is the same every time
  for (const auto& sentence : sentences) {
    for (const TaggedWord& word : sentence) ++words[word.word][*tags.find(word.tag)];
  }
  const auto sum = [](const Counts& counts) {
    std::size_t sum = 0;
    for (const auto& count : counts) sum += count.second;
    return sum;
  };
  std::map<std::string, Counts> classes;
  Counts all;
  for (const auto& [word, counts] : words) {
    for (const auto& [tag, count] : counts) all[tag] += count;
    if (sum(counts) > kRare) continue;
    for (std::size_t level = 0; level < kLevels; ++level) {
      for (const auto& [tag, count] : counts) classes[word_class(word, level)][tag] += count;
    }
  }
  classes.try_emplace("", all);  // without any rare words
  // The most frequent first.
  const auto ranked = [](const Counts& counts, double least) {
    std::vector<std::uint32_t> ranked;
    for (const auto& [tag, count] : counts) {
      if (static_cast<double>(count) >= least) ranked.push_back(tag);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return counts.at(a) > counts.at(b); });
    return ranked;
  };
  for (const auto& [name, counts] : classes) {
    const std::size_t size = sum(counts);
    if (size >= kEnough || name.empty())
      classes_.add(name, ranked(counts, kShare * static_cast<double>(size)));
  }
  for (const auto& [word, counts] : words) {
    std::vector<std::uint32_t> possible = ranked(counts, 0);
    if (sum(counts) <= kRare) {
      for (const std::uint32_t tag : this->tags(word)) {  // of its class, as it has none of its own yet
        if (std::find(possible.begin(), possible.end(), tag) == possible.end()) possible.push_back(tag);
      }
    }
    words_.add(word, possible);
  }
}

std::span<const std::uint32_t> TagLexicon::tags(std::string_view word) const {
  if (const auto known = words_.names.find(word)) return words_.of(*known);
  std::size_t level = 0;
  while (level + 1 < kLevels && !classes_.names.find(word_class(word, level))) ++level;
  return classes_.of(*classes_.names.find(word_class(word, level)));
}

void TagLexicon::Table::add(std::string_view name, std::span<const std::uint32_t> with) {
  names.add(name);
  own_tags.insert(own_tags.end(), with.begin(), with.end());
  own_ends.push_back(static_cast<std::uint32_t>(own_tags.size()));
  ends = own_ends;
  tags = own_tags;
}

std::span<const std::uint32_t> TagLexicon::Table::of(std::uint32_t name) const {
  const std::size_t begin = name == 0 ? 0 : ends[name - 1];
  return tags.subspan(begin, ends[name] - begin);
}

void TagLexicon::add_table(const std::string& name, const Table& table, TaskSections& sections) {
  add_dictionary(name, table.names, sections);
  sections.arrays.emplace_back(name + ".tag_ends", as_bytes(table.ends));
  sections.arrays.emplace_back(name + ".tags", as_bytes(table.tags));
}

TagLexicon::Table TagLexicon::load_table(const std::string& name, const StoredTask& stored,
                                         std::size_t num_tags) {
  Table table;
  table.names = load_dictionary(name, stored);
  table.ends = as_array<std::uint32_t>(stored.array(name + ".tag_ends"), name, stored.file);
  table.tags = as_array<std::uint32_t>(stored.array(name + ".tags"), name, stored.file);
  std::size_t begin = 0;
  bool fits = table.ends.size() == table.names.size();
  for (const std::uint32_t end : table.ends) {
    fits = fits && end > begin && end <= table.tags.size();
    for (; fits && begin < end; ++begin) fits = table.tags[begin] < num_tags;
  }
  if (!fits)
    throw Error::in(stored.file, fmt::format("section {} does not fit the tags", in_quotes(name + ".tags")),
                    "retrain the model");
  return table;
}

void TagLexicon::add_sections(TaskSections& sections) const {
  add_table("words", words_, sections);
  add_table("classes", classes_, sections);
}

TagLexicon TagLexicon::load(const StoredTask& stored, std::size_t num_tags) {
  TagLexicon lexicon;
  lexicon.words_ = load_table("words", stored, num_tags);
  lexicon.classes_ = load_table("classes", stored, num_tags);
  if (!lexicon.classes_.names.find(""))
    throw Error::in(stored.file, "no class of all words", "retrain the model");
  return lexicon;
}

}  // namespace espalier
