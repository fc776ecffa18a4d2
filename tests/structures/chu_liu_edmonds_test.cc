#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "structures/nonprojective.h"
#include "support/nonprojective_trees.h"

namespace espalier {
namespace {

using test_support::arc_scores;
using test_support::nonprojective_trees;
using test_support::number_of_words;
using test_support::sparse_arc_scores;
using test_support::tree_score;
using test_support::TreeHeads;
using test_support::uniform_arc_scores;

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

struct Best {
  TreeHeads heads;
  double score;
};

Best best(std::size_t words, bool single_root, const std::vector<double>& s) {
  Workspace ws;
  Best result{TreeHeads(words, 0), 0};
  result.score = nonprojective_best(words, single_root, s, result.heads, ws);
  return result;
}

void check_tree(const Best& found, bool single_root, const std::vector<double>& s) {
  RC_ASSERT(test_support::is_tree(found.heads));
  if (single_root) RC_ASSERT(std::count(found.heads.begin(), found.heads.end(), 0U) == 1);
  RC_ASSERT(found.score == tree_score(found.heads, s));
}

void check_against_enumeration(std::size_t words, bool single_root, const std::vector<double>& s) {
  double highest = kImpossible;
  for (const auto& tree : nonprojective_trees(words, single_root))
    highest = std::max(highest, tree_score(tree, s));
  const auto found = best(words, single_root, s);
  if (highest == kImpossible) {
    RC_ASSERT(found.score == kImpossible);
    return;
  }
  check_tree(found, single_root, s);
  // Trees whose scores are this close are the same but for rounding.
  RC_ASSERT(found.score >= highest - 1e-12 * std::max(1.0, std::abs(highest)));
}

RC_GTEST_PROP(ChuLiuEdmonds, IsTheBestOfAll, ()) {
  const auto words = *number_of_words(1, 6);
  const auto s = *arc_scores(words);
  check_against_enumeration(words, false, s);
  check_against_enumeration(words, true, s);
}

RC_GTEST_PROP(ChuLiuEdmonds, IsTheBestOfAllWhereArcsAreExcluded, ()) {
  const auto words = *number_of_words(2, 6);
  const auto s = *sparse_arc_scores(words);
  check_against_enumeration(words, false, s);
  check_against_enumeration(words, true, s);
}

// Whole numbers: no rounding, many ties and cycles within cycles.
RC_GTEST_PROP(ChuLiuEdmonds, IsExactForWholeNumbers, ()) {
  const auto words = *number_of_words(3, 6);
  auto s = *uniform_arc_scores(words, 3);
  for (double& x : s) x = std::round(x);
  for (const bool single_root : {false, true}) {
    double highest = kImpossible;
    for (const auto& tree : nonprojective_trees(words, single_root))
      highest = std::max(highest, tree_score(tree, s));
    const auto found = best(words, single_root, s);
    check_tree(found, single_root, s);
    RC_ASSERT(found.score == highest);
    RC_ASSERT(best(words, single_root, s).heads == found.heads);
  }
}

// The tree that is left as the temperature falls, among sentences too long for enumeration.
RC_GTEST_PROP(ChuLiuEdmonds, IsWhatTheMatrixTreeTheoremFinds, ()) {
  const auto words = *number_of_words(7, 60);
  const bool single_root = *rc::gen::arbitrary<bool>();
  auto s = *uniform_arc_scores(words, 1000);
  for (double& x : s) x = std::round(x);
  const auto found = best(words, single_root, s);
  check_tree(found, single_root, s);
  // log Z(beta s) / beta lies between the best score and that plus the logarithm of the number of trees, /
  // beta.
  const double beta = 1e4;
  for (double& x : s) x *= beta;
  std::vector<double> mu(s.size());
  Workspace ws;
  const double log_z = nonprojective_log_partition(words, single_root, s, mu, ws);
  const auto m = static_cast<double>(words);
  RC_ASSERT(log_z >= beta * found.score - 1e-3);
  RC_ASSERT(log_z <= beta * found.score + (m - 1) * std::log(m + 1) + 1e-3);
}

TEST(ChuLiuEdmonds, OneModifierOfTheRootCostsNoPrecision) {
  // All words like the root by far the most, and what is left to choose lies 15 digits below: about what a
  // double has.
  const std::size_t words = 4;
  std::vector<double> s(arc_matrix_size(words), 0);
  for (std::size_t d = 1; d <= words; ++d) s[arc_matrix_index(words, 0, d)] = 1e10;
  s[arc_matrix_index(words, 3, 1)] = 1e-5;
  s[arc_matrix_index(words, 1, 2)] = 1e-5;
  s[arc_matrix_index(words, 2, 4)] = 1e-5;
  EXPECT_EQ(best(words, true, s).heads, (TreeHeads{3, 1, 0, 2}));
  EXPECT_EQ(best(words, false, s).heads, (TreeHeads{0, 0, 0, 0}));
}

TEST(ChuLiuEdmonds, OneWord) {
  EXPECT_EQ(best(1, true, {0, 0, -3, 0}).heads, TreeHeads{0});
  EXPECT_EQ(best(1, true, {0, 0, -3, 0}).score, -3);
  EXPECT_EQ(best(1, false, {0, 0, kImpossible, 0}).score, kImpossible);
}

TEST(ChuLiuEdmonds, WhatMeansNothingIsNotRead) {
  std::vector<double> s{0, 0, 0, 0, 1, 0, 5, 4, 0, 7, 0, 6, 0, 2, 9, 0};
  const auto expected = best(3, true, s);
  for (std::size_t k = 0; k <= 3; ++k) {
    s[arc_matrix_index(3, k, 0)] = std::numeric_limits<double>::quiet_NaN();
    s[arc_matrix_index(3, k, k)] = std::numeric_limits<double>::infinity();
  }
  EXPECT_EQ(best(3, true, s).heads, (TreeHeads{0, 1, 2}));
  EXPECT_EQ(best(3, true, s).heads, expected.heads);
  EXPECT_EQ(best(3, true, s).score, 17);
}

}  // namespace
}  // namespace espalier
