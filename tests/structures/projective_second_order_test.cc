#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "structures/enumerated_trees.h"
#include "structures/projective.h"

namespace espalier {
namespace {

using test_support::arc_marginals;
using test_support::draw_arc_scores;
using test_support::draw_between;
using test_support::EnumeratedTrees;
using test_support::is_projective;
using test_support::is_tree;
using test_support::rounding;
using test_support::spoil_unused;
using test_support::TreeHeads;

constexpr double kExcluded = -std::numeric_limits<double>::infinity();

// Memory of scores or probabilities. Empty cubes: none.
struct Parts {
  std::vector<double> arcs, siblings, grandparents;

  SecondOrder<const double> scores() const { return {arcs, siblings, grandparents}; }
  SecondOrder<double> marginals() { return {arcs, siblings, grandparents}; }
};

std::size_t cube_index(std::size_t words, std::size_t a, std::size_t b, std::size_t c) {
  return (a * (words + 1) + b) * (words + 1) + c;
}

// The nearest modifier of d's head between the two, or the head.
std::size_t sibling_of(const TreeHeads& heads, std::size_t d) {
  const std::size_t h = heads[d - 1];
  std::size_t sibling = h;
  for (std::size_t k = std::min(h, d) + 1; k < std::max(h, d); ++k) {
    if (heads[k - 1] == h && (h < d || sibling == h)) sibling = k;
  }
  return sibling;
}

// Calls use(places in arcs, siblings and grandparents) for each word; the last is 0, which means nothing,
// below the root.
template <class Use>
void for_parts(const TreeHeads& heads, const Use& use) {
  const std::size_t words = heads.size();
  for (std::size_t d = 1; d <= words; ++d) {
    const std::size_t h = heads[d - 1];
    use(arc_matrix_index(words, h, d), cube_index(words, h, sibling_of(heads, d), d),
        h == 0 ? 0 : cube_index(words, heads[h - 1], h, d));
  }
}

double score_of(const Parts& s, const TreeHeads& heads) {
  double score = 0;
  for_parts(heads, [&](std::size_t arc, std::size_t sibling, std::size_t grandparent) {
    score += s.arcs[arc];
    if (!s.siblings.empty()) score += s.siblings[sibling];
    if (!s.grandparents.empty() && grandparent != 0) score += s.grandparents[grandparent];
  });
  return score;
}

Parts expected_marginals(std::size_t words, const EnumeratedTrees& all) {
  const std::size_t cube = arc_matrix_size(words) * (words + 1);
  Parts mu{arc_marginals(words, all), std::vector<double>(cube, 0.0), std::vector<double>(cube, 0.0)};
  for (std::size_t y = 0; y < all.trees.size(); ++y) {
    for_parts(all.trees[y], [&](std::size_t, std::size_t sibling, std::size_t grandparent) {
      mu.siblings[sibling] += all.probabilities[y];
      if (grandparent != 0) mu.grandparents[grandparent] += all.probabilities[y];
    });
  }
  return mu;
}

// Marks what belongs to no tree: whoever reads it gets no number.
void spoil_unused_pairs(std::size_t words, std::vector<double>& siblings, std::vector<double>& grandparents) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t a = 0; a <= words; ++a) {
    for (std::size_t b = 0; b <= words; ++b) {
      for (std::size_t d = 0; d <= words; ++d) {
        const bool between_a = std::min(a, d) < b && b < std::max(a, d);  // b lies between a and d
        const bool between_b = std::min(b, d) <= a && a <= std::max(b, d);
        if (d == 0 || a == d || (a != b && !between_a)) siblings[cube_index(words, a, b, d)] = kNaN;
        if (d == 0 || b == 0 || b == d || between_b) grandparents[cube_index(words, a, b, d)] = kNaN;
      }
    }
  }
}

std::vector<double> random_values(std::size_t n, double range, Random& random) {
  std::vector<double> s(n);
  for (double& x : s) x = range * (2 * random.uniform() - 1);
  return s;
}

Parts random_parts(std::size_t words, double range, std::uint64_t seed) {
  Random random(seed);
  const std::size_t square = arc_matrix_size(words), cube = square * (words + 1);
  return {random_values(square, range, random), random_values(cube, range, random),
          random_values(cube, range, random)};
}

Parts empty_marginals(std::size_t words) {
  const std::size_t square = arc_matrix_size(words), cube = square * (words + 1);
  return {std::vector<double>(square, -1.0), std::vector<double>(cube, -1.0),
          std::vector<double>(cube, -1.0)};
}

RC_GTEST_PROP(ProjectiveSecondOrder, InferenceIsThatOfEnumeration, ()) {
  const auto words = draw_between(1, 6);
  const auto single_root = *rc::gen::arbitrary<bool>();
  const auto range = *rc::gen::element(0.1, 1.0, 30.0, 1000.0);
  Parts s = random_parts(words, range, *rc::gen::arbitrary<std::uint64_t>());
  s.arcs = draw_arc_scores(words, single_root);
  if (*rc::gen::arbitrary<bool>()) {
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    for (auto* cube : {&s.siblings, &s.grandparents}) {
      for (double& x : *cube) x = random.uniform() < 0.1 ? kExcluded : x;
    }
  }
  spoil_unused_pairs(words, s.siblings, s.grandparents);
  const auto with_siblings = *rc::gen::arbitrary<bool>(), with_grandparents = *rc::gen::arbitrary<bool>();
  if (!with_siblings) s.siblings.clear();
  if (!with_grandparents) s.grandparents.clear();
  const EnumeratedTrees all(words, single_root, [&](const TreeHeads& y) { return score_of(s, y); });
  const Parts expected = expected_marginals(words, all);

  // What is asked for does not depend on what is given.
  Parts mu = empty_marginals(words);
  const auto ask_siblings = *rc::gen::arbitrary<bool>(), ask_grandparents = *rc::gen::arbitrary<bool>();
  if (!ask_siblings) mu.siblings.clear();
  if (!ask_grandparents) mu.grandparents.clear();
  Workspace ws;
  const double log_z = projective_log_partition(words, single_root, s.scores(), mu.marginals(), ws);
  if (all.highest == kExcluded) {
    RC_ASSERT(log_z == kExcluded);
    return;
  }
  const double tolerance =
      rounding(words, s.arcs) + rounding(words, s.siblings) + rounding(words, s.grandparents);
  RC_ASSERT(std::abs(log_z - all.log_z) <= tolerance);
  const double marginal_tolerance = 1e-12 + tolerance;
  for (std::size_t k = 0; k < mu.arcs.size(); ++k)
    RC_ASSERT(std::abs(mu.arcs[k] - expected.arcs[k]) <= marginal_tolerance);
  for (std::size_t k = 0; k < mu.siblings.size(); ++k)
    RC_ASSERT(std::abs(mu.siblings[k] - expected.siblings[k]) <= marginal_tolerance);
  for (std::size_t k = 0; k < mu.grandparents.size(); ++k)
    RC_ASSERT(std::abs(mu.grandparents[k] - expected.grandparents[k]) <= marginal_tolerance);

  TreeHeads heads(words, 99);
  const double best = projective_best(words, single_root, s.scores(), heads, ws);
  RC_ASSERT(std::abs(best - all.highest) <= tolerance);
  RC_ASSERT(std::abs(score_of(s, heads) - best) <= tolerance);
  RC_ASSERT(std::find(all.trees.begin(), all.trees.end(), heads) != all.trees.end());
}

RC_GTEST_PROP(ProjectiveSecondOrder, MarginalsAreTheGradient, ()) {
  const auto words = draw_between(2, 8);
  const auto single_root = *rc::gen::arbitrary<bool>();
  Parts s = random_parts(words, 1, *rc::gen::arbitrary<std::uint64_t>());
  Parts mu = empty_marginals(words), unused = empty_marginals(words);
  Workspace ws;
  projective_log_partition(words, single_root, s.scores(), mu.marginals(), ws);
  const auto slope = [&](double& x) {
    const double at = x, step = 1e-4;
    x = at + step;
    const double above = projective_log_partition(words, single_root, s.scores(), unused.marginals(), ws);
    x = at - step;
    const double below = projective_log_partition(words, single_root, s.scores(), unused.marginals(), ws);
    x = at;
    return (above - below) / (2 * step);
  };
  const auto arc = draw_between(0, s.arcs.size() - 1), cube = draw_between(0, s.siblings.size() - 1);
  RC_ASSERT(std::abs(slope(s.arcs[arc]) - mu.arcs[arc]) < 1e-8);
  RC_ASSERT(std::abs(slope(s.siblings[cube]) - mu.siblings[cube]) < 1e-8);
  RC_ASSERT(std::abs(slope(s.grandparents[cube]) - mu.grandparents[cube]) < 1e-8);
}

RC_GTEST_PROP(ProjectiveSecondOrder, WithoutPairsItIsFirstOrder, ()) {
  const auto words = draw_between(1, 20);
  const auto single_root = *rc::gen::arbitrary<bool>();
  const auto range = *rc::gen::element(1.0, 30.0, 1000.0);
  Parts s = random_parts(words, range, *rc::gen::arbitrary<std::uint64_t>());
  spoil_unused(words, s.arcs);
  // Zeros, or nothing.
  std::fill(s.siblings.begin(), s.siblings.end(), 0.0);
  std::fill(s.grandparents.begin(), s.grandparents.end(), 0.0);
  if (*rc::gen::arbitrary<bool>()) s.siblings.clear();
  if (*rc::gen::arbitrary<bool>()) s.grandparents.clear();
  Parts mu = empty_marginals(words);
  std::vector<double> first_order(s.arcs.size());
  Workspace ws;
  const double log_z = projective_log_partition(words, single_root, s.scores(), mu.marginals(), ws);
  const double expected = projective_log_partition(words, single_root, s.arcs, first_order, ws);
  RC_ASSERT(std::abs(log_z - expected) <= 1e-13 * (10 + std::abs(expected)));
  for (std::size_t k = 0; k < first_order.size(); ++k)
    RC_ASSERT(std::abs(mu.arcs[k] - first_order[k]) <= 1e-11);
  TreeHeads heads(words), first_order_heads(words);
  const double best = projective_best(words, single_root, s.scores(), heads, ws);
  RC_ASSERT(best == projective_best(words, single_root, s.arcs, first_order_heads, ws));
  RC_ASSERT(heads == first_order_heads);
}

// Each word has one head, one sibling or none, and one grandparent unless it hangs from the root, whatever
// the scores.
TEST(ProjectiveSecondOrder, MarginalsOfLongSentencesAreThoseOfTrees) {
  for (const std::size_t words : {1, 2, 17, 30}) {
    for (const double range : {1.0, 30.0, 1000.0, 1e6}) {
      for (const bool single_root : {false, true}) {
        const Parts s = random_parts(words, range, words);
        Parts mu = empty_marginals(words);
        Workspace ws;
        const double log_z = projective_log_partition(words, single_root, s.scores(), mu.marginals(), ws);
        TreeHeads heads(words);
        const double best = projective_best(words, single_root, s.scores(), heads, ws);
        EXPECT_TRUE(is_tree(heads) && is_projective(heads));
        EXPECT_GE(log_z, best - 1e-12 * std::abs(best));
        EXPECT_LE(log_z, best + 3 * static_cast<double>(words));  // fewer than 7 trees a word
        const double tolerance = 1e-11 * (1 + range);
        for (std::size_t d = 1; d <= words; ++d) {
          double arcs = 0, siblings = 0, grandparents = 0;
          for (std::size_t a = 0; a <= words; ++a) {
            arcs += mu.arcs[arc_matrix_index(words, a, d)];
            for (std::size_t b = 0; b <= words; ++b) {
              siblings += mu.siblings[cube_index(words, a, b, d)];
              grandparents += mu.grandparents[cube_index(words, a, b, d)];
            }
          }
          EXPECT_NEAR(arcs, 1, tolerance);
          EXPECT_NEAR(siblings, 1, tolerance);
          EXPECT_NEAR(grandparents, 1 - mu.arcs[arc_matrix_index(words, 0, d)], tolerance);
        }
      }
    }
  }
}

TEST(ProjectiveSecondOrder, WhereNoTreeIsLeftNothingHasAProbability) {
  Parts s = random_parts(3, 1, 1);
  std::fill(s.siblings.begin(), s.siblings.end(), kExcluded);
  Parts mu = empty_marginals(3);
  Workspace ws;
  EXPECT_EQ(projective_log_partition(3, true, s.scores(), mu.marginals(), ws), kExcluded);
  EXPECT_EQ(mu.arcs, std::vector<double>(16, 0.0));
  EXPECT_EQ(mu.siblings, std::vector<double>(64, 0.0));
  EXPECT_EQ(mu.grandparents, std::vector<double>(64, 0.0));
}

}  // namespace
}  // namespace espalier
