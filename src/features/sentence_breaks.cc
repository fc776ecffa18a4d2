#include "features/sentence_breaks.h"

#include <unistr.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace espalier {
namespace {

// What a full stop follows in the middle of a sentence; and what it does so before numbers alone.
constexpr std::array<std::string_view, 33> kAbbreviations{
    "adm",  "approx", "brig", "capt", "cf",  "cmdr", "col", "dr", "e.g",  "eg",  "gen",
    "gov",  "hon",    "i.e",  "ie",   "jr",  "lt",   "maj", "mr", "mrs",  "ms",  "mt",
    "pres", "prof",   "rep",  "rev",  "sen", "sgt",  "sr",  "st", "supt", "viz", "vs"};
constexpr std::array<std::string_view, 6> kBeforeNumbers{"al", "fig", "figs", "no", "nos", "pp"};

enum class Mark { none, stop, strong, ideographic, ellipsis };

constexpr utf8proc_int32_t kNoCharacter = -1;

utf8proc_int32_t character_at(std::string_view text, std::size_t at) {
  utf8proc_int32_t code = kNoCharacter;
  if (at < text.size()) {
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                     static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  }
  return code;
}

bool is_one_of(utf8proc_int32_t code, std::initializer_list<utf8proc_category_t> categories) {
  if (code == kNoCharacter) return false;
  return std::ranges::find(categories, utf8proc_category(code)) != categories.end();
}
bool is_lower_case(utf8proc_int32_t code) { return is_one_of(code, {UTF8PROC_CATEGORY_LL}); }
bool is_letter(utf8proc_int32_t code) {
  return is_one_of(code, {UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT,
                          UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO});
}
bool is_upper_case(utf8proc_int32_t code) {
  return is_one_of(code, {UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT});
}
bool is_blank_character(utf8proc_int32_t code) {
  return is_one_of(code, {UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP,
                          UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CF});
}
// What may close a sentence behind its full stop.
bool closes(std::string_view token) {
  if (token == "\"" || token == "'" || token == "''") return true;
  return is_one_of(character_at(token, 0), {UTF8PROC_CATEGORY_PE, UTF8PROC_CATEGORY_PF});
}

Mark mark_of(std::string_view token) {
  switch (character_at(token, 0)) {
    case '.':
      return token.size() == 1 ? Mark::stop : Mark::ellipsis;
    case '!':
    case '?':
    case 0x203c:  // two of them in one character
    case 0x203d:
    case 0x2047:
    case 0x2048:
    case 0x2049:
    case 0x061f:  // Arabic
    case 0x06d4:
    case 0x0964:  // Devanagari
    case 0x0965:
      return Mark::strong;
    case 0x2026:
      return Mark::ellipsis;
    case 0x3002:
    case 0xff01:
    case 0xff0e:
    case 0xff1f:
    case 0xff61:
      return Mark::ideographic;
    default:
      return Mark::none;
  }
}

bool is_abbreviation(std::string_view word, bool number_follows) {
  std::array<char, 8> lower;
  if (word.size() > lower.size()) return false;
  std::ranges::transform(word, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string_view folded(lower.data(), word.size());
  const auto has = [&](const auto& list) { return std::ranges::find(list, folded) != list.end(); };
  return has(kAbbreviations) || (number_follows && has(kBeforeNumbers));
}

// "J", but not the pronoun.
bool is_initial(std::string_view word) {
  const auto code = character_at(word, 0);
  utf8proc_uint8_t encoded[4];
  return word != "I" && is_upper_case(code) &&
         static_cast<std::size_t>(utf8proc_encode_char(code, encoded)) == word.size();
}

// What is between two tokens.
struct Gap {
  bool any = false, paragraph = false;
};
Gap gap_of(std::string_view gap) {
  Gap result;
  std::size_t newlines = 0;
  for (std::size_t i = 0; i < gap.size(); ++i) {
    const char c = gap[i];
    result.any = true;
    if (c == '\n' || (c == '\r' && (i + 1 == gap.size() || gap[i + 1] != '\n'))) ++newlines;
  }
  result.paragraph = newlines > 1 || gap.find("\xe2\x80\xa9") != std::string_view::npos;
  return result;
}

std::size_t characters_of(std::string_view valid) {
  return static_cast<std::size_t>(
      std::ranges::count_if(valid, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

void SentenceBreaks::split(std::string_view text, std::vector<TextToken>& tokens,
                           std::vector<std::size_t>& ends) {
  tokens.clear();
  ends.clear();
  words_.split(text, found_);
  // A combining mark takes the blank before it into its token.
  for (TextToken& token : found_) {
    if (!token.valid) continue;
    for (utf8proc_int32_t code; is_blank_character(code = character_at(text, token.begin));) {
      utf8proc_uint8_t encoded[4];
      token.begin += static_cast<std::size_t>(utf8proc_encode_char(code, encoded));
    }
  }
  const auto part = [&](std::size_t begin, std::size_t end) { return text.substr(begin, end - begin); };
  const auto word = [&](const TextToken& token) { return part(token.begin, token.end); };

  Mark pending = Mark::none;  // what ended the sentence, if what follows agrees
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const TextToken token = found_[i];
    const bool last = i + 1 == found_.size();
    const Gap gap = gap_of(part(token.end, last ? text.size() : found_[i + 1].begin));
    const auto next = last ? kNoCharacter : character_at(text, found_[i + 1].begin);

    const Mark mark = token.valid ? mark_of(word(token)) : Mark::none;
    const bool follows =
        mark == Mark::stop && !tokens.empty() && tokens.back().valid && tokens.back().end == token.begin;
    const bool dots = follows && word(tokens.back()).find_first_not_of('.') == std::string_view::npos;
    bool abbreviated = false;
    if (follows && !dots && !last && !gap.paragraph) {
      const std::string_view before = word(tokens.back());
      const bool inside = before.find('.') != std::string_view::npos && is_letter(character_at(before, 0));
      // "U.S. officials" goes on, "in the U.S. The" does not.
      const bool goes_on = !gap.any || is_lower_case(next) || (!is_upper_case(next) && !is_letter(next));
      const bool number = next >= '0' && next <= '9';
      abbreviated = is_initial(before) || is_abbreviation(before, number) || (inside && goes_on);
    }
    if (abbreviated || dots) {
      tokens.back().end = token.end;
    } else {
      tokens.push_back(token);
    }
    if (mark != Mark::none) {
      pending = abbreviated ? Mark::none : mark;
    } else if (!closes(word(token))) {
      pending = Mark::none;
    }

    bool ends_here = last || gap.paragraph;
    if (!ends_here && pending != Mark::none) {
      const std::string_view following = word(found_[i + 1]);
      const bool more = (!gap.any && closes(following)) || mark_of(following) != Mark::none;
      if (pending == Mark::ideographic) {
        ends_here = !more;
      } else {
        ends_here = gap.any && !more && !is_lower_case(next) && next != ',' && next != ';';
      }
    }
    if (ends_here) {
      ends.push_back(tokens.size());
      pending = Mark::none;
    }
  }
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    const std::uint8_t* bad = u8_check(bytes, text.size());
    if (bad == nullptr) return count + characters_of(text);
    const auto valid = static_cast<std::size_t>(bad - bytes);
    count += characters_of(text.substr(0, valid)) + 1;
    text.remove_prefix(valid + 1);
  }
  return count;
}

}  // namespace espalier
