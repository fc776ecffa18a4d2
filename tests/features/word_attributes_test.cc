#include "features/word_attributes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace espalier::word_attributes_test {
namespace {

using Names = std::vector<std::string>;

Names names_at(WordAttributes attributes, const std::vector<std::string_view>& fields,
               std::size_t num_columns, std::size_t t) {
  StringBuffer buffer;
  attributes.set({fields, num_columns});
  attributes.append(t, buffer);
  Names names;
  for (std::size_t i = 0; i < buffer.size(); ++i) names.emplace_back(buffer[i]);
  return names;
}

TEST(WordAttributes, OfATokenAmongOthers) {
  const std::vector<std::string_view> fields{"The",  "DT",  "O",  //
                                             "new",  "JJ",  "O",  //
                                             "F-16", "NN",  "O",  //
                                             "Is",   "VBZ", "O",  //
                                             "up",   "RP",  "O"};
  const Names words{"w[-2]=The", "w[-1]=new",           "w[0]=F-16",        "w[1]=Is",
                    "w[2]=up",   "w[-1]|w[0]=new|F-16", "w[0]|w[1]=F-16|Is"};
  const Names shapes{"shape[-1]=x",
                     "shape[0]=X-d",
                     "shape[1]=Xx",
                     "shape[-1]|shape[0]=x|X-d",
                     "shape[0]|shape[1]=X-d|Xx",
                     "shape[-1]|shape[0]|shape[1]=x|X-d|Xx"};
  const Names tags{"c2[-2]=DT", "c2[-1]=JJ",          "c2[0]=NN",           "c2[1]=VBZ",
                   "c2[2]=RP",  "c2[-1]|c2[0]=JJ|NN", "c2[0]|c2[1]=NN|VBZ", "c2[-1]|c2[0]|c2[1]=JJ|NN|VBZ"};
  const Names own{"lower=f-16", "prefix1=F",   "prefix2=F-",   "prefix3=F-1", "prefix4=F-16", "suffix1=6",
                  "suffix2=16", "suffix3=-16", "suffix4=F-16", "has-digit",   "has-hyphen"};
  Names expected;
  for (const Names& part : {words, shapes, tags, own})
    expected.insert(expected.end(), part.begin(), part.end());
  EXPECT_EQ(names_at(WordAttributes(3, 2), fields, 3, 2), expected);
}

TEST(WordAttributes, TheFirstAndTheLastTokenAreMarked) {
  const std::vector<std::string_view> fields{"IBM", "", "a", ""};
  EXPECT_EQ(names_at(WordAttributes(2, 1), fields, 2, 0),
            (Names{"w[0]=IBM", "w[1]=a", "w[0]|w[1]=IBM|a", "shape[0]=X", "shape[1]=x",
                   "shape[0]|shape[1]=X|x", "lower=ibm", "prefix1=I", "prefix2=IB", "prefix3=IBM",
                   "suffix1=M", "suffix2=BM", "suffix3=IBM", "capitals", "(start)"}));
  EXPECT_EQ(names_at(WordAttributes(2, 1), fields, 2, 1),
            (Names{"w[-1]=IBM", "w[0]=a", "w[-1]|w[0]=IBM|a", "shape[-1]=X", "shape[0]=x",
                   "shape[-1]|shape[0]=X|x", "lower=a", "prefix1=a", "suffix1=a", "(stop)"}));
  EXPECT_EQ(names_at(WordAttributes(2, 1), {"I", ""}, 2, 0),
            (Names{"w[0]=I", "shape[0]=X", "lower=i", "prefix1=I", "suffix1=I", "(start)", "(stop)"}));
}

TEST(WordAttributes, NeverLookAtTheLabelOrWhatIsToBeIgnored) {
  const Names expected{"w[0]=b",    "c3[0]=c",   "lower=b", "shape[0]=x",
                       "prefix1=b", "suffix1=b", "(start)", "(stop)"};
  const auto sorted = [](Names names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_EQ(sorted(names_at(WordAttributes(3, 0), {"LABEL", "b", "c"}, 3, 0)), sorted(expected));
  EXPECT_EQ(sorted(names_at(WordAttributes(3, 1), {"b", "LABEL", "c"}, 3, 0)), sorted(expected));
  EXPECT_EQ(sorted(names_at(WordAttributes(4, 1, 3), {"b", "LABEL", "c", "2"}, 4, 0)), sorted(expected));
  EXPECT_EQ(sorted(names_at(WordAttributes(3, 1, 0), {"2", "LABEL", "b"}, 3, 0)),
            sorted({"w[0]=b", "lower=b", "shape[0]=x", "prefix1=b", "suffix1=b", "(start)", "(stop)"}));
}

std::string lower_case(std::string_view word) {
  std::string result;
  append_lower_case(word, result);
  return result;
}
std::string shape(std::string_view word) {
  std::string result;
  append_shape(word, result);
  return result;
}

TEST(WordAttributes, LowerCaseIsThatOfUnicode) {
  EXPECT_EQ(lower_case("The IBM-4 \xc3\x84rger"), "the ibm-4 \xc3\xa4rger");  // Ä
  EXPECT_EQ(lower_case("\xce\xa9\xd0\x96"), "\xcf\x89\xd0\xb6");              // Greek, Cyrillic
  EXPECT_EQ(lower_case("A\xff\xc3"), "a\xff\xc3");
}

TEST(WordAttributes, ShapesShortenRuns) {
  EXPECT_EQ(shape("McDonald's"), "XxXx'x");
  EXPECT_EQ(shape("1,200.50"), "d,d.d");
  EXPECT_EQ(shape("--..."), "-.");
  EXPECT_EQ(shape("\xc3\x84rger"), "Xx");
  EXPECT_EQ(shape("\xe6\x97\xa5\xe6\x9c\xac"), "x");  // ideographs
  EXPECT_EQ(shape("e\xcc\x81t"), "x");                // a combining accent
  EXPECT_EQ(shape("\xd9\xa3\xd9\xa4"), "d");          // Arabic digits
  EXPECT_EQ(shape("\xe2\x82\xac\xe2\x82\xac"
                  "5"),
            "\xe2\x82\xac"
            "d");  // euro signs
  EXPECT_EQ(shape("A\xff\xff\xfe"), "X\xff\xfe");
  EXPECT_EQ(shape(""), "");
}

TEST(WordAttributes, AffixesAreOfCharacters) {
  EXPECT_EQ(prefix_of("\xc3\x84rger", 1), "\xc3\x84");
  EXPECT_EQ(prefix_of("\xc3\x84rger", 3), "\xc3\x84rg");
  EXPECT_EQ(prefix_of("ab", 3), "ab");
  EXPECT_EQ(prefix_of("ab", 0), "");
  EXPECT_EQ(suffix_of("caf\xc3\xa9", 1), "\xc3\xa9");
  EXPECT_EQ(suffix_of("caf\xc3\xa9", 2), "f\xc3\xa9");
  EXPECT_EQ(suffix_of("caf\xc3\xa9", 9), "caf\xc3\xa9");
  EXPECT_EQ(prefix_of("\xc3(", 1), "\xc3");
  EXPECT_EQ(suffix_of("(\xc3", 1), "\xc3");
  EXPECT_EQ(suffix_of("\xa9\xa9", 1), "\xa9");
}

RC_GTEST_PROP(WordAttributes, PrefixesAndSuffixesMeet, ()) {
  const auto piece = rc::gen::element<std::string>("a", "B", "7", "-", "\xc3\xa9", "\xc3", "\xa9",
                                                   "\xe6\x97\xa5", "\xff", "\xe6\x97");
  std::string word;
  for (const std::string& text : *rc::gen::container<std::vector<std::string>>(piece)) word += text;
  std::size_t characters = 0;
  while (prefix_of(word, characters) != word) ++characters;
  for (std::size_t n = 0; n <= characters; ++n) {
    RC_ASSERT(std::string(prefix_of(word, n)) + std::string(suffix_of(word, characters - n)) == word);
  }
}

RC_GTEST_PROP(WordAttributes, TakeAnyBytesAndNameEachAttributeOnce, ()) {
  const auto words = *rc::gen::nonEmpty(rc::gen::container<Names>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::arbitrary<char>()))));
  std::vector<std::string_view> fields;
  for (const std::string& word : words) {
    for (const std::string_view field :
         {std::string_view(word), std::string_view(word), std::string_view("L")})
      fields.push_back(field);
  }
  const WordAttributes attributes(3, 2);
  for (std::size_t t = 0; t < words.size(); ++t) {
    const Names names = names_at(attributes, fields, 3, t);
    RC_ASSERT(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    RC_ASSERT(std::count(names.begin(), names.end(), "w[0]=" + words[t]) == 1);
  }
}

}  // namespace
}  // namespace espalier::word_attributes_test
