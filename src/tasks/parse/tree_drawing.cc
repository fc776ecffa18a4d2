#include "tasks/parse/tree_drawing.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// A vertical line that joins a word with all of its modifiers. Columns count from 1, at the words, to the
// left.
struct Bracket {
  std::size_t first, last, column = 0;
};

// One for each word, the root not counted; those of words without modifiers stay in column 0.
std::vector<Bracket> brackets_of(std::span<const std::uint32_t> heads) {
  const std::size_t words = heads.size();
  std::vector<Bracket> brackets(words + 1);
  for (std::size_t d = 0; d <= words; ++d) brackets[d].first = brackets[d].last = d;
  for (std::size_t d = 1; d <= words; ++d) {
    Bracket& bracket = brackets[heads[d - 1]];
    bracket.first = std::min(bracket.first, d);
    bracket.last = std::max(bracket.last, d);
  }
  return brackets;
}

// How far each word is from the root.
std::vector<std::size_t> depths_of(std::span<const std::uint32_t> heads) {
  std::vector<std::size_t> depths(heads.size() + 1, 0), path;
  for (std::size_t d = 1; d <= heads.size(); ++d) {
    path.clear();
    std::size_t at = d;
    for (; at != 0 && depths[at] == 0; at = heads[at - 1]) path.push_back(at);
    for (std::size_t depth = depths[at]; !path.empty(); path.pop_back()) depths[path.back()] = ++depth;
  }
  return depths;
}

// From the deepest words up, each bracket takes the first column to the left of all that share a line with
// it: so those of its modifiers are at its right, and so is what lies between them. Returns how many columns
// that takes.
std::size_t place(std::span<const std::uint32_t> heads, std::vector<Bracket>& brackets) {
  const std::vector<std::size_t> depths = depths_of(heads);
  std::vector<std::size_t> order(heads.size());
  std::iota(order.begin(), order.end(), 1);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t length_a = brackets[a].last - brackets[a].first;
    const std::size_t length_b = brackets[b].last - brackets[b].first;
    if (depths[a] != depths[b]) return depths[a] > depths[b];
    return length_a != length_b ? length_a < length_b : a < b;
  });
  std::vector<std::size_t> taken(heads.size() + 1, 0);  // by line
  std::size_t columns = 0;
  for (const std::size_t h : order) {
    Bracket& bracket = brackets[h];
    if (bracket.first == bracket.last) continue;
    const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(bracket.first);
    const auto end = taken.begin() + static_cast<std::ptrdiff_t>(bracket.last) + 1;
    bracket.column = *std::max_element(begin, end) + 1;
    std::fill(begin, end, bracket.column);
    columns = std::max(columns, bracket.column);
  }
  return columns;
}

// The place where a vertical line that goes up, down or both meets one that goes to the right, or also to the
// left.
const char* joint(bool up, bool down, bool left) {
  if (up && down) return left ? "┼" : "├";
  if (up) return left ? "┴" : "└";
  return left ? "┬" : "┌";
}

// How many places of a terminal the text takes.
std::size_t width(std::string_view text) {
  std::size_t sum = 0;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at != end) {
    utf8proc_int32_t character;
    const utf8proc_ssize_t length = utf8proc_iterate(at, end - at, &character);
    sum += length > 0 ? static_cast<std::size_t>(utf8proc_charwidth(character)) : 1;
    at += std::max<utf8proc_ssize_t>(length, 1);
  }
  return sum;
}

// Texts below each other, and whatever follows them; a few that are long need not push that far to the right.
class Column {
 public:
  void widen(std::string_view text) { width_ = std::max(width_, std::min(width(text), kWidest)); }
  void append(std::string_view text, std::string& out) const {
    constexpr std::size_t kGap = 2;
    out += text;
    out.append(width_ + kGap - std::min(width(text), width_), ' ');
  }

 private:
  static constexpr std::size_t kWidest = 24;
  std::size_t width_ = 0;
};

}  // namespace

std::string draw_tree(const DependencySentence& sentence, std::span<const std::uint32_t> heads,
                      std::span<const std::string_view> relations) {
  ESPALIER_EXPECT(heads.size() == sentence.words.size());
  ESPALIER_EXPECT(relations.empty() || relations.size() == heads.size());
  std::vector<Bracket> brackets = brackets_of(heads);
  const std::size_t columns = place(heads, brackets);
  Column forms, tags;
  for (const DependencyWord& word : sentence.words) {
    forms.widen(word.form);
    tags.widen(word.coarse);
  }

  std::string drawing;
  std::vector<std::size_t> open(columns + 1, 0);  // by column: the word whose bracket is there
  std::vector<std::size_t> starts(heads.size());
  std::iota(starts.begin(), starts.end(), 1);
  std::sort(starts.begin(), starts.end(),
            [&](std::size_t a, std::size_t b) { return brackets[a].first < brackets[b].first; });
  auto next = starts.begin();
  for (std::size_t d = 1; d <= heads.size(); ++d) {
    for (; next != starts.end() && brackets[*next].first == d; ++next) open[brackets[*next].column] = *next;
    const std::size_t head = heads[d - 1];
    const std::size_t leftmost = head == 0 ? columns + 1 : brackets[head].column;
    drawing += head == 0 ? "─" : " ";
    for (std::size_t column = columns; column > 0; --column) {
      const std::size_t h = open[column];
      const Bracket& bracket = brackets[h];
      if (h == 0 || bracket.last < d) {
        drawing += column < leftmost ? "─" : " ";
      } else if (h == d || h == head) {
        drawing += joint(bracket.first<d, bracket.last> d, column < leftmost);
      } else {
        drawing += "│";
      }
      drawing += column <= leftmost ? "─" : " ";
    }
    drawing += "► ";
    const DependencyWord& word = sentence.words[d - 1];
    forms.append(word.form, drawing);
    tags.append(word.coarse, drawing);
    if (!relations.empty()) drawing += relations[d - 1];
    drawing.erase(drawing.find_last_not_of(' ') + 1);
    drawing += '\n';
  }
  return drawing;
}

}  // namespace espalier
