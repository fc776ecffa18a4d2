#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "base/random.h"
#include "structures/enumerated_trees.h"
#include "structures/projective.h"

namespace espalier::projective_kbest_test {
namespace {

using test_support::arc_score;
using test_support::draw_arc_scores;
using test_support::draw_between;
using test_support::EnumeratedTrees;
using test_support::is_projective;
using test_support::is_tree;
using test_support::rounding;
using test_support::TreeHeads;

RC_GTEST_PROP(ProjectiveKBest, TreesAreThoseOfEnumeration, ()) {
  const auto words = draw_between(1, 6);
  const auto single_root = *rc::gen::arbitrary<bool>();
  const auto s = draw_arc_scores(words, single_root);
  const EnumeratedTrees all(words, single_root, [&](const TreeHeads& y) { return arc_score(words, s, y); });
  auto sorted = all.scores;
  std::erase(sorted, -std::numeric_limits<double>::infinity());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());

  // Also more than there are.
  const auto k = *rc::gen::element<std::size_t>(1, 2, 10, 100, 2000);
  const auto found = projective_kbest(words, single_root, s, k);
  RC_ASSERT(found.size() == std::min(k, sorted.size()));
  std::set<TreeHeads> seen;
  for (std::size_t r = 0; r < found.size(); ++r) {
    RC_ASSERT(seen.insert(found[r].heads).second);
    RC_ASSERT(std::find(all.trees.begin(), all.trees.end(), found[r].heads) != all.trees.end());
    RC_ASSERT(found[r].score == arc_score(words, s, found[r].heads));
    RC_ASSERT(std::abs(found[r].score - sorted[r]) <= rounding(words, s));
    if (r > 0) RC_ASSERT(found[r].score <= found[r - 1].score);
  }
}

TEST(ProjectiveKBest, LongSentencesHaveDistinctTreesInOrder) {
  constexpr std::size_t kWords = 40, kTrees = 500;
  Random random(3);
  std::vector<double> s(arc_matrix_size(kWords));
  for (double& x : s) x = random.uniform();
  for (const bool single_root : {false, true}) {
    const auto found = projective_kbest(kWords, single_root, s, kTrees);
    ASSERT_EQ(found.size(), kTrees);
    std::set<TreeHeads> seen;
    for (std::size_t r = 0; r < kTrees; ++r) {
      EXPECT_TRUE(seen.insert(found[r].heads).second);
      EXPECT_TRUE(is_tree(found[r].heads) && is_projective(found[r].heads));
      if (r > 0) {
        EXPECT_LE(found[r].score, found[r - 1].score);
      }
    }
    TreeHeads heads(kWords);
    Workspace ws;
    EXPECT_EQ(found[0].score, projective_best(kWords, single_root, s, heads, ws));
    EXPECT_EQ(found[0].heads, heads);
  }
}

TEST(ProjectiveKBest, NoTreesAreAsked) {
  const std::vector<double> s(9, 0.0);
  EXPECT_TRUE(projective_kbest(2, true, s, 0).empty());
}

}  // namespace
}  // namespace espalier::projective_kbest_test
