#include "espalier/features/row_features.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "support/feature_checks.h"
#include "support/random_problem.h"

namespace espalier::row_features_test {
namespace {

using test_support::check_features;
using test_support::OwnedProblem;

RC_GTEST_PROP(RowFeatures, AreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  test_support::RandomDataOptions options;
  options.examples = 5;
  options.attributes = *rc::gen::inRange<std::size_t>(1, 40);
  options.labels = *rc::gen::inRange<std::size_t>(1, 40);
  options.density = *rc::gen::element(0.0, 0.3, 1.0);
  options.unit_values = *rc::gen::arbitrary<bool>();
  const OwnedProblem owned(seed, options);
  Random random(seed + 1);
  RC_ASSERT(check_features(owned.problem, random) == "");
}

// Two rows over three attributes and two labels, small enough to do by hand.
class SmallRows : public ::testing::Test {
 protected:
  SmallRows() {
    rows_.add(0, 2);
    rows_.add(2, -0.5);
    rows_.finish_row();
    rows_.finish_row();
    w_.row(0)[0] = 1, w_.row(0)[1] = -1;
    w_.row(1)[0] = 100, w_.row(1)[1] = 200;
    w_.row(2)[0] = 4, w_.row(2)[1] = 8;
  }

  SparseRows rows_;
  Weights w_{{3, 2}};
  Workspace ws_;
};

TEST_F(SmallRows, ScoreIsTheWeightedSumOfRows) {
  const RowFeatures features(rows_, {3, 2});
  std::vector<float> s(2);
  features.score(0, w_, 10.0f, std::span<float>(s), ws_);
  EXPECT_EQ(s, (std::vector<float>{10 * (2 * 1 - 0.5f * 4), 10 * (2 * -1 - 0.5f * 8)}));
  features.score(1, w_, 10.0f, std::span<float>(s), ws_);
  EXPECT_EQ(s, (std::vector<float>{0, 0}));
}

TEST_F(SmallRows, AccumulateChangesTheRowsOfTheExample) {
  const RowFeatures features(rows_, {3, 2});
  features.accumulate(0, std::vector<float>{1, -3}, w_);
  EXPECT_EQ(std::vector<float>(w_.values().begin(), w_.values().end()),
            (std::vector<float>{3, -7, 100, 200, 3.5, 9.5}));
}

TEST_F(SmallRows, SquaredLength) {
  const RowFeatures features(rows_, {3, 2});
  EXPECT_EQ(features.squared_length(0), 4.25);
  EXPECT_EQ(features.squared_length(1), 0);
}

TEST(RowFeatures, AnExampleWithoutAttributesInATableWithoutRows) {
  SparseRows rows;
  rows.finish_row();
  const RowFeatures features(rows, {0, 20});
  DoubleWeights w({0, 20});
  std::vector<double> s(20, 1);
  Workspace ws;
  features.score(0, w, 1.0, std::span<double>(s), ws);
  EXPECT_EQ(s, std::vector<double>(20, 0));
  features.accumulate(0, std::span<const double>(s), w);
  EXPECT_EQ(features.squared_length(0), 0);
}

TEST(SparseRows, ValuesAreStoredOnceOneIsNotOne) {
  SparseRows rows;
  rows.add(7, 1);
  rows.add(9, 1);
  rows.finish_row();
  EXPECT_TRUE(rows.row(0).values.empty());
  EXPECT_EQ(rows.row(0).value(1), 1);
  rows.add(3, 0.5);
  rows.add(4, 1);
  rows.finish_row();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.num_entries(), 4u);
  const auto first = rows.row(0), second = rows.row(1);
  EXPECT_EQ(std::vector<float>(first.values.begin(), first.values.end()), (std::vector<float>{1, 1}));
  EXPECT_EQ(std::vector<std::uint32_t>(second.ids.begin(), second.ids.end()),
            (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(std::vector<float>(second.values.begin(), second.values.end()), (std::vector<float>{0.5, 1}));
}

TEST(Weights, StrideDependsOnTheWidthAlone) {
  const std::vector<std::size_t> expected{0, 1, 2, 4, 4, 8, 8, 8, 8, 16};
  for (std::size_t width = 0; width < expected.size(); ++width)
    EXPECT_EQ(row_stride(width), expected[width]) << width;
}

TEST(Weights, FillLeavesThePaddingZero) {
  Weights w({3, 5});
  w.fill(2);
  EXPECT_EQ(euclidean_squared_norm(w), 3 * 5 * 4);
  DoubleWeights scaled;
  scaled.assign(w, -0.5);
  EXPECT_EQ(scaled.shape(), (WeightShape{3, 5}));
  EXPECT_EQ(scaled.row(2)[4], -1);
  EXPECT_EQ(scaled.row(2)[5], 0);
}

}  // namespace
}  // namespace espalier::row_features_test
