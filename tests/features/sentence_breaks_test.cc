#include "features/sentence_breaks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace espalier::sentence_breaks_test {
namespace {

using Sentences = std::vector<std::string>;

// Tokens with a space between, sentence by sentence.
Sentences split(std::string_view text) {
  std::vector<TextToken> tokens;
  std::vector<std::size_t> ends;
  SentenceBreaks().split(text, tokens, ends);
  Sentences sentences;
  std::size_t t = 0;
  for (const std::size_t end : ends) {
    sentences.emplace_back();
    for (; t < end; ++t) {
      if (!sentences.back().empty()) sentences.back() += ' ';
      sentences.back() += text.substr(tokens[t].begin, tokens[t].end - tokens[t].begin);
    }
  }
  EXPECT_EQ(t, tokens.size());
  return sentences;
}

TEST(SentenceBreaks, EndsOfSentences) {
  EXPECT_EQ(split("It rains. He left! Why? Because"),
            (Sentences{"It rains .", "He left !", "Why ?", "Because"}));
  EXPECT_EQ(split("\"Go.\" (He went.) She said: \"Stay!\" and left."),
            (Sentences{"\" Go . \"", "( He went . )", "She said : \" Stay ! \" and left ."}));
  EXPECT_EQ(split("Wait... what? Yahoo! shares fell, 3.5 % in all.Next"),
            (Sentences{"Wait ... what ?", "Yahoo ! shares fell , 3.5 % in all.Next"}));
  EXPECT_EQ(split("one line\nof a paragraph\n\nand another \n \n third"),
            (Sentences{"one line of a paragraph", "and another", "third"}));
  EXPECT_EQ(split("a\r\nb\r\n\r\nc\u2029d"), (Sentences{"a b", "c", "d"}));
}

TEST(SentenceBreaks, FullStopsOfAbbreviations) {
  EXPECT_EQ(split("Mr. J. Smith met Dr. Jones vs. No. 5. Then no. He went."),
            (Sentences{"Mr. J. Smith met Dr. Jones vs. No. 5 .", "Then no .", "He went ."}));
  EXPECT_EQ(split("So am I. The U.S. economy, e.g. Boston's. In the U.S. The end."),
            (Sentences{"So am I .", "The U.S. economy , e.g. Boston's .", "In the U.S .", "The end ."}));
  EXPECT_EQ(split("Ask Dr."), Sentences{"Ask Dr ."});
  EXPECT_EQ(split("Ask Dr.\n\nJones"), (Sentences{"Ask Dr .", "Jones"}));
}

TEST(SentenceBreaks, OtherScripts) {
  EXPECT_EQ(split("\u662f\u3002\u4e0d\uff01").size(), 2u);
  EXPECT_EQ(split("\u00c9t\u00e9. \u00c9cole. \u00e9l\u00e8ve").size(), 2u);
}

TEST(SentenceBreaks, TokensDoNotBeginWithBlanks) {
  EXPECT_EQ(split("a \u0301 b"), Sentences{"a \u0301 b"});
  EXPECT_EQ(split("  "), Sentences{});
  EXPECT_EQ(split(""), Sentences{});
  EXPECT_EQ(split("\xff. A"), (Sentences{"\xff .", "A"}));
}

TEST(SentenceBreaks, CharactersOfText) {
  EXPECT_EQ(count_characters("caf\u00e9 \U0001F600"), 6u);
  EXPECT_EQ(count_characters("a\xc3"), 2u);
  EXPECT_EQ(count_characters(""), 0u);
}

// Whatever the text: tokens in their order, none empty, blank text between them, and no sentence is empty.
// What follows a sentence and its next token does not change it.
RC_GTEST_PROP(SentenceBreaks, TokensAndGapsAreTheText, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "B", "Mr", "U.S", ".", "...", "!", "?", "\"", ")", " ", "\n", "\n\n",
                                    "\u3002", "\u0301", "\xff", "7", ","));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  std::vector<TextToken> tokens;
  std::vector<std::size_t> ends;
  SentenceBreaks breaks;
  breaks.split(text, tokens, ends);
  std::size_t at = 0, last = 0;
  for (const TextToken& token : tokens) {
    RC_ASSERT(at <= token.begin && token.begin < token.end && token.end <= text.size());
    RC_ASSERT(text.find_first_not_of(" \n", at) >= token.begin);
    at = token.end;
  }
  RC_ASSERT(text.find_first_not_of(" \n", at) == std::string::npos);
  for (const std::size_t end : ends) {
    RC_ASSERT(end > last);
    last = end;
  }
  RC_ASSERT(last == tokens.size());

  if (ends.size() < 3) return;
  const std::size_t cut = tokens[ends[ends.size() - 3]].begin;
  std::vector<TextToken> before, after;
  std::vector<std::size_t> ends_before, ends_after;
  breaks.split(std::string_view(text).substr(0, cut), before, ends_before);
  breaks.split(std::string_view(text).substr(cut), after, ends_after);
  RC_ASSERT(before.size() + after.size() == tokens.size());
  RC_ASSERT(ends_before.size() + ends_after.size() == ends.size());
}

}  // namespace
}  // namespace espalier::sentence_breaks_test
