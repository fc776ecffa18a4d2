#include "features/gazetteer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::gazetteer_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using Words = std::vector<std::string>;
using Found = std::vector<std::tuple<std::size_t, std::size_t, std::string>>;

Found found(const Gazetteer& gazetteer, const Words& words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  std::vector<Gazetteer::Match> matches;
  gazetteer.find(views, matches);
  Found result;
  for (const auto& match : matches) {
    result.emplace_back(match.begin, match.length, gazetteer.type(match.type));
  }
  return result;
}

TEST(Gazetteer, TheLongestPhraseFromLeftToRight) {
  const TemporaryFolder folder;
  Gazetteer gazetteer;
  gazetteer.read(folder.file("places.txt", "New York\n\nNew  York City \nYork\r\nThe Hague\n"));
  gazetteer.read(folder.file("more", "ORG\tNew York\nFIRST NAME\tPaul\n"));
  EXPECT_EQ(found(gazetteer, {"New", "York", "City", "York", "New", "Paul"}),
            (Found{{0, 3, "places"}, {3, 1, "places"}, {5, 1, "FIRST NAME"}}));
  EXPECT_EQ(found(gazetteer, {"New", "York", "The", "The", "Hague"}),
            (Found{{0, 2, "places"}, {0, 2, "ORG"}, {3, 2, "places"}}));
  EXPECT_EQ(found(gazetteer, {"new", "York", "The"}), (Found{{1, 1, "places"}}));
  EXPECT_EQ(found(gazetteer, {}), Found{});
  EXPECT_EQ(gazetteer.text(),
            "places\tNew York\nplaces\tNew York City\nplaces\tYork\nplaces\tThe Hague\nORG\tNew York\n"
            "FIRST NAME\tPaul\n");
}

TEST(Gazetteer, ItsTextGivesItBack) {
  const TemporaryFolder folder;
  Gazetteer gazetteer;
  gazetteer.read(folder.file("a.b.c", "x y\nx y\nT\tx\n"));
  EXPECT_EQ(gazetteer.text(), "a\tx y\nT\tx\n");
  const Gazetteer same = Gazetteer::from_text(gazetteer.text(), "model");
  EXPECT_EQ(same.text(), gazetteer.text());
  EXPECT_EQ(found(same, {"x", "y", "x"}), (Found{{0, 2, "a"}, {2, 1, "T"}}));
  EXPECT_TRUE(Gazetteer::from_text("", "model").empty());
  EXPECT_EQ(error_message([] { Gazetteer::from_text("T\tx\ny\n", "model"); }),
            "model: damaged gazetteer: a phrase without a type; retrain the model");
}

TEST(Gazetteer, LinesWithoutATypeOrAPhraseAreErrors) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    const std::string path = folder.file("g", text);
    return error_message([&] { Gazetteer().read(path); }).substr(path.size());
  };
  EXPECT_EQ(message("a\n\tb\n"), ":2: '\\x09b'; expected a phrase, or TYPE TAB phrase");
  EXPECT_EQ(message("T\t \n"), ":1: 'T\\x09 '; expected a phrase, or TYPE TAB phrase");
}

// The definition: all phrases at all places, compared word by word.
RC_GTEST_PROP(Gazetteer, FindsWhatItsDefinitionSays, ()) {
  const auto words = rc::gen::container<Words>(rc::gen::element<std::string>("a", "b", "c"));
  const auto phrases = *rc::gen::container<std::set<Words>>(rc::gen::nonEmpty(words));
  const auto sequence = *words;
  std::string text;
  for (const Words& phrase : phrases) {
    text += "T\t";
    for (const std::string& word : phrase) text += word + " ";
    text += "\n";
  }
  Found expected;
  for (std::size_t begin = 0; begin < sequence.size();) {
    std::size_t longest = 0;
    for (const Words& phrase : phrases) {
      if (phrase.size() <= sequence.size() - begin && phrase.size() > longest &&
          std::equal(phrase.begin(), phrase.end(), sequence.begin() + static_cast<std::ptrdiff_t>(begin))) {
        longest = phrase.size();
      }
    }
    if (longest > 0) expected.emplace_back(begin, longest, "T");
    begin += longest > 0 ? longest : 1;
  }
  RC_ASSERT(found(Gazetteer::from_text(text, "model"), sequence) == expected);
}

}  // namespace
}  // namespace espalier::gazetteer_test
