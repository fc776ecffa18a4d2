#include "features/word_breaks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace espalier {
namespace {

using Words = std::vector<std::string>;

std::vector<TextToken> tokens_of(std::string_view text) {
  std::vector<TextToken> tokens;
  WordBreaks().split(text, tokens);
  return tokens;
}

Words words_of(std::string_view text) {
  Words words;
  for (const TextToken& token : tokens_of(text))
    words.emplace_back(text.substr(token.begin, token.end - token.begin));
  return words;
}

void append_utf8(char32_t code, std::string& to) {
  const auto byte = [&](char32_t bits) { to += static_cast<char>(bits); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 63));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 63));
    byte(0x80 | (code >> 6 & 63));
    byte(0x80 | (code & 63));
  }
}

TEST(WordBreaks, WordsAndNumbers) {
  EXPECT_EQ(words_of("I can't, you don't."), (Words{"I", "can't", ",", "you", "don't", "."}));
  EXPECT_EQ(words_of("\"3,456.789\" is 3.14!"), (Words{"\"", "3,456.789", "\"", "is", "3.14", "!"}));
  EXPECT_EQ(words_of("The quick (\"brown\") fox can't jump 32.3 feet, right?"),
            (Words{"The", "quick", "(", "\"", "brown", "\"", ")", "fox", "can't", "jump", "32.3", "feet", ",",
                   "right", "?"}));
  EXPECT_EQ(words_of("the U.S.A. a_b e-mail x1"),
            (Words{"the", "U.S.A", ".", "a_b", "e", "-", "mail", "x1"}));
  EXPECT_EQ(words_of("l\u2019\u00e9t\u00e9 na\u00efve"), (Words{"l\u2019\u00e9t\u00e9", "na\u00efve"}));
  EXPECT_EQ(words_of("e\u0301te\u0301"), Words{"e\u0301te\u0301"});  // marks stay with their letters
}

TEST(WordBreaks, OtherScripts) {
  EXPECT_EQ(words_of("\u4e2d\u6587"), (Words{"\u4e2d", "\u6587"}));                    // ideographs
  EXPECT_EQ(words_of("\u30ab\u30bf\u30ab\u30ca"), Words{"\u30ab\u30bf\u30ab\u30ca"});  // katakana
  EXPECT_EQ(words_of("\ud55c\uad6d\uc5b4 \ub9d0"), (Words{"\ud55c\uad6d\uc5b4", "\ub9d0"}));
  EXPECT_EQ(words_of("\u05e9\u05de\"\u05d7"), Words{"\u05e9\u05de\"\u05d7"});  // WB7b: Hebrew, a quote inside
}

TEST(WordBreaks, EmojiAndFlags) {
  const std::string family = "\U0001f468\u200d\U0001f469\u200d\U0001f467";
  EXPECT_EQ(words_of(family + "\U0001f44d\U0001f3fd"), (Words{family, "\U0001f44d\U0001f3fd"}));
  EXPECT_EQ(words_of("\u2764\ufe0f\u2764"), (Words{"\u2764\ufe0f", "\u2764"}));
  const std::string de = "\U0001f1e9\U0001f1ea", fr = "\U0001f1eb\U0001f1f7";
  EXPECT_EQ(words_of(de + fr + "x"), (Words{de, fr, "x"}));
}

TEST(WordBreaks, WhatIsBlankIsNoToken) {
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" \t\r\n\u00a0\u2028\u3000\ufeff\u200b"), Words{});
  EXPECT_EQ(words_of("a\r\nb \t c\u2003d\u200be"), (Words{"a", "b", "c", "d", "e"}));
}

TEST(WordBreaks, EachByteThatIsNotUtf8IsAToken) {
  const std::string text = "caf\xe9 a\xe2\x82z\xff \xc0\xaf\xed\xa0\x80";
  EXPECT_EQ(words_of(text),
            (Words{"caf", "\xe9", "a", "\xe2", "\x82", "z", "\xff", "\xc0", "\xaf", "\xed", "\xa0", "\x80"}));
  const auto tokens = tokens_of(text);
  EXPECT_TRUE(tokens[0].valid);
  EXPECT_FALSE(tokens[1].valid);
  EXPECT_EQ(tokens[1].begin, 3u);
  EXPECT_EQ(tokens[1].end, 4u);
}

// The cases that Unicode publishes with the annex, where they are installed (Debian: unicode-data).
TEST(WordBreaks, AgreesWithTheTestFileOfUnicode) {
  std::ifstream file("/usr/share/unicode/auxiliary/WordBreakTest.txt");
  if (!file) GTEST_SKIP() << "no WordBreakTest.txt";
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    // "÷ 0061 × 0027 ÷": ÷ is a boundary. Blank tokens are left out by tokens_of, so they are here.
    std::istringstream fields(line);
    Words expected;
    std::string text, segment;
    for (std::string field; fields >> field;) {
      if (field == "\u00f7") {
        if (!words_of(segment).empty()) expected.push_back(segment);
        segment.clear();
      } else if (field != "\u00d7") {
        const auto code = static_cast<char32_t>(std::stoul(field, nullptr, 16));
        append_utf8(code, segment);
        append_utf8(code, text);
      }
    }
    if (text.empty()) continue;
    EXPECT_EQ(words_of(text), expected) << line;
    ++cases;
  }
  EXPECT_GT(cases, 1000u);
}

// Pieces of text that meet in ways that nobody would write, and bytes that are not UTF-8.
rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::elementOf(std::vector<std::string>{
      "a",      "B",      "7",          ".",        ",",          "'",           "\"",
      "_",      " ",      "\t",         "\r",       "\n",         "\u0301",      "\u200d",
      "\u00ad", "\xe9",   "\x80",       "\xf0\x9f", "\U0001f468", "\U0001f1e9",  "\U0001f3fd",
      "\u4e2d", "\u30ab", "\ud55c",     "\u05d0",   "\u00a0",     "\u2028",      ":",
      "\u00df", "\u0e01", "\U000e0001", "\ufeff",   "\xc0\xaf",   "\xed\xa0\x80"});
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const auto& pieces) {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    return text;
  });
}

RC_GTEST_PROP(WordBreaks, TokensAndGapsAreTheText, ()) {
  const std::string text = *rc::gen::oneOf(any_text(), rc::gen::arbitrary<std::string>());
  const auto tokens = tokens_of(text);
  std::size_t end = 0;
  std::string together;
  for (const TextToken& token : tokens) {
    RC_ASSERT(token.begin >= end);
    RC_ASSERT(token.end > token.begin);
    RC_ASSERT(token.end <= text.size());
    const std::string gap = text.substr(end, token.begin - end);
    RC_ASSERT(tokens_of(gap).empty());
    together += gap + text.substr(token.begin, token.end - token.begin);
    RC_ASSERT(token.valid || token.end == token.begin + 1);
    end = token.end;
  }
  const std::string gap = text.substr(end);
  RC_ASSERT(tokens_of(gap).empty());
  RC_ASSERT(together + gap == text);
}

// What is kept from an earlier text, longer or shorter, changes nothing.
RC_GTEST_PROP(WordBreaks, AnObjectMayBeUsedAgain, ()) {
  WordBreaks breaks;
  std::vector<TextToken> tokens;
  for (const std::string& text : {*any_text(), *any_text()}) {
    breaks.split(text, tokens);
    Words words;
    for (const TextToken& token : tokens) words.push_back(text.substr(token.begin, token.end - token.begin));
    RC_ASSERT(words == words_of(text));
  }
}

}  // namespace
}  // namespace espalier
