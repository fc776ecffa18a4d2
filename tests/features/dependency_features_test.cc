#include "features/dependency_features.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/arc_feature_checks.h"

namespace espalier::dependency_features_test {
namespace {

using test_support::image_of;
using test_support::random_values;
using test_support::random_words;
using test_support::scores_of;

RC_GTEST_PROP(DependencyFeatures, AreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  Random random(seed);
  const auto words = random_words(random, *rc::gen::inRange<std::size_t>(1, 10), 10);
  const DependencyFeatures features(*rc::gen::element(4u, 9u, 14u), *rc::gen::element(1u, 5u, 9u),
                                    *rc::gen::element<std::size_t>(1, 2, 3, 9, 70));
  RC_ASSERT(test_support::check_arc_features(features, words, random) == "");
}

TEST(DependencyFeatures, WithoutLabelsAreThoseOfArcs) {
  Random random(1);
  const auto words = random_words(random, 7, 20);
  const ArcSet all(words.size());
  const ArcFeatures arcs(arc_templates(), 11);
  const DependencyFeatures features(11, 5, 1);
  EXPECT_EQ(features.num_labels(), 1u);
  EXPECT_EQ(features.weight_shape(), (WeightShape{1u << 11, 1}));
  EXPECT_EQ(features.typical_size(), arcs.typical_size());
  EXPECT_EQ(features.common_share(), arcs.common_share());
  const auto w = random_values<float>(random, arcs.num_weights()),
             delta = random_values<float>(random, all.size());
  EXPECT_EQ(scores_of<float>(features, words, all, w), scores_of<float>(arcs, words, all, w));
  EXPECT_EQ(image_of<float>(features, words, all, delta), image_of<float>(arcs, words, all, delta));
}

// Weights of arcs in front, which see the sum over the labels; those of relations behind.
TEST(DependencyFeatures, WithLabelsAreTheSumOfBoth) {
  constexpr std::size_t kLabels = 3;
  Random random(2);
  const auto words = random_words(random, 7, 20);
  const ArcSet all(words.size());
  const ArcFeatures arcs(arc_templates(), 11);
  const RelationFeatures relations(relation_templates(), 6, kLabels);
  const DependencyFeatures features(11, 6, kLabels);
  const std::size_t in_front = arcs.num_weights();
  ASSERT_EQ(features.weight_shape(), (WeightShape{in_front + relations.num_weights(), 1}));
  EXPECT_EQ(features.typical_size(), arcs.typical_size() + relations.typical_size());

  const auto w = random_values<double>(random, features.weight_shape().rows);
  const auto middle = w.begin() + static_cast<std::ptrdiff_t>(in_front);
  const AlignedVector<double> of_arcs(w.begin(), middle), of_relations(middle, w.end());
  const auto s = scores_of<double>(features, words, all, w, 0.5);
  const auto expected_arcs = scores_of<double>(arcs, words, all, of_arcs, 0.5);
  const auto expected_relations = scores_of<double>(relations, words, all, of_relations, 0.5);
  for (std::size_t k = 0; k < s.size(); ++k)
    EXPECT_EQ(s[k], expected_arcs[k / kLabels] + expected_relations[k]) << k;

  // Multiples of 1/8, so that sums are exact.
  AlignedVector<double> delta(all.size() * kLabels), sums(all.size(), 0.0);
  for (std::size_t k = 0; k < delta.size(); ++k) {
    delta[k] = static_cast<double>(random.below(17)) / 8 - 1;
    sums[k / kLabels] += delta[k];
  }
  auto expected = image_of<double>(arcs, words, all, sums);
  const auto behind = image_of<double>(relations, words, all, delta);
  expected.insert(expected.end(), behind.begin(), behind.end());
  EXPECT_EQ(image_of<double>(features, words, all, delta), expected);
}

// A word that changes its relation alone moves nothing of the arc.
TEST(DependencyFeatures, ChangesOfRelationsCancelOnArcs) {
  Random random(3);
  const auto words = random_words(random, 4, 20);
  const ArcSet all(words.size());
  const DependencyFeatures features(9, 6, 2);
  AlignedVector<double> delta(all.size() * 2, 0.0);
  delta[all.find(2, 3) * 2] = 0.5;
  delta[all.find(2, 3) * 2 + 1] = -0.5;
  const auto image = image_of<double>(features, words, all, delta);
  for (std::size_t j = 0; j < 1u << 9; ++j) EXPECT_EQ(image[j], 0) << j;
  Workspace ws;
  EXPECT_EQ(features.squared_norm(words, all, std::span<const double>(delta), 0.0, ws),
            RelationFeatures(relation_templates(), 6, 2)
                .squared_norm(words, all, std::span<const double>(delta), 0.0, ws));
}

}  // namespace
}  // namespace espalier::dependency_features_test
