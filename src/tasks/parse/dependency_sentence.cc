#include "espalier/tasks/parse.h"

#include <algorithm>
#include <utility>

namespace espalier {

DependencySentence::DependencySentence(const DependencySentence& other)
    : text(other.text),
      words(other.words),
      blanks(other.blanks),
      first_line(other.first_line),
      universal(other.universal) {
  move_views(other.text.data());
}

DependencySentence::DependencySentence(DependencySentence&& other) noexcept { *this = std::move(other); }

DependencySentence& DependencySentence::operator=(const DependencySentence& other) {
  if (this == &other) return *this;
  return *this = DependencySentence(other);
}

DependencySentence& DependencySentence::operator=(DependencySentence&& other) noexcept {
  if (this == &other) return *this;
  const char* const from = other.text.data();
  text = std::move(other.text);  // short strings move to another place
  words = std::move(other.words);
  blanks = std::move(other.blanks);
  first_line = other.first_line;
  universal = other.universal;
  move_views(from);
  other.clear();
  return *this;
}

bool DependencySentence::has_heads() const {
  return std::all_of(words.begin(), words.end(), [](const DependencyWord& word) { return word.has_head; });
}

void DependencySentence::clear() {
  text.clear();
  words.clear();
  blanks.clear();
  first_line = 0;
  universal = false;
}

std::string_view DependencySentence::append_line(std::string_view line) {
  const std::size_t begin = text.size(), size = begin + line.size() + 1;
  if (size > text.capacity()) {
    std::string larger;
    larger.reserve(2 * size);
    larger += text;
    const char* const from = text.data();  // within the string itself, if it is short
    text.swap(larger);
    move_views(from);
  }
  text += line;
  text += '\n';
  return {text.data() + begin, line.size()};
}

void DependencySentence::move_views(const char* from) {
  if (from == text.data()) return;
  const auto move = [&](std::string_view& view) { view = {text.data() + (view.data() - from), view.size()}; };
  for (DependencyWord& word : words) {
    move(word.form);
    move(word.lemma);
    move(word.coarse);
    move(word.fine);
    move(word.feats);
    move(word.relation);
  }
}

}  // namespace espalier
