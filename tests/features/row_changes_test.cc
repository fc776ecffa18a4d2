#include "features/row_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "base/team.h"
#include "espalier/features/weights.h"

namespace espalier::row_changes_test {
namespace {

TEST(RowChanges, AllocateNothingOnceTheyHaveGrown) {
  RowChanges<float> changes;
  const std::vector<float> delta(24, 1.0f);
  std::vector<std::uint32_t> ids(500);
  std::iota(ids.begin(), ids.end(), 0u);
  std::size_t bytes = 0;
  for (int times = 0; times < 3; ++times) {
    changes.start(5);
    for (std::size_t share = 0; share < 5; ++share) EXPECT_TRUE(changes.changes(share).empty());
    for (int rows = 0; rows < 10; ++rows)
      changes.add_rows({0, 24, 24}, {ids.data(), nullptr, ids.size()}, delta.data());
    if (times > 0) {
      EXPECT_EQ(changes.bytes(), bytes);
    }
    bytes = changes.bytes();
  }
}

TEST(RowChanges, RowsOfZerosAreLeftOut) {
  RowChanges<double> changes;
  changes.start(1);
  const std::vector<double> zeros(100, 0.0);
  const std::vector<std::uint32_t> ids{3, 4};
  changes.add_rows({0, 100, 104}, {ids.data(), nullptr, ids.size()}, zeros.data());
  changes.add_run(7, zeros.data(), zeros.size());
  changes.add_each(0, ids.data(), ids.size(), zeros.data());
  EXPECT_TRUE(changes.changes(0).empty());
}

TEST(RowChanges, LongRowsHaveOneOwnerForEachWeightToo) {
  constexpr std::size_t kWidth = 10001;
  BasicWeights<float> w({3, kWidth});
  const std::vector<std::uint32_t> ids{0, 2};
  const std::vector<float> values{1.0f, -2.0f};
  std::vector<float> delta(kWidth);
  for (std::size_t k = 0; k < kWidth; ++k) delta[k] = static_cast<float>(k);
  RowChanges<float> changes;
  changes.start(4);
  changes.add_rows({0, kWidth, w.stride()}, {ids.data(), values.data(), ids.size()}, delta.data());
  for (std::size_t share = 0; share < 4; ++share) changes.add_to(share, w);
  for (std::size_t k = 0; k < kWidth; ++k) {
    ASSERT_EQ(w.row(0)[k], delta[k]);
    ASSERT_EQ(w.row(1)[k], 0.0f);
    ASSERT_EQ(w.row(2)[k], -2 * delta[k]);
  }
}

TEST(RowChanges, OwnersHaveAboutTheSameNumberOfRows) {
  for (const std::size_t stride : {1, 8, 16, 24, 32, 40, 48, 64}) {
    for (const std::size_t shares : {2, 3, 7, 16}) {
      std::vector<std::size_t> rows(shares, 0);
      constexpr std::size_t kRows = 16000;
      for (std::size_t r = 0; r < kRows; ++r) ++rows[RowChanges<float>::owner(r * stride, shares)];
      for (const std::size_t n : rows) {
        EXPECT_GT(n, kRows / shares * 9 / 10) << "rows of " << stride << ", " << shares << " shares";
        EXPECT_LT(n, kRows / shares * 11 / 10) << "rows of " << stride << ", " << shares << " shares";
      }
    }
  }
}

// What threads write while they own it.
TEST(RowChangesParallel, OwnersDoNotMeet) {
  constexpr std::size_t kThreads = 3, kRows = 1000, kLists = 50;
  const WeightShape shape{kRows, 5};
  Weights together(shape), alone(shape);
  Team team(kThreads);
  std::vector<RowChanges<float>> lists(kLists);
  team.run([&](std::size_t k) {
    for (std::size_t j = k; j < kLists; j += kThreads) {
      Random random(j);
      lists[j].start(kThreads);
      for (std::size_t rows = 0; rows < 20; ++rows) {
        std::vector<std::uint32_t> ids(30);
        for (std::uint32_t& id : ids) id = static_cast<std::uint32_t>(random.below(kRows));
        const std::vector<float> delta(5, static_cast<float>(random.uniform()));
        lists[j].add_rows({0, 5, together.stride()}, {ids.data(), nullptr, ids.size()}, delta.data());
      }
    }
  });
  team.run([&](std::size_t k) {
    for (const RowChanges<float>& list : lists) list.add_to(k, together);
  });
  for (const RowChanges<float>& list : lists) {
    for (std::size_t k = 0; k < kThreads; ++k) list.add_to(k, alone);
  }
  EXPECT_TRUE(std::ranges::equal(together.values(), alone.values()));
}

}  // namespace
}  // namespace espalier::row_changes_test
