#include "tasks/align/pair_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "espalier/base/error.h"
#include "tasks/fields.h"

namespace espalier {
namespace {

constexpr const char* kPairLine = "expected SOURCE ||| TARGET ||| LINKS";
constexpr std::string_view kBar = "|||";

// "3-0" and "3?0"
std::optional<WordLink> parse_link(std::string_view text) {
  WordLink link{};
  const char* const end = text.data() + text.size();
  const auto source = std::from_chars(text.data(), end, link.source);
  if (source.ec != std::errc() || source.ptr == end || (*source.ptr != '-' && *source.ptr != '?'))
    return std::nullopt;
  link.sure = *source.ptr == '-';
  const auto target = std::from_chars(source.ptr + 1, end, link.target);
  if (target.ec != std::errc() || target.ptr != end) return std::nullopt;
  return link;
}

}  // namespace

bool PairReader::next(SentencePair& pair) {
  std::string_view line;
  if (!lines_.next(line)) return false;
  pair = {};
  pair.line = lines_.line_number();
  std::vector<std::string_view> parts{line.substr(0, 0)};
  const char* begin = line.data();
  for_each_field(line, [&](std::string_view field) {
    if (field == kBar) {
      parts.emplace_back();
      begin = field.data() + field.size();
      return;
    }
    parts.back() = {begin, static_cast<std::size_t>(field.data() + field.size() - begin)};
  });
  if (parts.size() == 1) lines_.fail(parts[0].empty() ? "an empty line" : "no '|||'", kPairLine);
  if (parts.size() > 3) lines_.fail(fmt::format("{} times '|||'", parts.size() - 1), kPairLine);
  take_words(parts[0], "source", pair.source);
  take_words(parts[1], "target", pair.target);
  if (!needs_links_) return true;
  if (parts.size() == 2) lines_.fail("no links", kPairLine);
  take_links(parts[2], pair);
  return true;
}

void PairReader::take_words(std::string_view text, const char* side, std::vector<std::string>& words) const {
  for_each_field(text, [&](std::string_view word) { words.emplace_back(word); });
  if (words.empty()) lines_.fail(fmt::format("no {} words", side), kPairLine);
  if (words.size() > kMostWords)
    lines_.fail(fmt::format("{} {} words", grouped(words.size()), side),
                fmt::format("expected at most {}", grouped(kMostWords)));
}

void PairReader::take_links(std::string_view text, SentencePair& pair) const {
  const auto check = [&](std::string_view field, std::uint32_t word, std::size_t size, const char* side) {
    if (word < size) return;
    lines_.fail(
        fmt::format("the link {} with {}", in_quotes(field), counted(size, std::string(side) + " word")),
        fmt::format("expected {} words from 0 to {}", side, size - 1));
  };
  for_each_field(text, [&](std::string_view field) {
    const auto link = parse_link(field);
    if (!link)
      lines_.fail(fmt::format("the link {}", in_quotes(field)),
                  "expected I-J, or I?J for a possible link, with words counted from 0");
    check(field, link->source, pair.source.size(), "source");
    check(field, link->target, pair.target.size(), "target");
    pair.links.push_back(*link);
  });
  sort_links(pair,
             [&](const std::string& found, const std::string& expected) { lines_.fail(found, expected); });
}

void sort_links(SentencePair& pair, const std::function<void(const std::string&, const std::string&)>& fail) {
  std::sort(pair.links.begin(), pair.links.end(),
            [&](const WordLink& a, const WordLink& b) { return pair.place(a) < pair.place(b); });
  const auto twice = std::adjacent_find(
      pair.links.begin(), pair.links.end(),
      [&](const WordLink& a, const WordLink& b) { return pair.place(a) == pair.place(b); });
  if (twice != pair.links.end())
    fail(fmt::format("two links of {} and {}", twice->source, twice->target), "expected one");
}

void append_words(const std::vector<std::string>& words, std::string& to) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (k > 0) to += ' ';
    to += words[k];
  }
}

}  // namespace espalier
