#include "learning/dependency_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "support/certificate_checks.h"
#include "support/feature_checks.h"
#include "support/random_objective.h"

namespace espalier::dependency_problem_test {
namespace {

using test_support::any_dependencies;
using test_support::any_dual;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_weights;
using test_support::OwnedDependencyProblem;
using test_support::RandomDependencyOptions;
using test_support::squared_distance;

RC_GTEST_PROP(DependencyProblem, FeaturesAreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  const OwnedDependencyProblem owned(any_dependencies());
  Random random(seed);
  RC_ASSERT(test_support::check_double_features(owned.problem, random) == "");
}

RC_GTEST_PROP(DependencyProblem, PrimalHasTheGradientThatAccumulates, (std::uint64_t seed)) {
  const OwnedDependencyProblem owned(any_dependencies());
  Random random(seed);
  RC_ASSERT(test_support::check_gradient(owned.problem, random) == "");
}

RC_GTEST_PROP(DependencyProblem, GoldIsTheGoldTreeAndCostTheNumberOfWrongHeads, ()) {
  const OwnedDependencyProblem owned(any_dependencies());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const DependencyTree tree = owned.problem.examples().structure(i);
    const DependencyTree::Output gold = owned.gold(i);
    RC_ASSERT(owned.problem.num_statistics(i) == tree.num_statistics());
    RC_ASSERT(owned.problem.cost_offset(i) == 0);
    std::vector<double> z(tree.num_statistics(), 0.25), chi(z.size()), p(z.size(), 0.0);
    std::vector<float> float_z(z.size(), 0.25f), float_p(z.size(), 0.0f), near(z.size(), 0.0f);
    owned.problem.add_gold(i, 2.0, z);
    owned.problem.add_gold(i, 2.0f, float_z);
    tree.indicator(gold, std::span(chi));
    for (std::size_t k = 0; k < z.size(); ++k) {
      RC_ASSERT(z[k] == 0.25 + 2 * chi[k]);
      RC_ASSERT(float_z[k] == z[k]);
    }
    owned.problem.add_cost(i, 0.5, p);
    owned.problem.add_cost(i, 0.5f, float_p);
    owned.problem.add_near_gold(i, 4.0f, near);
    const auto outputs = all_outputs(tree);
    RC_ASSERT(std::count(outputs.begin(), outputs.end(), gold) == 1);
    for (const auto& y : outputs) {
      double wrong_heads = 0, wrong = 0;
      for (std::size_t d = 0; d < y.heads.size(); ++d) {
        wrong_heads += y.heads[d] != gold.heads[d] ? 1 : 0;
        wrong += y.heads[d] != gold.heads[d] || y.labels[d] != gold.labels[d] ? 1 : 0;
      }
      tree.indicator(y, std::span(chi));
      RC_ASSERT(test_support::score_of(std::span<const double>(p), chi) == 0.5 * wrong_heads);
      RC_ASSERT(test_support::score_of(std::span<const float>(float_p), chi) == 0.5 * wrong_heads);
      RC_ASSERT(test_support::score_of(std::span<const float>(near), chi) == -4 * wrong);
    }
  }
}

RC_GTEST_PROP(DependencyProblem, SquaredDiameterBoundsTheDistanceOfAnyTwoTrees, (std::uint64_t seed)) {
  const OwnedDependencyProblem owned(any_dependencies());
  Random random(seed);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto outputs = all_outputs(owned.problem.examples().structure(i));
    for (int pair = 0; pair < 100; ++pair) {
      const auto &a = outputs[random.below(outputs.size())], &b = outputs[random.below(outputs.size())];
      RC_ASSERT(squared_distance(owned.problem, i, a, b) <= owned.problem.squared_diameter(i));
    }
  }
}

// Steps in float may leave out what hardly moves, but nothing where all that moves moves alike: by a power of
// two, say.
RC_GTEST_PROP(DependencyProblem, ChangesOfOneSizeAreAllTaken, (std::uint64_t seed)) {
  const OwnedDependencyProblem owned(any_dependencies());
  Random random(seed);
  const float size = *rc::gen::element(1.0f, 0.5f, 0x1p-40f, 0x1p20f, 0.3f);
  RC_ASSERT(test_support::check_changes_of_one_size(owned.problem, size, random) == "");
}

// What is left out of weights is no more than 0.2 % of all that moves, and what is left out of norms no more
// than 2 %.
RC_GTEST_PROP(DependencyProblem, LittleIsLeftOut, (std::uint64_t seed)) {
  auto data = any_dependencies();
  data.shape.num_labels = 1;
  std::fill(data.corpus.labels.begin(), data.corpus.labels.end(), 0u);
  const OwnedDependencyProblem owned(data);
  Random random(seed);
  Workspace ws;
  constexpr double kMostFeatures = 100;  // of an arc of four words at most
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    std::vector<float> delta(owned.problem.num_statistics(i));
    double moved = 0;
    for (float& x : delta) {
      x = static_cast<float>((2 * random.uniform() - 1) * std::exp2(-static_cast<double>(random.below(20))));
      moved += std::abs(x);
    }
    const std::vector<double> exact(delta.begin(), delta.end());
    Weights w(owned.problem.weight_shape());
    DoubleWeights expected(owned.problem.weight_shape());
    owned.problem.accumulate(i, delta, w, ws);
    owned.problem.accumulate(i, exact, expected, ws);
    double left_out = 0;
    for (std::size_t j = 0; j < w.values().size(); ++j)
      left_out += std::abs(w.values()[j] - expected.values()[j]);
    RC_ASSERT(left_out <= kMostFeatures * (2e-3 + 1e-5) * moved);
    const double norm = std::sqrt(owned.problem.squared_norm(i, exact, ws));
    RC_ASSERT(std::abs(std::sqrt(owned.problem.squared_norm(i, delta, ws)) - norm) <=
              kMostFeatures * (2e-2 + 1e-5) * moved);
  }
}

TEST(DependencyProblem, NothingThatMovesIsNothing) {
  const OwnedDependencyProblem owned(1);
  const std::vector<float> delta(owned.problem.num_statistics(0), 0.0f);
  Weights w(owned.problem.weight_shape());
  Workspace ws;
  owned.problem.accumulate(0, delta, w, ws);
  EXPECT_EQ(euclidean_squared_norm(w), 0);
  EXPECT_EQ(owned.problem.squared_norm(0, delta, ws), 0);
}

RC_GTEST_PROP(DependencyProblem, SharesAddUp, (std::uint64_t seed)) {
  const OwnedDependencyProblem owned(any_dependencies());
  Random random(seed);
  RC_ASSERT(test_support::check_shares(owned.problem, random) == "");
}

RC_GTEST_PROP(DependencyProblem, DualIsThatOfEnumeration, ()) {
  const OwnedDependencyProblem owned(any_dependencies());
  test_support::check_dual(owned.problem, any_loss(), any_l2(), any_dual(owned.problem));
}

RC_GTEST_PROP(DependencyProblem, PrimalIsThatOfEnumeration, ()) {
  const OwnedDependencyProblem owned(any_dependencies());
  test_support::check_primal(owned.problem, any_loss(), any_l2(), any_weights(owned.problem));
}

RC_GTEST_PROP(DependencyProblem, GapIsTheSumOfItsParts, ()) {
  const OwnedDependencyProblem owned(any_dependencies());
  test_support::check_gaps(owned.problem, any_loss(), any_l2(), any_weights(owned.problem),
                           any_dual(owned.problem));
}

TEST(DependencyProblem, ShapeAndWeights) {
  RandomDependencyOptions options;
  options.bits = 9;
  options.relation_bits = 5;
  options.shape.num_labels = 5;  // rows of 8
  const OwnedDependencyProblem owned(2, options);
  EXPECT_EQ(owned.problem.size(), 12u);
  EXPECT_EQ(owned.problem.weight_shape(), (WeightShape{(1u << 9) + (1u << 5) * 8, 1}));
  EXPECT_EQ(owned.problem.weight(3), 1);
  EXPECT_NE(owned.problem.factored(), nullptr);
  EXPECT_EQ(owned.problem.squared_change(0), 2 * owned.features.typical_size());
  EXPECT_EQ(owned.problem.sharing()->overlap(0), owned.features.common_share());
}

TEST(ArcSets, AreThoseOfEachSentence) {
  ArcSets sets;
  EXPECT_TRUE(sets.empty());
  EXPECT_TRUE(sets(7, 3).all());
  EXPECT_EQ(sets(7, 3).size(), 9u);
  EXPECT_EQ(sets.num_arcs(), 0u);
  using Offsets = std::vector<std::uint32_t>;
  using ArcHeads = std::vector<std::uint16_t>;
  sets.append(Offsets{0, 2, 3}, ArcHeads{0, 2, 1});
  sets.append(Offsets{0, 1}, ArcHeads{0});
  sets.append(Offsets{0, 1, 3, 4}, ArcHeads{2, 0, 3, 0});
  EXPECT_FALSE(sets.empty());
  EXPECT_EQ(sets.num_arcs(), 8u);
  const ArcSet first = sets(0, 2), second = sets(1, 1), third = sets(2, 3);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(first.find(2, 1), 1u);
  EXPECT_EQ(first.find(0, 2), ArcSet::kNone);
  EXPECT_EQ(second.size(), 1u);
  EXPECT_EQ(second.head(0, 1), 0u);
  EXPECT_EQ(third.words(), 3u);
  EXPECT_EQ(third.size(), 4u);
  EXPECT_EQ(third.begin(2), 1u);
  EXPECT_EQ(third.end(2), 3u);
  EXPECT_EQ(third.head(third.find(3, 2), 2), 3u);
  EXPECT_EQ(third.find(1, 2), ArcSet::kNone);
}

TEST(ArcSets, AllArcsAreNumberedByModifierAndHead) {
  for (std::size_t words = 1; words <= 6; ++words) {
    const ArcSet all(words);
    EXPECT_TRUE(all.all());
    std::size_t next = 0;
    for (std::size_t d = 1; d <= words; ++d) {
      EXPECT_EQ(all.begin(d), next);
      EXPECT_EQ(all.find(d, d), ArcSet::kNone);
      for (std::size_t h = 0; h <= words; ++h) {
        if (h == d) continue;
        EXPECT_EQ(all.find(h, d), next);
        EXPECT_EQ(all.head(next, d), h);
        ++next;
      }
      EXPECT_EQ(all.end(d), next);
    }
    EXPECT_EQ(all.size(), next);
  }
}

}  // namespace
}  // namespace espalier::dependency_problem_test
