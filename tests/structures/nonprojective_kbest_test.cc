#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "structures/nonprojective.h"
#include "support/nonprojective_trees.h"

namespace espalier::nonprojective_kbest_test {
namespace {

using test_support::arc_scores;
using test_support::nonprojective_trees;
using test_support::number_of_words;
using test_support::sparse_arc_scores;
using test_support::tree_score;
using test_support::TreeHeads;

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

void check_against_enumeration(std::size_t words, bool single_root, const std::vector<double>& s,
                               std::size_t k) {
  std::vector<double> expected;
  for (const auto& tree : nonprojective_trees(words, single_root)) {
    const double score = tree_score(tree, s);
    if (score > kImpossible) expected.push_back(score);
  }
  std::sort(expected.rbegin(), expected.rend());
  expected.resize(std::min(k, expected.size()));

  const auto found = nonprojective_kbest(words, single_root, s, k);
  RC_ASSERT(found.size() == expected.size());
  std::set<TreeHeads> distinct;
  for (std::size_t j = 0; j < found.size(); ++j) {
    RC_ASSERT(test_support::is_tree(found[j].heads));
    if (single_root) RC_ASSERT(std::count(found[j].heads.begin(), found[j].heads.end(), 0U) == 1);
    RC_ASSERT(found[j].score == tree_score(found[j].heads, s));
    RC_ASSERT(std::abs(found[j].score - expected[j]) <= 1e-12 * std::max(1.0, std::abs(expected[j])));
    distinct.insert(found[j].heads);
  }
  RC_ASSERT(distinct.size() == found.size());
}

RC_GTEST_PROP(NonprojectiveKBest, IsEnumerationInOrder, ()) {
  const auto words = *number_of_words(1, 6);
  const bool single_root = *rc::gen::arbitrary<bool>();
  check_against_enumeration(words, single_root, *arc_scores(words), *number_of_words(0, 40));
}

RC_GTEST_PROP(NonprojectiveKBest, EndsWithTheLastTree, ()) {
  const auto words = *number_of_words(1, 4);
  const bool single_root = *rc::gen::arbitrary<bool>();
  const auto s = *rc::gen::oneOf(arc_scores(words), sparse_arc_scores(words));
  check_against_enumeration(words, single_root, s, 1000);
}

RC_GTEST_PROP(NonprojectiveKBest, IsEnumerationInOrderWhereArcsAreExcluded, ()) {
  const auto words = *number_of_words(4, 6);
  const bool single_root = *rc::gen::arbitrary<bool>();
  check_against_enumeration(words, single_root, *sparse_arc_scores(words), *number_of_words(1, 40));
}

TEST(NonprojectiveKBest, OrderOfThreeWords) {
  // Heads by modifier; the root has one modifier.
  const std::vector<double> s{0, 0, 0, 0,  // row 0 means nothing
                              5, 0, 1, 0,  // 1: root, -, 2, 3
                              4, 3, 0, 0,  // 2
                              0, 2, 4, 0};
  const auto trees = nonprojective_kbest(3, true, s, 3);
  ASSERT_EQ(trees.size(), 3U);
  EXPECT_EQ(trees[0].heads, (TreeHeads{0, 1, 2}));
  EXPECT_EQ(trees[0].score, 12);
  EXPECT_EQ(trees[1].heads, (TreeHeads{0, 1, 1}));
  EXPECT_EQ(trees[1].score, 10);
  EXPECT_EQ(trees[2].heads, (TreeHeads{2, 0, 2}));
  EXPECT_EQ(trees[2].score, 9);
}

}  // namespace
}  // namespace espalier::nonprojective_kbest_test
