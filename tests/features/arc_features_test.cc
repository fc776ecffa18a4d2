#include "features/arc_features.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/helping.h"
#include "features/change_lists.h"
#include "support/arc_feature_checks.h"
#include "support/helped.h"

namespace espalier::arc_features_test {
namespace {

using test_support::check_operator;
using test_support::check_pruned;
using test_support::image_of;
using test_support::OwnedArcs;
using test_support::random_words;
using test_support::scores_of;

RC_GTEST_PROP(ArcFeatures, AreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  Random random(seed);
  const auto words =
      random_words(random, *rc::gen::inRange<std::size_t>(1, 20), *rc::gen::element<std::size_t>(1, 3, 40));
  const ArcFeatures features(arc_templates(), *rc::gen::element(4u, 7u, 12u, 18u));
  RC_ASSERT(test_support::check_arc_features(features, words, random) == "");
}

// The features of one arc from their definition, as weights that count them.
std::map<std::uint32_t, double> features_of(const ArcTemplates& templates,
                                            const std::vector<WordAtoms>& words, std::size_t h, std::size_t d,
                                            unsigned bits) {
  const std::size_t stride = templates.size() + templates.num_between();
  std::vector<std::uint32_t> head((words.size() + 1) * stride), modifier(head.size());
  templates.keys(words, stride, head, modifier);
  const std::size_t distance = h < d ? d - h : h - d;
  const std::size_t column = distance <= 5 ? distance : distance <= 10 ? 6 : 7;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::map<std::uint32_t, double> counts;
  const auto add = [&](std::uint32_t key) {
    ++counts[static_cast<std::uint32_t>(key & mask)];
    const std::uint32_t line = key / 16 * 16;
    ++counts[static_cast<std::uint32_t>((line + (key + column) % 16) & mask)];
  };
  for (std::size_t t = 0; t < stride; ++t) {
    const std::uint32_t key = head[h * stride + t] ^ modifier[d * stride + t] ^ direction_key(h < d);
    if (t < templates.size()) {
      add(key);
      continue;
    }
    // Every kind of word between once, and no more than 16: those nearest to the modifier.
    std::set<std::uint32_t> kinds;
    const bool left = h < d;
    for (std::size_t k = 1; k < distance && kinds.size() < 16; ++k) {
      const std::uint32_t kind =
          templates.between_key(t - templates.size(), words[(left ? d - k : d + k) - 1]);
      if (kinds.insert(kind).second) add(key ^ kind);
    }
  }
  return counts;
}

// All arcs of a sentence, each alone.
void expect_features_of_templates(const ArcTemplates& templates, const std::vector<WordAtoms>& words,
                                  unsigned bits) {
  const ArcFeatures features(templates, bits);
  const ArcSet all(words.size());
  Workspace ws;
  for (std::size_t d = 1; d <= words.size(); ++d) {
    for (std::size_t h = 0; h <= words.size(); ++h) {
      if (h == d) continue;
      AlignedVector<double> delta(all.size(), 0.0);
      delta[all.find(h, d)] = 1;
      AlignedVector<double> expected(features.num_weights(), 0.0);
      double norm = 0;
      for (const auto& [place, count] : features_of(templates, words, h, d, bits)) {
        expected[place] = count;
        norm += count * count;
      }
      ASSERT_EQ(image_of<double>(features, words, all, delta), expected) << h << " to " << d;
      ASSERT_EQ(features.squared_norm(words, all, std::span<const double>(delta), 0.0, ws), norm)
          << h << " to " << d;
    }
  }
}

TEST(ArcFeatures, AreThoseOfTheTemplates) {
  Random random(1);
  for (const std::size_t length : {1, 2, 3, 13}) {
    expect_features_of_templates(arc_templates(), random_words(random, length, 30), 13);
    expect_features_of_templates(arc_templates(), random_words(random, length, 30), 4);
  }
}

std::vector<WordAtoms> different_words(std::size_t n) {
  std::vector<WordAtoms> words;
  for (std::size_t k = 0; k < n; ++k) {
    const std::string name = std::to_string(k);
    words.push_back(word_atoms(name, name, name, name, name));
  }
  return words;
}

// More kinds of words than arcs look at, for tables with hardly anything else, too.
TEST(ArcFeatures, LookAtNoMoreThanSixteenKindsOfWordsBetween) {
  const std::vector<std::string_view> mostly_between{"hp dp", "hp bp dp", "hc bc dc"};
  const auto words = different_words(25);
  expect_features_of_templates(arc_templates(), words, 11);
  expect_features_of_templates(ArcTemplates(mostly_between), words, 16);
}

// The largest space, without its memory.
TEST(ArcFeatures, OfTheLargestSpace) {
  const ArcFeatures features(arc_templates(), 31);
  EXPECT_EQ(features.num_weights(), std::size_t{1} << 31);
  const auto words = different_words(12);
  const ArcSet all(words.size());
  Workspace ws;
  AlignedVector<float> delta(all.size(), 0.0f);
  std::map<std::uint32_t, double> sum;
  for (const auto& [h, d, change] : {std::tuple(2, 9, 0.5), std::tuple(0, 1, -1.0), std::tuple(12, 3, 2.0)}) {
    delta[all.find(static_cast<std::size_t>(h), static_cast<std::size_t>(d))] = static_cast<float>(change);
    for (const auto& [place, count] :
         features_of(arc_templates(), words, static_cast<std::size_t>(h), static_cast<std::size_t>(d), 31))
      sum[place] += change * count;
  }
  double expected = 0;
  for (const auto& [place, value] : sum) expected += value * value;
  EXPECT_EQ(features.squared_norm(words, all, std::span<const float>(delta), 0.0f, ws), expected);
}

// Equal words: only direction, distance and what is between tell arcs from each other.
TEST(ArcFeatures, DirectionAndDistanceMatter) {
  const std::vector<std::string_view> table{"hf df", "hp dp"};
  const ArcTemplates templates(table);
  const ArcFeatures features(templates, 16);
  const std::vector<WordAtoms> words(30, word_atoms("a", "b", "c", "d", "e"));
  Random random(2);
  const auto w = test_support::random_values<double>(random, features.num_weights());
  const ArcSet all(words.size());
  const auto s = scores_of<double>(features, words, all, w);
  const auto score = [&](std::size_t h, std::size_t d) { return s[all.find(h, d)]; };
  for (std::size_t distance = 1; distance <= 28; ++distance) {
    EXPECT_EQ(score(1, 1 + distance), score(2, 2 + distance)) << distance;
    EXPECT_NE(score(1, 1 + distance), score(1 + distance, 1)) << distance;
    EXPECT_NE(score(0, 1 + distance), score(1, 2 + distance)) << "the root is no such word";
    const bool same_column = (distance >= 6 && distance <= 9) || distance >= 11;
    EXPECT_EQ(score(1, 1 + distance) == score(1, 2 + distance), same_column) << distance;
    EXPECT_EQ(score(1 + distance, 1) == score(2 + distance, 1), same_column) << distance;
  }
}

TEST(ArcFeatures, SmallChangesAreLeftOutWhereTheyAreNegligible) {
  Random random(3);
  const auto words = random_words(random, 6, 20);
  const ArcFeatures features(arc_templates(), 12);
  const ArcSet all(words.size());
  AlignedVector<float> delta(all.size()), large(all.size());
  for (std::size_t a = 0; a < delta.size(); ++a) {
    delta[a] = (a % 2 == 0 ? 1.0f : -1.0f) * 0.0625f * static_cast<float>(a % 5);
    large[a] = std::abs(delta[a]) > 0.125f ? delta[a] : 0;
  }
  EXPECT_EQ(image_of<float>(features, words, all, delta, 0.125f),
            image_of<float>(features, words, all, large));
  EXPECT_NE(image_of<float>(features, words, all, delta), image_of<float>(features, words, all, large));
  Workspace ws;
  EXPECT_EQ(features.squared_norm(words, all, std::span<const float>(delta), 0.125f, ws),
            features.squared_norm(words, all, std::span<const float>(large), 0.0f, ws));
  EXPECT_EQ(features.squared_norm(words, all, std::span<const float>(delta), 1.0f, ws), 0);
}

TEST(ArcFeatures, OfALongSentence) {
  Random random(4);
  const auto words = random_words(random, 200, 100);
  const ArcFeatures features(arc_templates(), 16);
  EXPECT_EQ(check_operator<double>(features, words, ArcSet(200), random, 1e-12), "");
  const std::vector<std::uint32_t> on_the_root(200, 0);
  const OwnedArcs some = test_support::random_arcs(random, on_the_root, 0.03);
  EXPECT_EQ(check_pruned(features, words, some.view(), random), "");
}

// In parts that other threads may help with: of all arcs, and of so few that parts have none of some words.
TEST(ArcFeatures, ScoresInPartsAreThoseOfOne) {
  Random random(5);
  for (const std::size_t m : {3, 17, 60}) {
    const auto words = random_words(random, m, 100);
    const ArcFeatures features(arc_templates(), 14);
    const auto w = test_support::random_values<float>(random, features.num_weights());
    const OwnedArcs some = test_support::random_arcs(random, std::vector<std::uint32_t>(m, 0), 0.3);
    for (const ArcSet& arcs : {ArcSet(m), some.view()}) {
      AlignedVector<float> s(arcs.size(), 7.0f);
      Workspace ws;
      SharedWork shared;
      ws.set_shared_work(&shared);
      features.score(words, arcs, w.data(), 0.5f, std::span<float>(s), ws);
      EXPECT_EQ(s, scores_of<float>(features, words, arcs, w, 0.5f)) << m;
    }
  }
}

// What is listed is what is added, its norm that of the sum, and both the same to the bit whoever helps.
TEST(ArcFeaturesParallel, ListsInPartsWhatIsAdded) {
  Random random(6);
  for (const std::size_t m : {2, 17, 60}) {
    const auto words = random_words(random, m, 40);
    const ArcFeatures features(arc_templates(), 14);
    const OwnedArcs some = test_support::random_arcs(random, std::vector<std::uint32_t>(m, 0), 0.1);
    for (const ArcSet& arcs : {ArcSet(m), some.view()}) {
      const auto delta = test_support::random_values<float>(random, arcs.size());
      const auto of_delta = [&](std::size_t helpers, AlignedVector<float>& sum) {
        sum.assign(features.num_weights(), 0.0f);
        double norm = 0;
        test_support::with_helpers(helpers, [&](Workspace& ws) {
          ChangeLists lists;
          norm = features.list_with_norm(words, arcs, delta, 0.1f, lists, ws);
          EXPECT_TRUE(arcs.size() < 1000 || lists.lists().size() > 4);
          for (const RowChanges<float>& list : lists.lists()) {
            for (std::size_t k = 0; k < list.shares(); ++k) list.add_to(k, sum.data());
          }
        });
        return norm;
      };
      AlignedVector<float> alone, helped;
      const double norm = of_delta(0, alone);
      EXPECT_EQ(of_delta(3, helped), norm) << m;
      EXPECT_EQ(helped, alone) << m;

      AlignedVector<double> expected(features.num_weights(), 0.0);
      const AlignedVector<double> exact(delta.begin(), delta.end());
      Workspace ws;
      features.accumulate(words, arcs, std::span<const double>(exact), static_cast<double>(0.1f),
                          WeightsSink(expected.data()), ws);
      double expected_norm = 0;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        expected_norm += expected[k] * expected[k];
        EXPECT_NEAR(alone[k], expected[k], 2e-4) << m;
      }
      EXPECT_NEAR(norm, expected_norm, 1e-4 * expected_norm) << m;
    }
  }
}

TEST(ArcFeatures, TypicalSizeAndCommonShareFollowFromTheTable) {
  const std::vector<std::string_view> table{"hf", "hp", "hp dp", "dc", "hp bp dp"};
  const ArcTemplates templates(table);
  const ArcFeatures features(templates, 10);
  EXPECT_EQ(features.typical_size(), 2 * (4 + 3));
  EXPECT_EQ(features.common_share(), 0.75);
}

}  // namespace
}  // namespace espalier::arc_features_test
