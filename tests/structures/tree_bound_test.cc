#include "structures/tree_bound.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/second_order_arcs.h"

namespace espalier::tree_bound_test {
namespace {

using test_support::RandomSecondOrder;

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

struct Found {
  BoundOfTrees bound;
  std::vector<double> mu, part_mu;
};

Found bound_of(const RandomSecondOrder& sentence) {
  Workspace ws;
  Found found{
      {}, std::vector<double>(sentence.s.size(), -1), std::vector<double>(sentence.part_s.size(), -1)};
  found.bound = tree_bound(sentence.view(), found.mu, found.part_mu, ws);
  return found;
}

RandomSecondOrder any_sentence(std::size_t most_words, double range, Random& random) {
  const std::size_t words = 1 + random.below(most_words);
  const bool all = random.below(2) == 0;
  return RandomSecondOrder(words, all, range, random);
}

// Found by a property: an arc of no weight beside a part of an infinite one.
TEST(TreeBound, ExcludedArcsHavePartsOfAnySize) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const RandomSecondOrder sentence(3, false, 500, random);
    EXPECT_GE(bound_of(sentence).bound.log_z, sentence.log_partition() - 1e-6) << seed;
  }
}

RC_GTEST_PROP(TreeBound, IsAboveTheSumOverAllTrees, (std::uint64_t seed)) {
  Random random(seed);
  const double range = *rc::gen::element(0.1, 1.0, 5.0, 30.0, 500.0);
  const RandomSecondOrder sentence = any_sentence(5, range, random);
  RC_ASSERT(bound_of(sentence).bound.log_z >= sentence.log_partition() - 1e-9 * (1 + range));
}

// How loose: with scores of arcs within 3 and of parts within 0.3, by 1 on average, where log Z is about 10.
TEST(TreeBound, IsNotFarAbove) {
  Random random(3);
  double excess = 0;
  constexpr int kSentences = 20;
  for (int k = 0; k < kSentences; ++k) {
    RandomSecondOrder sentence(5, true, 0.3, random);
    for (double& x : sentence.s) x *= 10;
    excess += bound_of(sentence).bound.log_z - sentence.log_partition();
  }
  EXPECT_GT(excess / kSentences, 0.5);
  EXPECT_LT(excess / kSentences, 1.5);
}

// One tree leaves nothing to bound: words in a chain.
TEST(TreeBound, IsExactWhereThereIsOneTree) {
  Random random(1);
  RandomSecondOrder sentence(4, false, 3, random);
  for (std::size_t d = 1; d <= 4; ++d) {
    for (std::size_t h = 0; h <= 4; ++h) {
      if (h + 1 != d) sentence.s[arc_matrix_index(4, h, d)] = kImpossible;
    }
  }
  const Found found = bound_of(sentence);
  EXPECT_TRUE(found.bound.converged);
  EXPECT_NEAR(found.bound.log_z, sentence.best(), 1e-12);
  sentence.for_each_tree([&](const auto&, double, const std::vector<std::size_t>& parts) {
    for (const std::size_t part : parts) EXPECT_EQ(found.part_mu[part], 1);
  });
}

TEST(TreeBound, SaysWhereNoTreeIsLeft) {
  Random random(1);
  RandomSecondOrder sentence(3, true, 1, random);
  for (std::size_t h = 0; h <= 3; ++h) sentence.s[arc_matrix_index(3, h, 2)] = kImpossible;
  const Found found = bound_of(sentence);
  EXPECT_EQ(found.bound.log_z, kImpossible);
  EXPECT_EQ(found.mu, std::vector<double>(16, 0));
  EXPECT_EQ(found.part_mu, std::vector<double>(found.part_mu.size(), 0));
}

// Words have one head each, and each arc one nearer sibling, which may be none, and one grandparent.
RC_GTEST_PROP(TreeBound, MarginalsAgree, (std::uint64_t seed)) {
  Random random(seed);
  const double size = *rc::gen::element(0.5, 3.0);
  const RandomSecondOrder sentence = any_sentence(8, size, random);
  const std::size_t m = sentence.words;
  const Found found = bound_of(sentence);
  // With large scores a few are not where they should be after all their rounds.
  RC_ASSERT(found.bound.converged || size > 1);
  RC_PRE(found.bound.converged);
  double roots = 0;
  for (std::size_t d = 1; d <= m; ++d) {
    double sum = 0;
    for (std::size_t h = 0; h <= m; ++h) sum += found.mu[arc_matrix_index(m, h, d)];
    RC_ASSERT(std::abs(sum - 1) <= 1e-11);
    roots += found.mu[arc_matrix_index(m, 0, d)];
  }
  if (sentence.single_root) RC_ASSERT(std::abs(roots - 1) <= 1e-11);
  std::vector<double> by_siblings(found.mu.size(), 0), by_grandparents(found.mu.size(), 0);
  std::size_t k = 0;
  for (const TreePart& part : sentence.parts().siblings)
    by_siblings[arc_matrix_index(m, part.head, part.modifier)] += found.part_mu[k++];
  for (const TreePart& part : sentence.parts().grandparents)
    by_grandparents[arc_matrix_index(m, part.head, part.modifier)] += found.part_mu[k++];
  for (std::size_t d = 1; d <= m; ++d) {
    for (std::size_t h = 0; h <= m; ++h) {
      const std::size_t a = arc_matrix_index(m, h, d);
      if (h == d) continue;
      RC_ASSERT(std::abs(by_siblings[a] - found.mu[a]) <= 2e-6);
      if (h > 0) RC_ASSERT(std::abs(by_grandparents[a] - found.mu[a]) <= 2e-6);
    }
  }
}

RC_GTEST_PROP(TreeBound, MarginalsAreDerivatives, (std::uint64_t seed)) {
  Random random(seed);
  RandomSecondOrder sentence(2 + random.below(5), random.below(2) == 0, 2, random);
  const Found found = bound_of(sentence);
  RC_PRE(found.bound.converged);
  const double step = 1e-3;
  const auto derivative = [&](double& x) {
    const double middle = x;
    x = middle + step;
    const double above = bound_of(sentence).bound.log_z;
    x = middle - step;
    const double below = bound_of(sentence).bound.log_z;
    x = middle;
    return (above - below) / (2 * step);
  };
  const std::size_t part = random.below(static_cast<std::uint32_t>(sentence.part_s.size()));
  RC_ASSERT(std::abs(derivative(sentence.part_s[part]) - found.part_mu[part]) <= 1e-3);
  const std::size_t d = 1 + random.below(static_cast<std::uint32_t>(sentence.words));
  const std::size_t a = arc_matrix_index(sentence.words, d - 1, d);
  RC_ASSERT(std::abs(derivative(sentence.s[a]) - found.mu[a]) <= 1e-3);
}

RC_GTEST_PROP(TreeBound, IsConvex, (std::uint64_t seed)) {
  Random random(seed);
  const RandomSecondOrder first(2 + random.below(4), true, 4, random);
  RandomSecondOrder second = first, middle = first;
  for (double& x : second.s) x += 4 * (2 * random.uniform() - 1);
  for (double& x : second.part_s) x += 4 * (2 * random.uniform() - 1);
  for (std::size_t k = 0; k < first.s.size(); ++k) middle.s[k] = (first.s[k] + second.s[k]) / 2;
  for (std::size_t k = 0; k < first.part_s.size(); ++k)
    middle.part_s[k] = (first.part_s[k] + second.part_s[k]) / 2;
  const double of_both = bound_of(first).bound.log_z + bound_of(second).bound.log_z;
  // A bound that has not converged is one, and no more.
  const BoundOfTrees of_middle = bound_of(middle).bound;
  RC_PRE(of_middle.converged);
  RC_ASSERT(of_middle.log_z <= of_both / 2 + 1e-6);
}

}  // namespace
}  // namespace espalier::tree_bound_test
