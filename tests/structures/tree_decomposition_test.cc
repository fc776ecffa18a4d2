#include "structures/tree_decomposition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/second_order_arcs.h"

namespace espalier::tree_decomposition_test {
namespace {

using test_support::RandomSecondOrder;
using test_support::TreeHeads;

// The bound holds, the value is that of the tree, and where it says so the tree is the best.
RC_GTEST_PROP(TreeDecomposition, FindsTheBestTreeWhereItSaysSo, (std::uint64_t seed)) {
  Random random(seed);
  const double range = *rc::gen::element(0.1, 1.0, 20.0);
  const std::size_t words = 1 + random.below(5);
  const bool all = random.below(2) == 0;
  const RandomSecondOrder sentence(words, all, range, random);
  Workspace ws;
  std::vector<std::uint32_t> heads(words);
  const BestTree found = best_tree(sentence.view(), heads, ws);
  const double best = sentence.best(), rounding = 1e-8 * (1 + range) * static_cast<double>(words);
  RC_ASSERT(found.bound >= best - rounding);
  RC_ASSERT(found.value <= best + rounding);
  if (found.optimal) RC_ASSERT(found.value >= best - rounding);
  bool seen = false;
  sentence.for_each_tree([&](const TreeHeads& tree, double score, const auto&) {
    if (!std::equal(tree.begin(), tree.end(), heads.begin(), heads.end())) return;
    seen = true;
    RC_ASSERT(std::abs(score - found.value) <= rounding);
  });
  RC_ASSERT(seen);
}

// With scores of parts a tenth of those of arcs, most trees are proven to be the best, and not all.
TEST(TreeDecomposition, ProvesMostTrees) {
  Random random(2);
  Workspace ws;
  int proven = 0, right = 0;
  constexpr int kSentences = 100;
  for (int k = 0; k < kSentences; ++k) {
    RandomSecondOrder sentence(5, true, 0.3, random);
    for (double& x : sentence.s) x *= 10;
    std::vector<std::uint32_t> heads(5);
    const BestTree found = best_tree(sentence.view(), heads, ws);
    proven += found.optimal ? 1 : 0;
    right += found.value >= sentence.best() - 1e-9 ? 1 : 0;
    EXPECT_TRUE(found.optimal || found.rounds == 500);
  }
  EXPECT_GE(proven, 75);
  EXPECT_LT(proven, kSentences);
  EXPECT_GE(right, proven);
}

TEST(TreeDecomposition, SaysWhereNoTreeIsLeft) {
  Random random(1);
  RandomSecondOrder sentence(3, true, 1, random);
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  for (std::size_t h = 0; h <= 3; ++h) sentence.s[arc_matrix_index(3, h, 2)] = kImpossible;
  Workspace ws;
  std::vector<std::uint32_t> heads(3);
  EXPECT_EQ(best_tree(sentence.view(), heads, ws).value, kImpossible);
}

}  // namespace
}  // namespace espalier::tree_decomposition_test
