#include "structures/projective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "structures/enumerated_trees.h"

namespace espalier::projective_test {
namespace {

using test_support::arc_marginals;
using test_support::arc_score;
using test_support::draw_arc_scores;
using test_support::draw_between;
using test_support::EnumeratedTrees;
using test_support::is_projective;
using test_support::is_tree;
using test_support::rounding;
using test_support::spoil_unused;
using test_support::TreeHeads;

constexpr double kExcluded = -std::numeric_limits<double>::infinity();

std::vector<double> random_scores(std::size_t words, double range, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> s(arc_matrix_size(words));
  for (double& x : s) x = range * (2 * random.uniform() - 1);
  spoil_unused(words, s);
  return s;
}

struct Marginals {
  double log_z;
  std::vector<double> mu;
};
Marginals fast(std::size_t words, bool single_root, std::span<const double> s) {
  Workspace ws;
  Marginals result{0, std::vector<double>(s.size(), -1.0)};
  result.log_z = projective_log_partition(words, single_root, s, result.mu, ws);
  return result;
}
Marginals reference(std::size_t words, bool single_root, std::span<const double> s) {
  Workspace ws;
  Marginals result{0, std::vector<double>(s.size(), -1.0)};
  result.log_z = projective_log_partition_reference(words, single_root, s, result.mu, ws);
  return result;
}

// The largest |sum of a word's marginals - 1|; not a number where one of them is not.
double worst_row(std::size_t words, const std::vector<double>& mu) {
  double worst = 0;
  for (std::size_t d = 1; d <= words; ++d) {
    double sum = 0;
    for (std::size_t h = 0; h <= words; ++h) sum += mu[arc_matrix_index(words, h, d)];
    if (!(std::abs(sum - 1) <= worst)) worst = std::abs(sum - 1);
  }
  return worst;
}

RC_GTEST_PROP(Projective, InferenceIsThatOfEnumeration, ()) {
  const auto words = draw_between(1, 6);
  const auto single_root = *rc::gen::arbitrary<bool>();
  const auto s = draw_arc_scores(words, single_root);
  const EnumeratedTrees all(words, single_root, [&](const TreeHeads& y) { return arc_score(words, s, y); });
  const auto expected = arc_marginals(words, all);
  for (const auto& found : {fast(words, single_root, s), reference(words, single_root, s)}) {
    RC_ASSERT(std::abs(found.log_z - all.log_z) <= rounding(words, s));
    for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(found.mu[k] - expected[k]) <= 1e-12);
  }

  TreeHeads heads(words, 99);
  Workspace ws;
  const double best = projective_best(words, single_root, s, heads, ws);
  RC_ASSERT(std::abs(best - all.highest) <= rounding(words, s));
  RC_ASSERT(arc_score(words, s, heads) == best);
  RC_ASSERT(std::find(all.trees.begin(), all.trees.end(), heads) != all.trees.end());
}

// Small probabilities have as many digits as large ones.
RC_GTEST_PROP(Projective, SmallMarginalsAreAccurate, ()) {
  const auto words = draw_between(1, 6);
  const auto single_root = *rc::gen::arbitrary<bool>();
  const auto s = random_scores(words, *rc::gen::element(1.0, 30.0), *rc::gen::arbitrary<std::uint64_t>());
  const EnumeratedTrees all(words, single_root, [&](const TreeHeads& y) { return arc_score(words, s, y); });
  const auto expected = arc_marginals(words, all);
  const auto found = fast(words, single_root, s);
  for (std::size_t k = 0; k < s.size(); ++k)
    RC_ASSERT(std::abs(found.mu[k] - expected[k]) <= 1e-12 * expected[k]);
}

RC_GTEST_PROP(Projective, MarginalsAreTheGradient, ()) {
  const auto words = draw_between(1, 10);
  const auto single_root = *rc::gen::arbitrary<bool>();
  auto s = random_scores(words, 2, *rc::gen::arbitrary<std::uint64_t>());
  const auto mu = fast(words, single_root, s).mu;
  const auto h = draw_between(0, words), d = draw_between(1, words);
  RC_PRE(h != d);
  double& x = s[arc_matrix_index(words, h, d)];
  const double at = x, step = 1e-4;
  x = at + step;
  const double above = fast(words, single_root, s).log_z;
  x = at - step;
  const double below = fast(words, single_root, s).log_z;
  RC_ASSERT(std::abs((above - below) / (2 * step) - mu[arc_matrix_index(words, h, d)]) < 1e-8);
}

RC_GTEST_PROP(Projective, TheFastWayIsThatOfLogarithms, ()) {
  const auto words = draw_between(7, 30);
  const auto single_root = *rc::gen::arbitrary<bool>();
  const auto range = *rc::gen::element(1.0, 30.0, 1000.0);
  auto s = random_scores(words, range, *rc::gen::arbitrary<std::uint64_t>());
  // Heads before each word, so that a tree is left whatever is excluded of those after it.
  if (*rc::gen::arbitrary<bool>()) {
    for (std::size_t d = 1; d <= words; ++d) {
      for (std::size_t h = d + 1; h <= words; h += 2) s[arc_matrix_index(words, h, d)] = kExcluded;
    }
  }
  const auto found = fast(words, single_root, s), expected = reference(words, single_root, s);
  RC_ASSERT(std::abs(found.log_z - expected.log_z) <= 1e-13 * (10 + std::abs(expected.log_z)));
  for (std::size_t k = 0; k < s.size(); ++k) RC_ASSERT(std::abs(found.mu[k] - expected.mu[k]) <= 1e-11);
}

TEST(Projective, EachWordHasOneHead) {
  for (const bool single_root : {false, true}) {
    for (const double range : {1.0, 30.0, 1000.0, 1e6}) {
      for (const std::size_t words : {1, 7, 8, 31, 60}) {
        const auto found = fast(words, single_root, random_scores(words, range, words));
        EXPECT_LE(worst_row(words, found.mu), 1e-12 * (1 + range)) << words << " words, " << range;
        double roots = 0;
        for (std::size_t d = 1; d <= words; ++d) roots += found.mu[arc_matrix_index(words, 0, d)];
        if (single_root) {
          EXPECT_NEAR(roots, 1, 1e-12 * (1 + range));
        }
      }
    }
  }
}

// Too many trees for a double: 8 billion to the power of 30, and more.
TEST(Projective, LongSentencesDoNotOverflow) {
  constexpr std::size_t kWords = 260;
  const std::vector<double> s(arc_matrix_size(kWords), 0.0);
  const auto found = fast(kWords, false, s);
  // Projective trees over m words: binomial(3 m, m) / (2 m + 1).
  const double m = kWords;
  const double expected =
      std::lgamma(3 * m + 1) - std::lgamma(m + 1) - std::lgamma(2 * m + 1) - std::log(2 * m + 1);
  EXPECT_NEAR(found.log_z, expected, 1e-9);
  EXPECT_LE(worst_row(kWords, found.mu), 1e-10);
}

TEST(Projective, OneWordHangsFromTheRoot) {
  const std::vector<double> s = {0, 0, -2.5, 0};
  for (const bool single_root : {false, true}) {
    const auto found = fast(1, single_root, s);
    EXPECT_EQ(found.log_z, -2.5);
    EXPECT_EQ(found.mu, (std::vector<double>{0, 0, 1, 0}));
    TreeHeads heads(1, 9);
    Workspace ws;
    EXPECT_EQ(projective_best(1, single_root, s, heads, ws), -2.5);
    EXPECT_EQ(heads, TreeHeads{0});
  }
}

TEST(Projective, WhereNoTreeIsLeftNothingHasAProbability) {
  // Each of two words is the other's head.
  std::vector<double> s(9, kExcluded);
  s[arc_matrix_index(2, 1, 2)] = s[arc_matrix_index(2, 2, 1)] = 1;
  const auto found = fast(2, true, s);
  EXPECT_EQ(found.log_z, kExcluded);
  EXPECT_EQ(found.mu, std::vector<double>(9, 0.0));
}

TEST(Projective, TheBestTreeOfALongSentenceIsATreeAndTheLimitOfMarginals) {
  constexpr std::size_t kWords = 40;
  for (const bool single_root : {false, true}) {
    auto s = random_scores(kWords, 1, 5);
    TreeHeads heads(kWords);
    Workspace ws;
    const double best = projective_best(kWords, single_root, s, heads, ws);
    EXPECT_TRUE(is_tree(heads) && is_projective(heads));
    for (double& x : s) x *= 1e5;
    const auto found = reference(kWords, single_root, s);
    EXPECT_NEAR(found.log_z * 1e-5, best, 1e-9);
    for (std::size_t d = 1; d <= kWords; ++d)
      EXPECT_NEAR(found.mu[arc_matrix_index(kWords, heads[d - 1], d)], 1, 1e-9);
  }
}

TEST(Projective, OfEqualTreesAlwaysTheSameIsTaken) {
  constexpr std::size_t kWords = 5;
  const std::vector<double> s(arc_matrix_size(kWords), 0.0);
  TreeHeads heads(kWords);
  Workspace ws;
  EXPECT_EQ(projective_best(kWords, false, s, heads, ws), 0);
  EXPECT_EQ(heads, (TreeHeads{0, 1, 2, 3, 4}));
  EXPECT_EQ(projective_best(kWords, true, s, heads, ws), 0);
  EXPECT_EQ(heads, (TreeHeads{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace espalier::projective_test
