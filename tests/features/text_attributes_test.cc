#include "features/text_attributes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <utf8proc.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace espalier {
namespace {

using Names = std::vector<std::string>;

TextSettings words(std::size_t ngrams, bool keep_case = false) { return {ngrams, 0, keep_case, {}}; }

Names names_of(std::string_view text, const TextSettings& settings) {
  TextAttributes attributes(settings);
  Names names;
  for (const std::string_view name : attributes.of(text)) names.emplace_back(name);
  return names;
}

TEST(TextAttributes, WordsAsOftenAsTheyCome) {
  EXPECT_EQ(names_of("The cat, the CAT!", words(1)), (Names{"the", "cat", ",", "the", "cat", "!"}));
  EXPECT_EQ(names_of("The cat", words(1, true)), (Names{"The", "cat"}));
  EXPECT_EQ(names_of(" \t ", words(1)), Names{});
}

TEST(TextAttributes, NgramsOfWords) {
  EXPECT_EQ(names_of("to  be or", words(3)), (Names{"to", "to be", "to be or", "be", "be or", "or"}));
  EXPECT_EQ(names_of("one", words(3)), Names{"one"});
}

TEST(TextAttributes, CaseIsFoldedAsUnicodeSays) {
  // Full folding: one character may become two; final sigma is a sigma.
  EXPECT_EQ(names_of("STRASSE Stra\u00dfe STRA\u1e9eE", words(1)), (Names{"strasse", "strasse", "strasse"}));
  EXPECT_EQ(names_of("\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03bf\u03c2", words(1)),
            (Names{"\u03bf\u03b4\u03bf\u03c3", "\u03bf\u03b4\u03bf\u03c3"}));
  EXPECT_EQ(names_of("\u00c9T\u00c9 \u0414\u0410", words(1)), (Names{"\u00e9t\u00e9", "\u0434\u0430"}));
}

TEST(TextAttributes, NgramsOfCharacters) {
  EXPECT_EQ(names_of("Caf\u00e9 a", {0, 3, false, {}}),
            (Names{"~<c", "~<ca", "~ca", "~caf", "~af", "~af\u00e9", "~f\u00e9", "~f\u00e9>", "~\u00e9>"}));
  EXPECT_EQ(names_of("of", {1, 2, false, {}}), (Names{"of", "~<o", "~of", "~f>"}));
  EXPECT_EQ(names_of("ab", {0, 9, false, {}}), (Names{"~<a", "~<ab", "~<ab>", "~ab", "~ab>", "~b>"}));
}

TEST(TextAttributes, BytesThatAreNotUtf8AreCounted) {
  TextAttributes attributes(words(1));
  EXPECT_EQ(attributes.of("caf\xe9 \xff").size(), 3u);
  EXPECT_EQ(attributes.of("caf\xe9")[1], "\ufffd");
  EXPECT_EQ(attributes.num_bad_bytes(), 3u);
}

// utf8proc folds whole strings by another way, with memory of its own.
TEST(TextAttributes, EveryCharacterIsFolded) {
  for (utf8proc_int32_t code = 0x21; code < 0x110000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    utf8proc_uint8_t encoded[5];
    const auto length = utf8proc_encode_char(code, encoded);
    const std::string text(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(length));
    const Names names = names_of(text, words(1));
    if (names.empty()) continue;  // blank
    utf8proc_uint8_t* folded = nullptr;
    ASSERT_GT(utf8proc_map(encoded, length, &folded, UTF8PROC_CASEFOLD), 0) << code;
    EXPECT_EQ(names, Names{reinterpret_cast<const char*>(folded)}) << code;
    std::free(folded);
  }
}

// Against the definition, and with an object that is used again.
RC_GTEST_PROP(TextAttributes, NgramsAreRunsOfWords, ()) {
  const auto ngrams = *rc::gen::inRange<std::size_t>(1, 5);
  TextAttributes attributes(words(ngrams));
  for (int round = 0; round < 2; ++round) {
    const auto list = *rc::gen::container<Names>(
        rc::gen::elementOf(Names{"a", "bc", "d", "\u00e9", "can't", ".", "3.14", "\u4e2d"}));
    std::string text;
    for (const std::string& word : list) text += word + (*rc::gen::arbitrary<bool>() ? "\t" : "  ");
    Names expected;
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::string name;
      for (std::size_t k = i; k < std::min(i + ngrams, list.size()); ++k) {
        name += (k > i ? " " : "") + list[k];
        expected.push_back(name);
      }
    }
    Names found;
    for (const std::string_view name : attributes.of(text)) found.emplace_back(name);
    RC_ASSERT(found == expected);
  }
}

// The texts "a a b", "b c" and "c c c d": idf is ln(4/2) + 1 for a and d, ln(4/3) + 1 for b and c. Worked out
// in double precision by another program.
TEST(TextAttributes, TfIdf) {
  const std::vector<float> idf{inverse_document_frequency(3, 1), inverse_document_frequency(3, 2),
                               inverse_document_frequency(3, 2), inverse_document_frequency(3, 1)};
  EXPECT_FLOAT_EQ(idf[0], 1.69314718f);
  EXPECT_FLOAT_EQ(idf[1], 1.28768207f);
  const auto weighed = [&](std::vector<std::uint32_t> ids, std::vector<float> values) {
    weigh_by_tf_idf(ids, idf, values);
    return values;
  };
  const auto first = weighed({0, 1}, {2, 1}), last = weighed({2, 3}, {3, 1});
  EXPECT_FLOAT_EQ(first[0], 0.93470196f);
  EXPECT_FLOAT_EQ(first[1], 0.35543247f);
  EXPECT_FLOAT_EQ(last[0], 0.91589033f);
  EXPECT_FLOAT_EQ(last[1], 0.40142857f);
  EXPECT_EQ(weighed({}, {}), std::vector<float>{});
}

}  // namespace
}  // namespace espalier
