#include "features/word_attributes.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <span>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// The character at the front of a text that is not empty; `code` is negative where it is no UTF-8.
struct Character {
  utf8proc_int32_t code;
  std::size_t length;
};

Character first_character(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x80) return {byte, 1};
  utf8proc_int32_t code;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (length <= 0) return {-1, 1};
  return {code, static_cast<std::size_t>(length)};
}

enum class Kind { capital, letter, digit, other };

Kind kind_of(utf8proc_int32_t code) {
  if (code < 0x80) {
    if (code >= 'a' && code <= 'z') return Kind::letter;
    if (code >= 'A' && code <= 'Z') return Kind::capital;
    return code >= '0' && code <= '9' ? Kind::digit : Kind::other;
  }
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return Kind::capital;
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:  // accents and vowel signs belong to letters
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Kind::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Kind::digit;
    default:
      return Kind::other;
  }
}

// The windows, {first, last}: the fields of these tokens, relative to the current one, joined by '|'.
struct Range {
  int first, last;
};
constexpr Range kWordWindows[] = {{-2, -2}, {-1, -1}, {0, 0}, {1, 1}, {2, 2}, {-1, 0}, {0, 1}};
constexpr Range kShapeWindows[] = {{-1, -1}, {0, 0}, {1, 1}, {-1, 0}, {0, 1}, {-1, 1}};
constexpr Range kColumnWindows[] = {{-2, -2}, {-1, -1}, {0, 0}, {1, 1}, {2, 2}, {-1, 0}, {0, 1}, {-1, 1}};

// The properties of the word itself: each appends its value, or says that the word does not have it.
bool lower_case(std::string_view word, std::string& to) {
  append_lower_case(word, to);
  return true;
}
template <std::size_t n>
bool prefix(std::string_view word, std::string& to) {
  const std::string_view affix = prefix_of(word, n);
  to += affix;
  return affix != prefix_of(word, n - 1);
}
template <std::size_t n>
bool suffix(std::string_view word, std::string& to) {
  const std::string_view affix = suffix_of(word, n);
  to += affix;
  return affix != suffix_of(word, n - 1);
}
bool has_digit(std::string_view word, std::string&) {
  for (Character c; !word.empty(); word.remove_prefix(c.length)) {
    c = first_character(word);
    if (kind_of(c.code) == Kind::digit) return true;
  }
  return false;
}
bool has_hyphen(std::string_view word, std::string&) { return word.find('-') != std::string_view::npos; }
// Two or more, and no other letters: the shape does not tell IBM from I.
bool all_capitals(std::string_view word, std::string&) {
  std::size_t capitals = 0;
  for (Character c; !word.empty(); word.remove_prefix(c.length)) {
    c = first_character(word);
    const Kind kind = kind_of(c.code);
    if (kind == Kind::letter) return false;
    capitals += kind == Kind::capital;
  }
  return capitals >= 2;
}

struct Property {
  std::string_view name;
  bool (*append)(std::string_view word, std::string& to);
};
constexpr Property kProperties[] = {
    {"lower=", lower_case},  {"prefix1=", prefix<1>},  {"prefix2=", prefix<2>},    {"prefix3=", prefix<3>},
    {"prefix4=", prefix<4>}, {"suffix1=", suffix<1>},  {"suffix2=", suffix<2>},    {"suffix3=", suffix<3>},
    {"suffix4=", suffix<4>}, {"has-digit", has_digit}, {"has-hyphen", has_hyphen}, {"capitals", all_capitals},
};

// On the first and on the last token: the weights of labels to begin and to end with.
constexpr std::string_view kStart = "(start)", kStop = "(stop)";

// "w[-1]|w[0]="
std::string window_name(const std::string& column, Range range) {
  std::string name;
  for (int row = range.first; row <= range.last; ++row) {
    name += fmt::format("{}{}[{}]", row == range.first ? "" : "|", column, row);
  }
  return name + '=';
}

}  // namespace

WordAttributes::WordAttributes(std::size_t num_columns, std::size_t label_column,
                               std::optional<std::size_t> ignored_column) {
  const auto skipped = [&](std::size_t column) { return column == label_column || column == ignored_column; };
  while (skipped(word_)) ++word_;
  ESPALIER_EXPECT(word_ < num_columns && label_column < num_columns);
  const auto add = [&](const std::string& name, std::size_t column, std::span<const Range> ranges) {
    for (const Range& range : ranges) {
      windows_.push_back({window_name(name, range), column, range.first, range.last});
    }
  };
  add("w", word_, kWordWindows);
  add("shape", num_columns, kShapeWindows);
  for (std::size_t column = word_ + 1; column < num_columns; ++column) {
    if (skipped(column)) continue;
    // As people count columns, and as messages do.
    add(fmt::format("c{}", column + 1), column, kColumnWindows);
  }
}

void WordAttributes::set(const TokenTable& table) {
  table_ = table;
  shapes_.clear();
  for (std::size_t t = 0; t < table.size(); ++t) {
    append_shape(table.at(t, word_), shapes_.text());
    shapes_.finish();
  }
}

std::string_view WordAttributes::field(const Window& window, std::size_t t) const {
  return window.column == table_.num_columns ? shapes_[t] : table_.at(t, window.column);
}

void WordAttributes::append(std::size_t t, StringBuffer& names) const {
  std::string& text = names.text();
  const auto size = static_cast<std::ptrdiff_t>(table_.size());
  const auto here = static_cast<std::ptrdiff_t>(t);
  for (const Window& window : windows_) {
    if (here + window.first < 0 || here + window.last >= size) continue;
    text += window.name;
    for (int row = window.first; row <= window.last; ++row) {
      if (row != window.first) text += '|';
      text += field(window, static_cast<std::size_t>(here + row));
    }
    names.finish();
  }

  const std::string_view word = table_.at(t, word_);
  for (const Property& property : kProperties) {
    const std::size_t begin = text.size();
    text += property.name;
    if (property.append(word, text)) {
      names.finish();
    } else {
      text.resize(begin);
    }
  }

  if (t == 0) names.add(kStart);
  if (t + 1 == table_.size()) names.add(kStop);
}

void append_lower_case(std::string_view word, std::string& to) {
  for (Character c; !word.empty(); word.remove_prefix(c.length)) {
    c = first_character(word);
    if (c.code < 0x80) {
      to += c.code >= 'A' && c.code <= 'Z' ? static_cast<char>(c.code - 'A' + 'a') : word.front();
      continue;
    }
    utf8proc_uint8_t bytes[4];
    const auto length = utf8proc_encode_char(utf8proc_tolower(c.code), bytes);
    to.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  }
}

void append_shape(std::string_view word, std::string& to) {
  std::string_view before;
  for (Character c; !word.empty(); word.remove_prefix(c.length)) {
    c = first_character(word);
    std::string_view shape;
    switch (kind_of(c.code)) {
      case Kind::capital:
        shape = "X";
        break;
      case Kind::letter:
        shape = "x";
        break;
      case Kind::digit:
        shape = "d";
        break;
      case Kind::other:
        shape = word.substr(0, c.length);
        break;
    }
    if (shape != before) to += shape;
    before = shape;
  }
}

std::string_view prefix_of(std::string_view word, std::size_t n) {
  std::string_view rest = word;
  for (; n > 0 && !rest.empty(); --n) rest.remove_prefix(first_character(rest).length);
  return word.substr(0, word.size() - rest.size());
}

std::string_view suffix_of(std::string_view word, std::size_t n) {
  // Counted from the front, so that prefixes and suffixes agree on where characters begin, UTF-8 or not.
  std::size_t characters = 0;
  for (std::string_view rest = word; !rest.empty(); rest.remove_prefix(first_character(rest).length))
    ++characters;
  if (characters <= n) return word;
  return word.substr(prefix_of(word, characters - n).size());
}

}  // namespace espalier
