#include "base/random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace espalier::random_test {
namespace {

// The expected numbers come from a separate implementation of SplitMix64 and xoshiro256** in Python.
TEST(Random, GivesTheReferenceSequence) {
  const auto first_four = [](std::uint64_t seed) {
    Random random(seed);
    std::vector<std::uint64_t> draws(4);
    for (auto& draw : draws) draw = random.next();
    return draws;
  };
  using Draws = std::vector<std::uint64_t>;
  EXPECT_EQ(first_four(0),
            (Draws{0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}));
  EXPECT_EQ(first_four(42),
            (Draws{0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1}));
  EXPECT_EQ(first_four(~std::uint64_t{0}),
            (Draws{0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f}));

  Random uniform(1);
  EXPECT_EQ(uniform.uniform(), 0.7029218331588505);
  EXPECT_EQ(uniform.uniform(), 0.5204366199388569);

  Random below(42);
  for (const std::size_t expected : {742u, 102u, 9u, 193u, 476u}) EXPECT_EQ(below.below(1000), expected);

  Random shuffle(7);
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  shuffle.shuffle(std::span<int>(items));
  EXPECT_EQ(items, (std::vector<int>{8, 3, 9, 0, 7, 2, 1, 6, 5, 4}));
}

TEST(Random, BelowIsUniform) {
  // Chi-square over 7 cells has 6 degrees of freedom: it exceeds 22.5 once in a thousand seeds, and this seed
  // is fixed.
  Random random(5);
  constexpr int kCells = 7, kDraws = 70'000;
  std::vector<int> counts(kCells);
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(kCells)];
  double chi_square = 0;
  for (const int count : counts) {
    const double expected = double{kDraws} / kCells;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 22.5);
}

TEST(Random, EveryOrderIsEquallyLikelyAfterAShuffle) {
  Random random(6);
  std::vector<int> counts(27);
  constexpr int kShuffles = 60'000;
  for (int i = 0; i < kShuffles; ++i) {
    std::vector<int> items{0, 1, 2};
    random.shuffle(std::span<int>(items));
    ++counts[static_cast<std::size_t>(items[0] * 9 + items[1] * 3 + items[2])];
  }
  double chi_square = 0;
  int orders = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    chi_square += (count - kShuffles / 6.0) * (count - kShuffles / 6.0) / (kShuffles / 6.0);
  }
  EXPECT_EQ(orders, 6);
  EXPECT_LT(chi_square, 20.6);  // 5 degrees of freedom, once in a thousand
}

RC_GTEST_PROP(Random, DrawsStayInRange, (std::uint64_t seed)) {
  const std::size_t n =
      *rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 100), rc::gen::just((std::size_t{1} << 63) + 1),
                      rc::gen::just(~std::size_t{0}));
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    RC_ASSERT(random.below(n) < n);
    const double u = random.uniform();
    RC_ASSERT(u >= 0 && u < 1);
  }
}

RC_GTEST_PROP(Random, AShuffleIsAPermutation, (std::uint64_t seed, std::vector<int> items)) {
  std::vector<int> shuffled = items;
  Random random(seed);
  random.shuffle(std::span<int>(shuffled));
  std::sort(items.begin(), items.end());
  std::sort(shuffled.begin(), shuffled.end());
  RC_ASSERT(items == shuffled);
}

}  // namespace
}  // namespace espalier::random_test
