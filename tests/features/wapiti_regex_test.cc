#include "features/wapiti_regex.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cctype>
#include <string>

namespace espalier::wapiti_regex_test {
namespace {

std::string match(std::string_view regex, std::string_view text) {
  const WapitiRegex compiled(wapiti_regex_as_re2(regex).value());
  const std::string found(compiled.match(text));
  return compiled.matches(text) ? "[" + found + "]" : "none" + found;
}

TEST(WapitiRegex, CharactersAndClasses) {
  EXPECT_EQ(match("b.d", "abcde"), "[bcd]");
  EXPECT_EQ(match("\\u\\l", "xAbC"), "[Ab]");
  EXPECT_EQ(match("\\d\\D", "a12b"), "[2b]");
  EXPECT_EQ(match("\\a\\p", "a.b-"), "[a.]");
  EXPECT_EQ(match("\\P\\p", "a.b-"), "[a.]");
  EXPECT_EQ(match("\\w\\W", "a_1"), "[a_]");
  EXPECT_EQ(match("\\s\\S", "a \tb"), "[\tb]");
  EXPECT_EQ(match("\\A\\L\\U", "a1Bc"), "[1Bc]");
  EXPECT_EQ(match("\\u", "abc"), "none");
}

TEST(WapitiRegex, OtherCharactersAreThemselves) {
  EXPECT_EQ(match("a+(b|c)[d]{2}", "a+(b|c)[d]{2}"), "[a+(b|c)[d]{2}]");
  EXPECT_EQ(match("\\.\\*\\?\\\\\\\"\\n", ".*?\\\"n"), "[.*?\\\"n]");
  EXPECT_EQ(match("a^b$c", "a^b$c"), "[a^b$c]");
  EXPECT_EQ(match("$*a", "$$a"), "[$$a]");
}

TEST(WapitiRegex, EndsOfTheText) {
  EXPECT_EQ(match("^b", "ab"), "none");
  EXPECT_EQ(match("^a", "ab"), "[a]");
  EXPECT_EQ(match("b$", "abab"), "[b]");
  EXPECT_EQ(match("a$", "ab"), "none");
  EXPECT_EQ(match("^$", ""), "[]");
  EXPECT_EQ(match("a$", "a\n"), "none");
  EXPECT_EQ(match("", "a"), "[]");
}

TEST(WapitiRegex, AStarTakesAsFewAsWillDoAndAQuestionMarkOne) {
  EXPECT_EQ(match("\\l*", "abc"), "[]");
  EXPECT_EQ(match("\\l*$", "Abc"), "[bc]");
  EXPECT_EQ(match("a.*c", "abcbc"), "[abc]");
  EXPECT_EQ(match("^.?.?", "abc"), "[ab]");
  EXPECT_EQ(match(".?$", "abc"), "[c]");
  EXPECT_EQ(match("ab?b", "abc"), "[ab]");
}

TEST(WapitiRegex, CharactersAreBytes) {
  EXPECT_EQ(match("^.", "\xc3\xa4"), "[\xc3]");
  EXPECT_EQ(match("\\a", "\xc3\xa4"), "none");
  EXPECT_EQ(match("\xc3\xa4", "b\xc3\xa4"), "[\xc3\xa4]");
  EXPECT_EQ(match("\\A\\A", "\xc3\xa4"), "[\xc3\xa4]");
}

TEST(WapitiRegex, NothingToRepeat) {
  for (const char* regex : {"*", "?", "^*a", "a**", "a?*", "ab*?"}) {
    EXPECT_EQ(wapiti_regex_as_re2(regex), std::nullopt) << regex;
  }
  EXPECT_NE(wapiti_regex_as_re2("\\**"), std::nullopt);
}

// The definition, by trying all ways in the order of preference. Positions are in the text; npos: no match.
bool is_one(const std::string& atom, char c) {
  if (atom == ".") return true;
  if (atom.size() == 1) return atom[0] == c;
  const auto byte = static_cast<unsigned char>(c);
  switch (atom[1]) {
    case 'u':
      return std::isupper(byte) != 0;
    case 'L':
      return std::islower(byte) == 0;
    case 'd':
      return std::isdigit(byte) != 0;
    default:
      return atom[1] == c;
  }
}
struct Piece {
  std::string atom;
  char repeat;  // ' ', '*' or '?'
};
std::size_t end_of_match(const std::vector<Piece>& pieces, std::size_t at, const std::string& text,
                         std::size_t begin, bool to_the_end) {
  if (at == pieces.size()) return !to_the_end || begin == text.size() ? begin : std::string::npos;
  const bool one = begin < text.size() && is_one(pieces[at].atom, text[begin]);
  const auto rest = [&](std::size_t next, std::size_t from) {
    return end_of_match(pieces, next, text, from, to_the_end);
  };
  std::size_t end = std::string::npos;
  if (pieces[at].repeat == '*') {
    end = rest(at + 1, begin);
    return end == std::string::npos && one ? rest(at, begin + 1) : end;
  }
  if (one) end = rest(at + 1, begin + 1);
  return end == std::string::npos && pieces[at].repeat == '?' ? rest(at + 1, begin) : end;
}

RC_GTEST_PROP(WapitiRegex, MatchesAsItsDefinitionSays, ()) {
  const auto pieces = *rc::gen::container<std::vector<Piece>>(rc::gen::map(
      rc::gen::pair(rc::gen::element<std::string>("a", "B", ".", "\\u", "\\L", "\\d", "\\.", "^"),
                    rc::gen::element(' ', ' ', '*', '?')),
      [](const auto& pair) {
        return Piece{pair.first, pair.second};
      }));
  const bool from_start = *rc::gen::arbitrary<bool>(), to_the_end = *rc::gen::arbitrary<bool>();
  // The macro evaluates all of its expression, whatever its first operands are.
  const bool well_formed = from_start || pieces.empty() || pieces[0].atom != "^";
  RC_PRE(well_formed);
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'B', '7', '.', '\xe9', '^'));
  std::string regex = from_start ? "^" : "";
  for (const Piece& piece : pieces) {
    regex += piece.atom;
    if (piece.repeat != ' ') regex += piece.repeat;
  }
  if (to_the_end) regex += '$';

  std::string expected = "none";
  for (std::size_t begin = 0; begin <= (from_start ? 0 : text.size()); ++begin) {
    const std::size_t end = end_of_match(pieces, 0, text, begin, to_the_end);
    if (end == std::string::npos) continue;
    expected = "[" + text.substr(begin, end - begin) + "]";
    break;
  }
  RC_ASSERT(match(regex, text) == expected);
}

}  // namespace
}  // namespace espalier::wapiti_regex_test
