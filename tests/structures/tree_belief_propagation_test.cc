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

using test_support::any_size;
using test_support::arc_scores;
using test_support::nonprojective_trees;
using test_support::number_of_words;
using test_support::sparse_arc_scores;
using test_support::tree_score;
using test_support::TreeHeads;
using test_support::uniform_arc_scores;

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

struct PairModel {
  std::size_t words;
  bool single_root;
  std::vector<double> s;
  std::vector<ArcPair> pairs;
  std::vector<double> pair_s;
};

struct Sums {
  double log_z;
  std::vector<double> mu, pair_mu;
  bool converged;
  int rounds;
};

Sums beliefs(const PairModel& model) {
  Workspace ws;
  Sums sums{0, std::vector<double>(model.s.size(), -1), std::vector<double>(model.pairs.size(), -1), false,
            0};
  const auto result = nonprojective_beliefs(model.words, model.single_root, model.s, model.pairs,
                                            model.pair_s, sums.mu, sums.pair_mu, ws);
  sums.log_z = result.log_z;
  sums.converged = result.converged;
  sums.rounds = result.rounds;
  return sums;
}

bool has(const TreeHeads& tree, std::uint32_t arc) {
  const std::size_t places = tree.size() + 1;
  return tree[arc / places - 1] == arc % places;
}

Sums enumerated(const PairModel& model) {
  Sums sums{0, std::vector<double>(model.s.size(), 0), std::vector<double>(model.pairs.size(), 0), true, 0};
  const auto& trees = nonprojective_trees(model.words, model.single_root);
  std::vector<double> scores;
  for (const auto& tree : trees) {
    scores.push_back(tree_score(tree, model.s));
    for (std::size_t k = 0; k < model.pairs.size(); ++k) {
      if (has(tree, model.pairs[k].first) && has(tree, model.pairs[k].second))
        scores.back() += model.pair_s[k];
    }
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double x : scores) sum += std::exp(x - highest);
  sums.log_z = highest + std::log(sum);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const double p = std::exp(scores[t] - sums.log_z);
    for (std::size_t d = 1; d <= model.words; ++d)
      sums.mu[arc_matrix_index(model.words, trees[t][d - 1], d)] += p;
    for (std::size_t k = 0; k < model.pairs.size(); ++k) {
      if (has(trees[t], model.pairs[k].first) && has(trees[t], model.pairs[k].second)) sums.pair_mu[k] += p;
    }
  }
  return sums;
}

std::uint32_t arc(std::size_t words, std::size_t h, std::size_t d) {
  return static_cast<std::uint32_t>(arc_matrix_index(words, h, d));
}

double any_score(double range) { return range * 1e-6 * *any_size(rc::gen::inRange(-1000000, 1000001)); }

// Pairs of arcs of different words, whatever they are, with scores in [-range, range].
PairModel any_pairs(std::size_t words, std::vector<double> s, std::size_t count, double range) {
  PairModel model{words, *rc::gen::arbitrary<bool>(), std::move(s), {}, {}};
  const auto any_arc = [&](std::size_t d) {
    const std::size_t h = *number_of_words(0, words - 1);
    return arc(words, h < d ? h : h + 1, d);
  };
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t d = *number_of_words(1, words - 1), other = *number_of_words(d + 1, words);
    model.pairs.push_back({any_arc(d), any_arc(other)});
    model.pair_s.push_back(any_score(range));
  }
  return model;
}

RC_GTEST_PROP(TreeBeliefPropagation, IsExactWithoutPairs, ()) {
  const auto words = *number_of_words(1, 8);
  const PairModel model{words, *rc::gen::arbitrary<bool>(), *sparse_arc_scores(words), {}, {}};
  std::vector<double> mu(model.s.size());
  Workspace ws;
  const double log_z = nonprojective_log_partition(words, model.single_root, model.s, mu, ws);
  const auto found = beliefs(model);
  RC_ASSERT(found.log_z == log_z);
  RC_ASSERT(found.mu == mu);
  RC_ASSERT(found.converged);
}

// Words 1 and 2 are modifiers of the root, and each of the others is one of 1 or 2: heads are independent but
// for the pairs, which form no cycle.
RC_GTEST_PROP(TreeBeliefPropagation, IsExactWhereTreesHaveArcsIndependent, ()) {
  const std::size_t words = 6;
  const double range = *rc::gen::element(1.0, 10.0, 1000.0);
  PairModel model{words, false, *uniform_arc_scores(words, range), {}, {}};
  for (std::size_t d = 1; d <= words; ++d) {
    for (std::size_t h = 0; h <= words; ++h) {
      if (d <= 2 ? h > 0 : (h == 0 || h > 2)) model.s[arc(words, h, d)] = kImpossible;
    }
  }
  for (std::size_t d = 3; d <= words; ++d) {
    const std::size_t earlier = *number_of_words(2, d - 1), h = *number_of_words(1, 2);
    model.pairs.push_back({arc(words, earlier == 2 ? 0 : *number_of_words(1, 2), earlier), arc(words, h, d)});
    model.pair_s.push_back(any_score(range));
  }
  const auto found = beliefs(model), expected = enumerated(model);
  RC_ASSERT(found.converged);
  RC_ASSERT(std::abs(found.log_z - expected.log_z) <= 1e-12 * std::max(1.0, std::abs(expected.log_z)));
  for (std::size_t a = 0; a < found.mu.size(); ++a) RC_ASSERT(std::abs(found.mu[a] - expected.mu[a]) <= 1e-8);
  for (std::size_t k = 0; k < found.pair_mu.size(); ++k)
    RC_ASSERT(std::abs(found.pair_mu[k] - expected.pair_mu[k]) <= 1e-8);
}

// To first order, a pair adds its score times the product of its arcs' probabilities, where the probability
// of both would be right. What else is wrong is of second order.
RC_GTEST_PROP(TreeBeliefPropagation, IsRightToFirstOrderButForCovariances, ()) {
  const auto words = *number_of_words(2, 5);
  const double range = 1e-3;
  const auto model = any_pairs(words, *uniform_arc_scores(words, 2), 3, range);
  auto without = model;
  std::fill(without.pair_s.begin(), without.pair_s.end(), 0);
  const auto found = beliefs(model), exact = enumerated(model), independent = enumerated(without);
  double covariances = 0;
  for (std::size_t k = 0; k < model.pairs.size(); ++k) {
    const double product = independent.mu[model.pairs[k].first] * independent.mu[model.pairs[k].second];
    covariances += model.pair_s[k] * (independent.pair_mu[k] - product);
  }
  RC_ASSERT(found.converged);
  // Second derivatives are sums over 9 pairs of pairs of covariances, which are at most 1/4.
  RC_ASSERT(std::abs(exact.log_z - found.log_z - covariances) <= 9 * range * range);
}

// At a fixed point the derivatives of Bethe's log Z are the beliefs (Yedidia et al. 2005), right or not.
RC_GTEST_PROP(TreeBeliefPropagation, BeliefsAreDerivatives, ()) {
  const auto words = *number_of_words(2, 10);
  auto model = any_pairs(words, *uniform_arc_scores(words, 2), 2 * words, 0.5);
  const auto found = beliefs(model);
  RC_ASSERT(found.converged);
  const double step = 1e-4;
  const auto derivative = [&](double& x) {
    const double middle = x;
    x = middle + step;
    const double above = beliefs(model).log_z;
    x = middle - step;
    const double below = beliefs(model).log_z;
    x = middle;
    return (above - below) / (2 * step);
  };
  const std::size_t k = *number_of_words(0, model.pairs.size() - 1);
  RC_ASSERT(std::abs(derivative(model.pair_s[k]) - found.pair_mu[k]) <= 1e-7);
  RC_ASSERT(std::abs(derivative(model.s[model.pairs[k].first]) - found.mu[model.pairs[k].first]) <= 1e-7);
}

// Words have one head each, and pairs agree with their arcs.
RC_GTEST_PROP(TreeBeliefPropagation, BeliefsOfAnyRangeAreConsistent, ()) {
  const auto words = *number_of_words(2, 8);
  const auto s = *rc::gen::oneOf(arc_scores(words), sparse_arc_scores(words));
  const auto model = any_pairs(words, s, *number_of_words(1, 20), *rc::gen::element(1.0, 30.0, 1000.0));
  const auto found = beliefs(model);
  RC_ASSERT(found.rounds >= 1 && found.rounds <= 100);
  if (found.log_z == kImpossible) {
    RC_ASSERT(found.mu == std::vector<double>(s.size(), 0));
    RC_ASSERT(found.pair_mu == std::vector<double>(found.pair_mu.size(), 0));
    return;
  }
  RC_ASSERT(std::isfinite(found.log_z));
  double roots = 0;
  for (std::size_t d = 1; d <= words; ++d) {
    double sum = 0;
    for (std::size_t h = 0; h <= words; ++h) sum += found.mu[arc(words, h, d)];
    RC_ASSERT(std::abs(sum - 1) <= 1e-11);
    roots += found.mu[arc(words, 0, d)];
  }
  if (model.single_root) RC_ASSERT(std::abs(roots - 1) <= 1e-11);
  for (std::size_t k = 0; k < model.pairs.size(); ++k) {
    const double a = found.mu[model.pairs[k].first], b = found.mu[model.pairs[k].second];
    RC_ASSERT(found.pair_mu[k] >= 0 && found.pair_mu[k] <= a);
    if (!found.converged) continue;
    RC_ASSERT(found.pair_mu[k] <= b + 1e-7);
    RC_ASSERT(found.pair_mu[k] >= a + b - 1 - 1e-7);
  }
}

// All grandparents of ten words, strong and contradictory.
TEST(TreeBeliefPropagation, SaysWhereItHasNotConverged) {
  const std::size_t words = 10;
  PairModel model{words, true, std::vector<double>(arc_matrix_size(words), 0), {}, {}};
  for (std::size_t g = 0; g <= words; ++g) {
    for (std::size_t h = 1; h <= words; ++h) {
      for (std::size_t d = 1; d <= words; ++d) {
        if (g == h || h == d || d == g) continue;
        model.pairs.push_back({arc(words, g, h), arc(words, h, d)});
        model.pair_s.push_back(30 * std::sin(static_cast<double>(g * g + 3 * h * h + 7 * d * d * d)));
      }
    }
  }
  const auto found = beliefs(model);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.rounds, 100);
  for (std::size_t d = 1; d <= words; ++d) {
    double sum = 0;
    for (std::size_t h = 0; h <= words; ++h) sum += found.mu[arc(words, h, d)];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  for (double& x : model.pair_s) x /= 100;
  EXPECT_TRUE(beliefs(model).converged);
}

// A pair of arcs that every tree has adds its score, however large, and changes nothing else.
TEST(TreeBeliefPropagation, PairsThatEveryTreeHas) {
  for (const double score : {-1e5, -700.0, -1.0, 0.5, 650.0, 1e5}) {
    PairModel model{3, false, std::vector<double>(16, kImpossible), {}, {score}};
    for (const auto a : {arc(3, 0, 1), arc(3, 1, 2), arc(3, 1, 3), arc(3, 2, 3)}) model.s[a] = 0;
    model.pairs = {{arc(3, 0, 1), arc(3, 1, 2)}};
    const auto found = beliefs(model);
    EXPECT_TRUE(found.converged);
    EXPECT_DOUBLE_EQ(found.log_z, score + std::log(2));
    EXPECT_EQ(found.pair_mu[0], 1);
    EXPECT_DOUBLE_EQ(found.mu[arc(3, 2, 3)], 0.5);
  }
}

}  // namespace
}  // namespace espalier
