#include "generate/sentence_pairs.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace espalier {
namespace {

bool is_noun(std::string_view tag) { return tag == "NN" || tag == "NNS"; }
bool is_kept(std::string_view tag) {
  return tag == "NNP" || tag == "CD" || tag == "POS" || tag == "," || tag == ".";
}

bool is_ending(std::string_view tag) { return tag == "DT" || tag == "TO"; }

// The noun or verb that an article or "to" belongs to: the next one, unless something other than adjectives
// and names is before it. The number of words: there is none.
std::size_t stem_of(const Sentence& sentence, std::size_t i) {
  for (std::size_t k = i + 1; k < sentence.tags.size(); ++k) {
    const std::string_view tag = sentence.tags[k];
    if (is_noun(tag) || tag == "VB") return k;
    if (tag != "JJ" && tag != "NNP" && tag != "POS") break;
  }
  return sentence.tags.size();
}

// Vowels move on by one, consonants by seven.
char foreign_letter(char c) {
  constexpr std::string_view kVowels = "aeiouy", kConsonants = "bcdfghjklmnpqrstvwxz";
  if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const auto& [letters, step] : {std::pair{kVowels, std::size_t{1}}, {kConsonants, std::size_t{7}}}) {
    const std::size_t at = letters.find(c);
    if (at != std::string_view::npos) return letters[(at + step) % letters.size()];
  }
  return c;
}

// A word of the translation: the source words that it is of, the sure one first.
struct ForeignWord {
  std::string text;
  std::vector<std::size_t> of;
};

std::string translated(const Sentence& sentence, std::size_t i) {
  const std::string_view word = sentence.words[i];
  if (is_kept(sentence.tags[i])) return std::string(word);
  std::string text;
  for (const char c : word) text += foreign_letter(c);
  if (word.size() % 3 == 0 && i % 2 == 0) text += "an";
  return text;
}

}  // namespace

void append_align(const Sentence& sentence, std::string& out) {
  const std::size_t m = sentence.words.size();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < m; ++i) order.push_back(i);
  for (std::size_t i = 0; i + 1 < m; ++i) {
    // Words that belong behind what follows move there, past others of their kind.
    const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), i) - order.begin());
    const std::string_view tag = sentence.tags[i];
    std::size_t head = i + 1;
    if (tag == "JJ") {
      while (head < m && sentence.tags[head] == "JJ") ++head;
      if (head == m || !is_noun(sentence.tags[head])) continue;
    } else if (tag != "MD" || sentence.tags[head] != "VB") {
      continue;
    }
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(at));
    const auto behind = std::find(order.begin(), order.end(), head) + 1;
    order.insert(behind, i);
  }

  std::vector<ForeignWord> words;
  for (const std::size_t i : order) {
    if (is_ending(sentence.tags[i])) continue;
    ForeignWord word{translated(sentence, i), {i}};
    for (std::size_t ending = 0; ending < i; ++ending) {
      if (!is_ending(sentence.tags[ending]) || stem_of(sentence, ending) != i) continue;
      word.text += foreign_letter(sentence.words[ending].back());
      word.of.push_back(ending);
    }
    words.push_back(std::move(word));
  }

  for (std::size_t i = 0; i < m; ++i) {
    if (i > 0) out += ' ';
    out += sentence.words[i];
  }
  out += " |||";
  for (const ForeignWord& word : words) out += ' ' + word.text;
  out += " |||";
  std::vector<std::string> links(m);
  for (std::size_t j = 0; j < words.size(); ++j) {
    for (const std::size_t i : words[j].of)
      append_format(links[i], " {}{}{}", i, i == words[j].of.front() ? '-' : '?', j);
  }
  for (const std::string& of_word : links) out += of_word;
  out += '\n';
}

}  // namespace espalier
