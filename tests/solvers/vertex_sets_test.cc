#include "solvers/vertex_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "support/random_problem.h"

namespace espalier::vertex_sets_test {
namespace {

using test_support::OwnedProblem;
using Output = std::vector<VertexSets::Entry>;

struct Sets {
  Sets() : owned(1, {.examples = 2, .labels = 20}), means(owned.problem), sets(owned.problem, means) {}

  std::vector<double> mean(std::size_t i) const {
    std::vector<double> mu(20);
    sets.mean(i, mu);
    return mu;
  }
  std::vector<double> gold(std::size_t i) const {
    std::vector<double> z(20);
    owned.problem.add_gold(i, 1.0, z);
    return z;
  }

  const OwnedProblem owned;
  const MeanState means;
  VertexSets sets;
};

TEST(VertexSets, BeginWithTheMeansAlone) {
  Sets s;
  EXPECT_EQ(s.sets[1].weights[0], 1);
  EXPECT_EQ(s.mean(1), s.gold(1));
  EXPECT_EQ(s.sets.free_place(1), 1u);
  EXPECT_EQ(s.sets.find(1, Output{{3, 1.0f}}), 0u);
}

TEST(VertexSets, MixWhatTheyHave) {
  Sets s;
  const Output output{{3, 1.0f}}, other{{5, 2.0f}, {7, 1.0f}};
  ASSERT_TRUE(s.sets.fits(1, output) && s.sets.fits(1, other));
  s.sets.set(1, 1, output);
  EXPECT_EQ(s.sets.find(1, output), 0u) << "it has no weight yet";
  s.sets[1].weights[0] = 0.5;
  s.sets[1].weights[1] = 0.25;
  EXPECT_EQ(s.sets.find(1, output), 1u);
  EXPECT_EQ(s.sets.free_place(1), 2u);
  s.sets.set(1, 2, other);
  s.sets[1].weights[2] = 0.25;
  EXPECT_EQ(s.sets.find(1, other), 2u);

  std::vector<double> expected = s.gold(1);
  std::vector<float> scores(20);
  for (double& m : expected) m *= 0.5;
  expected[3] += 0.25;
  expected[5] += 0.5;
  expected[7] += 0.25;
  EXPECT_EQ(s.mean(1), expected);
  std::iota(scores.begin(), scores.end(), 1.0f);
  EXPECT_EQ(s.sets.score(1, 1, scores), 4);
  EXPECT_EQ(s.sets.score(1, 2, scores), 20);
  EXPECT_EQ(s.sets.score(1, 0, scores), s.owned.data.gold[1] + 1);
  // Another example's are its own.
  EXPECT_EQ(s.mean(0), s.gold(0));
}

TEST(VertexSets, MergeLeavesTheMeanAsItIs) {
  Sets s;
  s.sets.set(0, 1, Output{{3, 1.0f}});
  s.sets.set(0, 2, Output{{4, 1.0f}});
  s.sets[0].weights[0] = 0.5;
  s.sets[0].weights[1] = 0.375;
  s.sets[0].weights[2] = 0.125;
  const std::vector<double> before = s.mean(0);
  s.sets.merge(0, 1);
  EXPECT_EQ(s.sets[0].weights[0], 0.875);
  EXPECT_EQ(s.sets.free_place(0), 1u);
  for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(s.mean(0)[k], before[k], 1e-15);
  // Of a rest without weight nothing is left.
  s.sets[0].weights[0] = 0;
  s.sets[0].weights[2] = 1;
  s.sets.merge(0, 2);
  for (std::size_t k = 0; k < 20; ++k) EXPECT_EQ(s.mean(0)[k], k == 4 ? 1 : 0);
}

// The outputs themselves as points: |chi_k - chi_l|^2.
TEST(VertexSets, MergeKnowsTheDistancesOfTheRest) {
  Sets s;
  const auto measure = [&](std::size_t k, std::size_t l) {
    std::vector<double> difference(20);
    s.sets.add(0, k, 1.0, difference);
    s.sets.add(0, l, -1.0, difference);
    return std::inner_product(difference.begin(), difference.end(), difference.begin(), 0.0);
  };
  VertexSets::Example& e = s.sets[0];
  s.sets.set(0, 1, Output{{3, 1.0f}});
  s.sets.set(0, 2, Output{{4, 1.0f}});
  s.sets.set(0, 3, Output{{4, 2.0f}, {5, 1.0f}});
  const double weights[] = {0.5, 0.2, 0.2, 0.1};
  for (std::size_t k = 0; k < 4; ++k) {
    e.weights[k] = weights[k];
    for (std::size_t l = 0; l < 4; ++l) e.distances[k][l] = static_cast<float>(measure(k, l));
  }
  s.sets.merge(0, 3);
  EXPECT_NEAR(e.distances[0][1], measure(0, 1), 1e-6);
  EXPECT_NEAR(e.distances[2][0], measure(0, 2), 1e-6);
  s.sets.merge(0, 1);
  EXPECT_NEAR(e.distances[0][2], measure(0, 2), 1e-6);
}

TEST(VertexSets, MixesIntoTheRestWhatHasNoPlace) {
  Sets s;
  s.sets.set(0, 1, Output{{3, 1.0f}});
  s.sets[0].weights[0] = 0.5;
  s.sets[0].weights[1] = 0.5;
  const Output large{{0, 1.0f}, {1, 1.0f}, {2, 1.0f}, {6, 1.0f}, {8, 1.0f}};
  EXPECT_FALSE(s.sets.fits(0, large));
  std::vector<double> expected = s.mean(0);
  for (double& m : expected) m *= 0.75;
  for (const auto& entry : large) expected[entry.index] += 0.25;
  s.sets.mix_into_rest(0, large, 0.25);
  for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(s.mean(0)[k], expected[k], 1e-15);
  s.sets.mix_into_rest(0, large, 1);
  for (std::size_t k = 0; k < 20; ++k) {
    const bool has =
        std::any_of(large.begin(), large.end(), [&](const auto& entry) { return entry.index == k; });
    EXPECT_EQ(s.mean(0)[k], has ? 1 : 0);
  }
}

// Whatever is mixed in, mu is a distribution but for as many roundings as are counted.
TEST(VertexSets, CountTheirRoundings) {
  Sets s;
  std::vector<double> mu(20);
  EXPECT_EQ(s.sets.mean(0, mu), 0);
  for (std::uint32_t k = 0; k < 1000; ++k) {
    s.sets.mix_into_rest(0, Output{{k % 20, 1.0f}}, 1.0 / (k + 3));
    const double roundings = s.sets.mean(0, mu);
    EXPECT_GT(roundings, 0);
    EXPECT_LE(std::abs(std::accumulate(mu.begin(), mu.end(), 0.0) - 1), (roundings + 20) * 0x1p-53);
  }
  s.sets.mix_into_rest(0, Output{{3, 1.0f}}, 1);
  EXPECT_EQ(s.sets.mean(0, mu), 0) << "one output is itself, to the bit";
}

TEST(VertexSets, WithoutOutputsNothingFits) {
  const OwnedProblem owned(1);
  const VertexSets sets(owned.problem, MeanState(owned.problem), false);
  EXPECT_FALSE(sets.fits(0, Output{{1, 1.0f}}));
}

TEST(VertexSets, PlacesRunOut) {
  Sets s;
  const double share = 1.0 / VertexSets::kAtoms;
  for (std::uint32_t k = 1; k < VertexSets::kAtoms; ++k) {
    EXPECT_EQ(s.sets.free_place(0), k);
    s.sets.set(0, k, Output{{k, 1.0f}});
    s.sets[0].weights[k] = share;
  }
  s.sets[0].weights[0] = share;
  EXPECT_EQ(s.sets.free_place(0), 0u);
  const std::vector<double> mu = s.mean(0);
  EXPECT_NEAR(std::accumulate(mu.begin(), mu.end(), 0.0), 1, 1e-15);
}

}  // namespace
}  // namespace espalier::vertex_sets_test
