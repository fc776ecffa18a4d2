#include "structures/multiclass.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/enumeration.h"
#include "support/log_conditionals.h"
#include "support/random_scores.h"

namespace espalier::multiclass_test {
namespace {

using test_support::check_centre;
using test_support::check_entropy;
using test_support::check_inference;
using test_support::check_kbest;
using test_support::check_sampling;
using test_support::check_uniform;

constexpr double kFloat = 1e-6, kDouble = 1e-14;
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

Multiclass any_structure() { return Multiclass(*rc::gen::inRange<std::size_t>(1, 41)); }

// Scores that leave at least one label.
std::vector<double> any_scores(const Multiclass& structure) {
  auto s = *test_support::scores(structure.num_statistics());
  if (std::all_of(s.begin(), s.end(), [](double v) { return v == kImpossible; })) s.back() = 0;
  return s;
}

RC_GTEST_PROP(Multiclass, InferenceInFloatIsThatOfEnumeration, ()) {
  const auto structure = any_structure();
  const auto s = any_scores(structure);
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_inference<float>(structure, std::span(rounded), kFloat) == "");
}

RC_GTEST_PROP(Multiclass, InferenceInDoubleIsThatOfEnumeration, ()) {
  const auto structure = any_structure();
  const auto s = any_scores(structure);
  RC_ASSERT(check_inference<double>(structure, std::span(s), kDouble) == "");
}

RC_GTEST_PROP(Multiclass, KBestIsThatOfEnumeration, ()) {
  const auto structure = any_structure();
  const auto s = any_scores(structure);
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, *rc::gen::inRange<std::size_t>(2, 45)}) {
    RC_ASSERT(check_kbest(structure, std::span(s), k, kDouble) == "");
  }
}

RC_GTEST_PROP(Multiclass, EntropyIsThatOfEnumeration, ()) {
  const auto structure = any_structure();
  const auto s = any_scores(structure);
  RC_ASSERT(check_entropy(structure, std::span(s), kDouble) == "");
}

RC_GTEST_PROP(Multiclass, CentringShiftsAllOutputsAlike, ()) {
  const auto structure = any_structure();
  const auto s = any_scores(structure);
  const std::vector<float> scores(s.begin(), s.end());
  std::vector<float> d(s.size());
  for (float& x : d) x = static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 7;
  RC_ASSERT(check_centre(structure, std::span<const float>(scores), std::span<const float>(d), kFloat) == "");
}

TEST(Multiclass, ZeroScoresCountTheOutputs) {
  for (std::size_t labels = 1; labels <= 40; ++labels) {
    EXPECT_EQ(check_uniform<float>(Multiclass(labels), kFloat), "") << labels;
    EXPECT_EQ(check_uniform<double>(Multiclass(labels), kDouble), "") << labels;
  }
}

TEST(Multiclass, ExtremeScoresStayRight) {
  for (const auto& s : {std::vector<double>{1000, 1000, 1000},
                        {-1000, -1000},
                        {1000, -1000, 0},
                        {1000, 999.5, kImpossible},
                        {kImpossible, kImpossible, -1000},
                        {kImpossible, 0}}) {
    const Multiclass structure(s.size());
    const std::vector<float> rounded(s.begin(), s.end());
    EXPECT_EQ(check_inference<float>(structure, std::span(rounded), kFloat), "");
    EXPECT_EQ(check_inference<double>(structure, std::span(s), kDouble), "");
    EXPECT_EQ(check_entropy(structure, std::span(s), kDouble), "");
  }
}

TEST(Multiclass, SamplesHaveTheRightFrequencies) {
  EXPECT_EQ(check_sampling(Multiclass(1), std::span<const double>(std::vector<double>{3}), 1, 100), "");
  EXPECT_EQ(check_sampling(Multiclass(5), std::span<const double>(std::vector<double>(5)), 2, 20000), "");
  EXPECT_EQ(check_sampling(Multiclass(6),
                           std::span<const double>(std::vector<double>{0, 1, 2, -3, kImpossible, 900 - 899}),
                           3, 20000),
            "");
  EXPECT_EQ(check_sampling(Multiclass(4),
                           std::span<const double>(std::vector<double>{kImpossible, 1000, 999, kImpossible}),
                           4, 20000),
            "");
  std::vector<double> many(40);
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = 0.1 * static_cast<double>(k);
  EXPECT_EQ(check_sampling(Multiclass(40), std::span<const double>(many), 5, 40000), "");
}

// The check itself can fail: frequencies of one distribution against those of another.
struct BiasedSampler : Multiclass {
  using Multiclass::Multiclass;
  Output sample(std::span<const double> s, Random& random, Workspace& ws) const {
    std::vector<double> flattened(s.begin(), s.end());
    flattened[0] += 0.1;
    return Multiclass::sample(flattened, random, ws);
  }
};
TEST(Multiclass, TheSamplingCheckSeesASmallBias) {
  EXPECT_NE(check_sampling(BiasedSampler(5), std::span<const double>(std::vector<double>(5)), 2, 20000), "");
}

TEST(Multiclass, OfEqualScoresTheFirstLabelWins) {
  const Multiclass structure(4);
  Workspace ws;
  const std::vector<double> s{1, 2, 2, 2};
  EXPECT_EQ(structure.decode(std::span<const double>(s), ws), 1u);
  const auto best = structure.kbest(s, 3);
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].output, 1u);
  EXPECT_EQ(best[1].output, 2u);
  EXPECT_EQ(best[2].output, 3u);
}

RC_GTEST_PROP(Multiclass, LogConditionalsGiveBackTheirMarginals, ()) {
  const auto structure = any_structure();
  const auto s = any_scores(structure);
  const std::size_t labels = structure.num_statistics();
  RC_ASSERT(structure.num_clique_marginals() == labels);
  Workspace ws;
  std::vector<double> mu(labels), clique_scores(labels), again(labels);
  const double log_z = structure.log_partition(std::span<const double>(s), std::span(mu), ws);
  test_support::log_conditionals(structure, mu, clique_scores);
  const double log_one =
      structure.log_partition(std::span<const double>(clique_scores), std::span(again), ws);
  RC_ASSERT(std::abs(log_one) <= kDouble);  // conditionals are normalised
  double mean = 0;
  for (std::size_t k = 0; k < labels; ++k) {
    RC_ASSERT(std::abs(again[k] - mu[k]) <= kDouble);
    if (mu[k] == 0) RC_ASSERT(clique_scores[k] == kImpossible);
    if (mu[k] > 0) mean += mu[k] * s[k];
  }
  RC_ASSERT(std::abs(structure.clique_entropy(mu) - (log_z - mean)) <= kDouble * (10 + std::abs(log_z)));
}

TEST(Multiclass, CliqueEntropyOfKnownDistributions) {
  const Multiclass structure(4);
  EXPECT_EQ(structure.clique_entropy(std::vector<double>{0, 1, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(structure.clique_entropy(std::vector<double>(4, 0.25)), std::log(4.0));
  EXPECT_DOUBLE_EQ(structure.clique_entropy(std::vector<double>{0.5, 0.25, 0, 0.25}), 1.5 * std::log(2.0));
}

}  // namespace
}  // namespace espalier::multiclass_test
