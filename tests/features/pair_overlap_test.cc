#include "features/pair_overlap.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace espalier {
namespace {

// Attribute 0 goes with labels 0 and 2, attribute 1 with label 1, attribute 2 with none, attribute 3 with all
// three.
std::shared_ptr<const ObservedPairs> some_pairs() {
  return std::make_shared<ObservedPairs>(std::vector<std::uint64_t>{0, 2, 3, 3, 6},
                                         std::vector<std::uint32_t>{0, 2, 1, 0, 1, 2});
}

void add_row(SparseRows& rows, const std::vector<std::pair<std::uint32_t, float>>& entries) {
  for (const auto& [attribute, value] : entries) rows.add(attribute, value);
  rows.finish_row();
}

class PairOverlapTest : public ::testing::Test {
 protected:
  double squared_norm(std::size_t i, const std::vector<double>& delta) {
    const std::vector<float> rounded(delta.begin(), delta.end());
    const double exact = overlap_.squared_norm(i, std::span<const double>(delta));
    EXPECT_EQ(overlap_.squared_norm(i, std::span<const float>(rounded)), exact);
    return exact;
  }

  SparseRows rows_;
  PairOverlap overlap_{some_pairs(), 3};
};

TEST_F(PairOverlapTest, AttributesOfOneRowCountAtTheirLabels) {
  add_row(rows_, {{0, 2}, {2, 5}});
  add_row(rows_, {{1, 3}});
  overlap_.add_example(rows_, 0, 2);
  overlap_.finish();
  // 2^2 (1^2 + 3^2) and 3^2 5^2
  EXPECT_EQ(squared_norm(0, {1, 2, 3, 4, 5, 6}), 40 + 225);
  // Two labels of attribute 0 may differ, one of attribute 1, none of attribute 2.
  EXPECT_EQ(overlap_.largest_squared_norm(0), 2 * 4 + 9);
}

TEST_F(PairOverlapTest, SharedAttributesAddUpFirst) {
  add_row(rows_, {{3, 1}, {0, 1}});
  add_row(rows_, {{3, -2}});
  overlap_.add_example(rows_, 0, 2);
  // (1 - 8)^2 + (2 - 10)^2 + (3 - 12)^2, and 1^2 + 3^2 of attribute 0
  EXPECT_EQ(squared_norm(0, {1, 2, 3, 4, 5, 6}), 49 + 64 + 81 + 10);
  EXPECT_EQ(overlap_.largest_squared_norm(0), 2 * 9 + 2);
}

TEST_F(PairOverlapTest, ExamplesOneAfterTheOther) {
  add_row(rows_, {{1, 1}});
  add_row(rows_, {});
  add_row(rows_, {{0, 0}, {0, 1}, {3, 1}});
  overlap_.add_example(rows_, 1, 2);
  overlap_.add_example(rows_, std::vector<std::uint32_t>{2, 0});
  EXPECT_EQ(squared_norm(0, {7, 8, 9}), 0);
  EXPECT_EQ(overlap_.largest_squared_norm(0), 0);
  // Attribute 3 of the first row, 1 of the second. Attribute 0 stands twice in a row, and is shared with
  // itself.
  EXPECT_EQ(squared_norm(1, {1, 2, 3, 4, 5, 6}), 1 + 4 + 9 + 25 + 1 + 9);
}

}  // namespace
}  // namespace espalier
