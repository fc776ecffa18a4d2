#include "features/relation_features.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/arc_feature_checks.h"

namespace espalier::relation_features_test {
namespace {

using test_support::image_of;
using test_support::random_words;
using test_support::scores_of;

// More labels than a row of vectors has, and numbers that nothing divides.
RC_GTEST_PROP(RelationFeatures, AreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  Random random(seed);
  const auto words = random_words(random, *rc::gen::inRange<std::size_t>(1, 10), 10);
  const RelationFeatures features(relation_templates(), *rc::gen::element(1u, 5u, 10u),
                                  *rc::gen::element<std::size_t>(2, 3, 5, 8, 40, 70));
  RC_ASSERT(test_support::check_arc_features(features, words, random) == "");
}

// Each row has the weights of all labels; after them there is nothing.
TEST(RelationFeatures, AreThoseOfTheTemplates) {
  constexpr std::size_t kLabels = 3, kStride = 4;
  constexpr unsigned kBits = 9;
  Random random(1);
  const auto words = random_words(random, 5, 20);
  const ArcTemplates& templates = relation_templates();
  const RelationFeatures features(templates, kBits, kLabels);
  ASSERT_EQ(features.num_weights(), (1u << kBits) * kStride);
  EXPECT_EQ(features.num_labels(), kLabels);
  EXPECT_EQ(features.typical_size(), static_cast<double>(templates.size()));
  std::vector<std::uint32_t> head(6 * templates.size()), modifier(head.size());
  templates.keys(words, templates.size(), head, modifier);
  const ArcSet all(words.size());
  for (std::size_t d = 1; d <= words.size(); ++d) {
    for (std::size_t h = 0; h <= words.size(); ++h) {
      if (h == d) continue;
      AlignedVector<double> delta(all.size() * kLabels, 0.0), expected(features.num_weights(), 0.0);
      delta[all.find(h, d) * kLabels + 2] = 1;
      for (std::size_t t = 0; t < templates.size(); ++t) {
        const std::uint32_t key =
            head[h * templates.size() + t] ^ modifier[d * templates.size() + t] ^ direction_key(h < d);
        ++expected[(key % (1u << kBits)) * kStride + 2];
      }
      ASSERT_EQ(image_of<double>(features, words, all, delta), expected) << h << " to " << d;
    }
  }
}

TEST(RelationFeatures, ScoresAreAddedToWhatIsThere) {
  Random random(2);
  const auto words = random_words(random, 4, 10);
  const RelationFeatures features(relation_templates(), 8, 2);
  const ArcSet all(words.size());
  const auto w = test_support::random_values<double>(random, features.num_weights());
  const auto s = scores_of<double>(features, words, all, w);
  AlignedVector<double> sum(s.size(), 3.0);
  Workspace ws;
  features.add_score(words, all, w.data(), 1.0, std::span(sum), ws);
  for (std::size_t k = 0; k < s.size(); ++k) EXPECT_EQ(sum[k], 3 + s[k]);
}

// The side on which the head is matters; how far away it is does not.
TEST(RelationFeatures, DirectionMattersAndDistanceDoesNot) {
  const std::vector<WordAtoms> words(9, word_atoms("a", "b", "c", "d", "e"));
  const std::vector<std::string_view> table{"hf df", "hp dp"};
  const ArcTemplates templates(table);
  const RelationFeatures features(templates, 12, 2);
  Random random(3);
  const auto w = test_support::random_values<double>(random, features.num_weights());
  const ArcSet all(words.size());
  const auto s = scores_of<double>(features, words, all, w);
  const auto score = [&](std::size_t h, std::size_t d) { return s[all.find(h, d) * 2]; };
  EXPECT_EQ(score(1, 2), score(1, 9));
  EXPECT_EQ(score(2, 1), score(9, 1));
  EXPECT_NE(score(1, 2), score(2, 1));
  EXPECT_NE(score(0, 1), score(1, 2));
}

// An arc counts whole where one of its labels moves, and not at all where none does.
TEST(RelationFeatures, ArcsAreLeftOutWhereAllTheirLabelsAreNegligible) {
  Random random(4);
  const auto words = random_words(random, 3, 10);
  const RelationFeatures features(relation_templates(), 10, 2);
  const ArcSet all(words.size());
  AlignedVector<float> delta(all.size() * 2, 0.0f), without = delta;
  delta[0] = 0.25f, delta[1] = -0.25f;  // negligible
  delta[4] = without[4] = 0.5f;
  delta[5] = without[5] = 0.125f;
  EXPECT_EQ(image_of<float>(features, words, all, delta, 0.25f),
            image_of<float>(features, words, all, without));
  Workspace ws;
  EXPECT_EQ(features.squared_norm(words, all, std::span<const float>(delta), 0.25f, ws),
            features.squared_norm(words, all, std::span<const float>(without), 0.0f, ws));
  EXPECT_EQ(features.squared_norm(words, all, std::span<const float>(delta), 0.5f, ws), 0);
}

}  // namespace
}  // namespace espalier::relation_features_test
