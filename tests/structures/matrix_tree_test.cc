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

// log Z and probabilities by looking at every tree.
double enumerated(std::size_t words, bool single_root, const std::vector<double>& s,
                  std::vector<long double>& mu) {
  mu.assign(arc_matrix_size(words), 0);
  double highest = kImpossible;
  for (const auto& tree : nonprojective_trees(words, single_root))
    highest = std::max(highest, tree_score(tree, s));
  if (highest == kImpossible) return kImpossible;
  long double sum = 0;
  for (const auto& tree : nonprojective_trees(words, single_root)) {
    const long double weight = std::exp(static_cast<long double>(tree_score(tree, s)) - highest);
    sum += weight;
    for (std::size_t d = 1; d <= words; ++d) mu[arc_matrix_index(words, tree[d - 1], d)] += weight;
  }
  for (auto& p : mu) p /= sum;
  return static_cast<double>(highest + std::log(sum));
}

struct Sums {
  double log_z;
  std::vector<double> mu;
};

Sums sums(std::size_t words, bool single_root, const std::vector<double>& s) {
  Workspace ws;
  Sums result{0, std::vector<double>(arc_matrix_size(words), -1)};
  result.log_z = nonprojective_log_partition(words, single_root, s, result.mu, ws);
  return result;
}

void check_against_enumeration(std::size_t words, bool single_root, const std::vector<double>& s) {
  std::vector<long double> expected;
  const double log_z = enumerated(words, single_root, s, expected);
  const auto found = sums(words, single_root, s);
  if (log_z == kImpossible) {
    RC_ASSERT(found.log_z == kImpossible);
  } else {
    RC_ASSERT(std::abs(found.log_z - log_z) <= 1e-13 * std::max(1.0, std::abs(log_z)));
  }
  for (std::size_t a = 0; a < expected.size(); ++a) {
    // Scores of trees up to 6000 are rounded to 1e-12, and so are the probabilities found by enumeration.
    const auto p = static_cast<double>(expected[a]);
    RC_ASSERT(std::abs(found.mu[a] - p) <= 1e-11 * p + 1e-300);
  }
}

RC_GTEST_PROP(MatrixTree, IsEnumeration, ()) {
  const auto words = *number_of_words(1, 6);
  const bool single_root = *rc::gen::arbitrary<bool>();
  check_against_enumeration(words, single_root, *arc_scores(words));
}

RC_GTEST_PROP(MatrixTree, IsEnumerationWhereArcsAreExcluded, ()) {
  const auto words = *number_of_words(1, 6);
  const auto s = *sparse_arc_scores(words);
  check_against_enumeration(words, true, s);
  check_against_enumeration(words, false, s);
}

RC_GTEST_PROP(MatrixTree, LogOddsAreThoseOfEnumeration, ()) {
  const auto words = *number_of_words(1, 5);
  const bool single_root = *rc::gen::arbitrary<bool>();
  const auto s = *sparse_arc_scores(words);
  std::vector<double> log_odds(s.size());
  Workspace ws;
  const double log_z = nonprojective_log_odds(words, single_root, s, log_odds, ws);
  RC_ASSERT(log_z == sums(words, single_root, s).log_z);
  for (std::size_t d = 1; d <= words; ++d) {
    for (std::size_t h = 0; h <= words; ++h) {
      if (h == d) continue;
      double highest[2] = {kImpossible, kImpossible};
      for (const auto& tree : nonprojective_trees(words, single_root)) {
        double& side = highest[tree[d - 1] == h ? 1 : 0];
        side = std::max(side, tree_score(tree, s));
      }
      long double sum[2] = {0, 0};
      for (const auto& tree : nonprojective_trees(words, single_root)) {
        const int side = tree[d - 1] == h ? 1 : 0;
        if (highest[side] > kImpossible)
          sum[side] += std::exp(static_cast<long double>(tree_score(tree, s)) - highest[side]);
      }
      const double found = log_odds[arc_matrix_index(words, h, d)];
      if (highest[1] == kImpossible) {
        RC_ASSERT(found == kImpossible);
      } else if (highest[0] == kImpossible) {
        RC_ASSERT(found == -kImpossible);
      } else {
        const auto expected = static_cast<double>(highest[1] - highest[0] + std::log(sum[1] / sum[0]));
        RC_ASSERT(std::abs(found - expected) <= 1e-11 * std::max(1.0, std::abs(expected)));
      }
    }
  }
}

// log det of the matrix-tree theorem, by elimination with subtractions: right where scores are mild.
double log_determinant(std::size_t words, const std::vector<double>& s) {
  std::vector<std::vector<long double>> a(words, std::vector<long double>(words, 0));
  for (std::size_t d = 1; d <= words; ++d) {
    for (std::size_t h = 0; h <= words; ++h) {
      if (h == d) continue;
      const long double w = std::exp(static_cast<long double>(s[arc_matrix_index(words, h, d)]));
      a[d - 1][d - 1] += w;
      if (h > 0) a[d - 1][h - 1] -= w;
    }
  }
  long double log_z = 0;
  for (std::size_t k = 0; k < words; ++k) {
    log_z += std::log(a[k][k]);
    for (std::size_t d = k + 1; d < words; ++d) {
      const long double factor = a[d][k] / a[k][k];
      for (std::size_t h = k; h < words; ++h) a[d][h] -= factor * a[k][h];
    }
  }
  return static_cast<double>(log_z);
}

RC_GTEST_PROP(MatrixTree, IsTheDeterminantOfMildScores, ()) {
  const auto words = *number_of_words(1, 59);
  const auto s = *uniform_arc_scores(words, 3);
  const double expected = log_determinant(words, s);
  RC_ASSERT(std::abs(sums(words, false, s).log_z - expected) <= 1e-13 * std::max(1.0, std::abs(expected)));
  // With one modifier: only one arc of the root at a time.
  long double sum = 0;
  for (std::size_t root = 1; root <= words; ++root) {
    auto one = s;
    for (std::size_t d = 1; d <= words; ++d) {
      if (d != root) one[arc_matrix_index(words, 0, d)] = kImpossible;
    }
    sum += std::exp(static_cast<long double>(log_determinant(words, one)) - expected);
  }
  RC_ASSERT(std::abs(sums(words, true, s).log_z - (expected + static_cast<double>(std::log(sum)))) <=
            1e-12 * std::max(1.0, std::abs(expected)));
}

RC_GTEST_PROP(MatrixTree, ProbabilitiesAreDerivatives, ()) {
  const auto words = *number_of_words(2, 11);
  const bool single_root = *rc::gen::arbitrary<bool>();
  auto s = *uniform_arc_scores(words, *rc::gen::element(1.0, 10.0));
  const auto mu = sums(words, single_root, s).mu;
  const auto d = *number_of_words(1, words), h = *number_of_words(0, d - 1);
  const std::size_t a = arc_matrix_index(words, h, d);
  const double middle = s[a], step = 1e-4;
  s[a] = middle + step;
  const double above = sums(words, single_root, s).log_z;
  s[a] = middle - step;
  const double below = sums(words, single_root, s).log_z;
  RC_ASSERT(std::abs((above - below) / (2 * step) - mu[a]) <= 1e-8);
}

// Each word has one head, and where the root has one modifier, so has it.
void check_rows(std::size_t words, bool single_root, const std::vector<double>& s) {
  const auto found = sums(words, single_root, s);
  RC_ASSERT(std::isfinite(found.log_z));
  double roots = 0;
  for (std::size_t d = 1; d <= words; ++d) {
    double sum = 0;
    for (std::size_t h = 0; h <= words; ++h) {
      const double p = found.mu[arc_matrix_index(words, h, d)];
      RC_ASSERT(p >= 0 && p <= 1);
      sum += p;
    }
    RC_ASSERT(std::abs(sum - 1) <= 1e-14);
    roots += found.mu[arc_matrix_index(words, 0, d)];
  }
  if (single_root) RC_ASSERT(std::abs(roots - 1) <= 1e-12);
}

RC_GTEST_PROP(MatrixTree, RowsOfLongSentencesSumToOne, ()) {
  const std::size_t words = 80;
  const double range = *rc::gen::element(0.0, 1.0, 30.0, 250.0, 1000.0);
  check_rows(words, *rc::gen::arbitrary<bool>(), *uniform_arc_scores(words, range));
}

TEST(MatrixTree, TwoWordsThatWantEachOther) {
  const double infinity = std::numeric_limits<double>::infinity();
  // Trees: 0 -> 1 -> 2 and 0 -> 2 -> 1, each of score 40; and 0 -> 1, 0 -> 2.
  std::vector<double> s(9, 0);
  s[arc_matrix_index(2, 1, 2)] = s[arc_matrix_index(2, 2, 1)] = 40;
  for (const bool single_root : {false, true}) {
    const auto found = sums(2, single_root, s);
    EXPECT_NEAR(found.log_z, 40 + std::log(2), 1e-14 * 40);
    EXPECT_DOUBLE_EQ(found.mu[arc_matrix_index(2, 1, 2)], 0.5);
    EXPECT_DOUBLE_EQ(found.mu[arc_matrix_index(2, 0, 2)], 0.5);
    EXPECT_EQ(found.mu[arc_matrix_index(2, 2, 2)], 0);
  }
  s[arc_matrix_index(2, 1, 2)] = s[arc_matrix_index(2, 2, 1)] = 4e5;
  EXPECT_DOUBLE_EQ(sums(2, false, s).log_z, 4e5 + std::log(2));
  EXPECT_DOUBLE_EQ(sums(2, true, s).mu[arc_matrix_index(2, 1, 2)], 0.5);
  // Neither has another head than the root and the other one, and only the second can be a modifier of the
  // root.
  s[arc_matrix_index(2, 0, 1)] = -infinity;
  EXPECT_DOUBLE_EQ(sums(2, true, s).log_z, 4e5);
  s[arc_matrix_index(2, 0, 2)] = -infinity;
  EXPECT_EQ(sums(2, true, s).log_z, -infinity);
  EXPECT_EQ(sums(2, true, s).mu, std::vector<double>(9, 0));
}

// A chain of pairs of words, each pair reached from the one before with a probability of e^-range: its escape
// to the root needs all of them.
TEST(MatrixTree, EscapesOfAnyProbability) {
  for (const double range : {5.0, 50.0, 100.0, 290.0, 310.0, 590.0, 610.0, 1e4, 1e6}) {
    const std::size_t words = 40;
    std::vector<double> s(arc_matrix_size(words), kImpossible);
    for (std::size_t d = 1; d <= words; d += 2) {
      s[arc_matrix_index(words, d, d + 1)] = s[arc_matrix_index(words, d + 1, d)] = 0;
      s[arc_matrix_index(words, d - 1, d)] = -range;
    }
    // One tree: every second arc is d -> d + 1, and the others lead from pair to pair.
    const auto found = sums(words, true, s);
    EXPECT_NEAR(found.log_z, -range * 20, 1e-14 * range * 20);
    for (std::size_t d = 1; d <= words; ++d)
      EXPECT_NEAR(found.mu[arc_matrix_index(words, d - 1, d)], 1, 1e-14);
    const auto multiple = sums(words, false, s);
    EXPECT_EQ(multiple.mu, found.mu);
    EXPECT_EQ(multiple.log_z, found.log_z);
  }
}

TEST(MatrixTree, WhatMeansNothingIsNotRead) {
  const std::size_t words = 3;
  std::vector<double> s(arc_matrix_size(words), 1.5);
  const auto expected = sums(words, true, s);
  for (std::size_t k = 0; k <= words; ++k) {
    s[arc_matrix_index(words, k, 0)] = std::numeric_limits<double>::quiet_NaN();
    s[arc_matrix_index(words, k, k)] = std::numeric_limits<double>::infinity();
  }
  // Cayley's formula: 3 roots, and 3 trees under each of them.
  EXPECT_DOUBLE_EQ(sums(words, true, s).log_z, 4.5 + std::log(9));
  EXPECT_EQ(sums(words, true, s).mu, expected.mu);
}

}  // namespace
}  // namespace espalier
