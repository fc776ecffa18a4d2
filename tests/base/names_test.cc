#include "base/names.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace espalier {
namespace {

const std::vector<std::string> kSolvers{"eg", "eg-batch", "sdca", "frank-wolfe", "smo", "lbfgs", "sgd"};

TEST(Names, SuggestTheNearest) {
  EXPECT_EQ(unknown_name("solver", "lbgfs", kSolvers), "unknown solver 'lbgfs'; did you mean lbfgs?");
  EXPECT_EQ(unknown_name("solver", "frank_wolf", kSolvers),
            "unknown solver 'frank_wolf'; did you mean frank-wolfe?");
  EXPECT_EQ(unknown_name("solver", "EG", kSolvers), "unknown solver 'EG'; did you mean eg?");
  EXPECT_EQ(unknown_name("solver", "egbatch", kSolvers), "unknown solver 'egbatch'; did you mean eg-batch?");
}

TEST(Names, ListAllWhereNoneIsNear) {
  EXPECT_EQ(unknown_name("solver", "adam", kSolvers),
            "unknown solver 'adam'; expected eg, eg-batch, sdca, frank-wolfe, smo, lbfgs or sgd");
  EXPECT_EQ(unknown_name("task", "", std::vector<std::string>{"tag", "parse"}),
            "unknown task ''; expected tag or parse");
  EXPECT_EQ(nearest_name("x", kSolvers), std::nullopt) << "one letter could be anything";
  EXPECT_EQ(nearest_name(std::string(100'000, 'e'), kSolvers), std::nullopt);
}

TEST(Names, OfTwoAsNearTheFirstCounts) {
  EXPECT_EQ(nearest_name("sgo", kSolvers), "smo");
  EXPECT_EQ(nearest_name("sgd", kSolvers), "sgd");
}

std::string small_word() {
  return *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'C', 'c', '-'));
}
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

RC_GTEST_PROP(EditDistance, IsZeroForTheSameTextAlone, ()) {
  const std::string a = small_word(), b = small_word();
  RC_ASSERT((edit_distance(a, b) == 0) == (lower(a) == lower(b)));
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
}

RC_GTEST_PROP(EditDistance, LiesBetweenItsBounds, ()) {
  const std::string a = small_word(), b = small_word();
  const auto [shorter, longer] = std::minmax({a.size(), b.size()});
  RC_ASSERT(edit_distance(a, b) >= longer - shorter);
  RC_ASSERT(edit_distance(a, b) <= longer);
}

// One mistake of each kind is one mistake.
RC_GTEST_PROP(EditDistance, CountsOneMistakeOnce, ()) {
  const std::string word = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z')));
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, word.size());
  std::array<std::string, 3> wrong{word, word, word};
  wrong[0].insert(at, 1, '_');
  wrong[1].erase(at, 1);
  wrong[2][at] = '_';
  for (const std::string& text : wrong) RC_ASSERT(edit_distance(text, word) == 1u);
  std::string swapped = word;
  if (at + 1 < word.size()) std::swap(swapped[at], swapped[at + 1]);
  RC_ASSERT(edit_distance(swapped, word) == (swapped == word ? 0u : 1u));
}

}  // namespace
}  // namespace espalier
