#include "structures/projectivity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/all_trees.h"
#include "tasks/parse/dependency_reader.h"

namespace espalier {
namespace {

using test_support::TreeHeads;

// The words in a random order, each attached to one before it or to the root.
TreeHeads random_tree(std::size_t words) {
  std::vector<std::uint32_t> order(words);
  std::iota(order.begin(), order.end(), 1);
  for (std::size_t i = words; i > 1; --i)
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  TreeHeads heads(words);
  for (std::size_t i = 0; i < words; ++i) {
    const auto above = *rc::gen::inRange<std::size_t>(0, i + 1);
    heads[order[i] - 1] = above == i ? 0 : order[above];
  }
  return heads;
}

TEST(Projectivity, NoWordsAreATree) {
  TreeHeads heads;
  EXPECT_TRUE(is_projective(heads));
  EXPECT_EQ(make_projective(heads), 0u);
}

TEST(Projectivity, IsToldForAllSmallTrees) {
  for (std::size_t words = 1; words <= 5; ++words) {
    for (const TreeHeads& heads : test_support::all_trees(words, false, false)) {
      EXPECT_EQ(is_projective(heads), test_support::is_projective(heads)) << ::testing::PrintToString(heads);
    }
  }
}

// A word under the root that lies below another arc is not projective either: the root is at the left.
TEST(Projectivity, TheRootIsAtTheLeft) {
  EXPECT_FALSE(is_projective(TreeHeads{3, 0, 0}));
  EXPECT_TRUE(is_projective(TreeHeads{0, 0, 0}));
  EXPECT_TRUE(is_projective(TreeHeads{2, 0, 2}));
}

RC_GTEST_PROP(Projectivity, IsToldForLongTrees, ()) {
  const TreeHeads heads = random_tree(*rc::gen::inRange<std::size_t>(1, 40));
  RC_CLASSIFY(test_support::is_projective(heads));
  RC_ASSERT(is_projective(heads) == test_support::is_projective(heads));
}

bool descends(const TreeHeads& heads, std::size_t word, std::size_t from) {
  while (word != from && word != 0) word = heads[word - 1];
  return word == from;
}

RC_GTEST_PROP(Projectivity, LiftingMakesAProjectiveTree, ()) {
  const TreeHeads before = random_tree(*rc::gen::inRange<std::size_t>(1, 20));
  TreeHeads after = before;
  const std::size_t lifted = make_projective(after);
  RC_ASSERT(test_support::is_tree(after));
  RC_ASSERT(test_support::is_projective(after));
  RC_ASSERT((lifted == 0) == test_support::is_projective(before));
  RC_ASSERT((lifted == 0) == (after == before));
  // Heads are those of before, or further up.
  for (std::size_t d = 1; d <= before.size(); ++d) RC_ASSERT(descends(before, d, after[d - 1]));
}

TEST(Projectivity, ProjectiveTreesStayAsTheyAre) {
  for (const TreeHeads& before : test_support::all_trees(5, true, false)) {
    TreeHeads after = before;
    EXPECT_EQ(make_projective(after), 0u);
    EXPECT_EQ(after, before);
  }
}

// "A hearing is scheduled on the issue today": "on" goes from "hearing" to "is", and "today", whose arc spans
// it, from "scheduled" to "is".
TEST(Projectivity, LiftsWhatCrosses) {
  TreeHeads heads = {2, 3, 0, 3, 2, 7, 5, 4};
  EXPECT_EQ(make_projective(heads), 2u);
  EXPECT_EQ(heads, (TreeHeads{2, 3, 0, 3, 3, 7, 5, 3}));
}

// 2 goes up three times: from 5 to 6, to 7 and to the root, where 1 and 3 are.
TEST(Projectivity, LiftsSeveralTimes) {
  TreeHeads heads = {0, 5, 0, 7, 6, 7, 0};
  EXPECT_EQ(make_projective(heads), 3u);
  EXPECT_EQ(heads, (TreeHeads{0, 0, 0, 7, 6, 7, 0}));
}

// The order matters. With the longest first, 3 would go up to 4.
TEST(Projectivity, TheShortestIsLiftedFirst) {
  TreeHeads heads = {3, 4, 5, 0, 2};
  EXPECT_EQ(make_projective(heads), 4u);
  EXPECT_EQ(heads, (TreeHeads{4, 4, 2, 0, 4}));
}

// 5 -> 2 and 1 -> 4 are as long as each other. With 4 lifted first, 2 would go up to the root.
TEST(Projectivity, TheLeftmostOfTheShortestIsLiftedFirst) {
  TreeHeads heads = {0, 5, 0, 1, 4};
  EXPECT_EQ(make_projective(heads), 3u);
  EXPECT_EQ(heads, (TreeHeads{0, 1, 0, 0, 4}));
}

// How many sentences of a treebank there are, and how many of them are not projective.
std::pair<std::size_t, std::size_t> count(const std::string& path) {
  DependencyReader reader(path, true);
  DependencySentence sentence;
  std::size_t all = 0, crossing = 0;
  TreeHeads heads;
  while (reader.next(sentence)) {
    heads.clear();
    for (const DependencyWord& word : sentence.words) heads.push_back(word.head);
    ++all;
    if (is_projective(heads)) continue;
    ++crossing;
    make_projective(heads);
    EXPECT_TRUE(test_support::is_projective(heads)) << path << ":" << sentence.first_line;
  }
  return {all, crossing};
}

TEST(Projectivity, OfTreebanks) {
  const std::string data = ESPALIER_SHARED_DIR "/data/";
  if (!std::filesystem::exists(data + "conllx-spanish") || !std::filesystem::exists(data + "danish-ddt"))
    GTEST_SKIP() << "no treebanks in " << data;
  std::size_t all = 0, crossing = 0;
  for (const char* part : {"train", "test"}) {
    const auto [sentences, found] = count(data + "conllx-spanish/spanish_cast3lb_" + part + ".conll.gz");
    all += sentences;
    crossing += found;
  }
  EXPECT_EQ(all, 3512u);
  EXPECT_EQ(crossing, 60u);
  all = crossing = 0;
  for (const char* part : {"train", "dev", "test"}) {
    const auto [sentences, found] = count(data + "danish-ddt/danish_ddt_" + part + ".conll.gz");
    all += sentences;
    crossing += found;
  }
  EXPECT_EQ(all, 5541u);
  EXPECT_EQ(crossing, 852u);
}

}  // namespace
}  // namespace espalier
