#include "kernels/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "support/simd_targets.h"

namespace espalier::changes_test {
namespace {

using kernels::RowChange;

// A list of changes of all kinds, most of which meet others.
template <class Real>
struct RandomList {
  explicit RandomList(std::uint64_t seed, bool some_columns) {
    Random random(seed);
    const std::size_t widest = some_columns ? 64 : 150;
    for (std::size_t n = random.below(60); n > 0; --n) {
      while (values.size() % 16 != 0) values.push_back(0);
      const std::size_t width = random.below(4) == 0   ? 1
                                : random.below(4) == 0 ? 24
                                                       : random.below(widest + 1);
      const std::size_t shift = width == kernels::kTurnedLine ? 0 : random.below(16);
      const auto source = static_cast<std::uint32_t>(values.size() + shift);
      const bool turned = width == kernels::kTurnedLine;
      const float scale = turned || random.below(2) == 0 ? 1.0f : static_cast<float>(random.uniform() - 0.5);
      changes.push_back({random.below(kWeights - widest), width, source, scale});
      columns.push_back(random.below(3) == 0 ? ~std::uint64_t{0} : random.next());
      for (std::size_t k = 0; k < std::max<std::size_t>(width, 16) + shift; ++k)
        values.push_back(static_cast<Real>(random.uniform() - 0.5));
    }
    w.resize(kWeights);
    for (Real& x : w) x = static_cast<Real>(random.uniform() - 0.5);
  }
  static constexpr std::size_t kWeights = 320;
  std::vector<RowChange> changes;
  std::vector<std::uint64_t> columns;
  AlignedVector<Real> values, w;
};

template <class Real>
void check_all_targets() {
  test_support::for_each_simd_target([] {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const bool some_columns = seed % 2 == 1;
      const RandomList<Real> list(seed, some_columns);
      const std::uint64_t* columns = some_columns ? list.columns.data() : nullptr;
      auto found = list.w, expected = list.w;
      kernels::add_changes(list.changes.data(), columns, list.changes.size(), list.values.data(),
                           found.data());
      kernels::reference::add_changes(list.changes.data(), columns, list.changes.size(), list.values.data(),
                                      expected.data());
      const double tolerance = sizeof(Real) == 4 ? 2e-6 : 1e-14;
      for (std::size_t j = 0; j < found.size(); ++j)
        ASSERT_NEAR(found[j], expected[j], tolerance) << "weight " << j << ", seed " << seed;
    }
  });
}

TEST(AddChanges, FloatAgreesWithTheReference) { check_all_targets<float>(); }
TEST(AddChanges, DoubleAgreesWithTheReference) { check_all_targets<double>(); }

// Each row is one sum, so that there is only one way to round it.
template <class Real>
void check_owned_rows() {
  test_support::for_each_simd_target([] {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Random random(seed);
      constexpr std::size_t kStrides[] = {1, 2, 4, 8, 16, 24, 32, 40};
      const std::size_t stride = kStrides[random.below(8)], tokens = 1 + random.below(12), rows = 20;
      std::vector<std::uint32_t> ids;
      std::vector<std::uint16_t> of;
      std::vector<std::uint8_t> moves;
      AlignedVector<Real> x(tokens * stride), w(rows * stride);
      for (Real& value : x) value = static_cast<Real>(random.uniform() - 0.5);
      for (Real& value : w) value = static_cast<Real>(random.uniform() - 0.5);
      for (std::size_t t = 0; t < tokens; ++t) {
        moves.push_back(random.below(3) != 0);
        for (std::size_t n = random.below(8); n > 0; --n) {
          ids.push_back(static_cast<std::uint32_t>(random.below(rows)));
          of.push_back(static_cast<std::uint16_t>(t));
        }
      }
      AlignedVector<Real> expected = w;
      const kernels::OwnedTokens owned{ids.data(), of.data(), ids.size()};
      kernels::add_owned(owned, moves.data(), stride, x.data(), w.data());
      kernels::reference::add_owned(owned, moves.data(), stride, x.data(), expected.data());
      ASSERT_EQ(w, expected) << "seed " << seed;
    }
  });
}

TEST(AddOwned, FloatAgreesWithTheReference) { check_owned_rows<float>(); }
TEST(AddOwned, DoubleAgreesWithTheReference) { check_owned_rows<double>(); }

// Neighbours belong to others, who may be writing them.
TEST(AddChanges, WritesNothingBesideTheRow) {
  test_support::for_each_simd_target([] {
    for (std::size_t width = 1; width <= 70; ++width) {
      const std::vector<float> values(width, 1.0f);
      const RowChange change{5, width, 0, 1.0f};
      std::vector<float> w(width + 5);  // the memory ends with the row
      kernels::add_changes(&change, nullptr, 1, values.data(), w.data());
      for (std::size_t j = 0; j < w.size(); ++j) ASSERT_EQ(w[j], j < 5 ? 0.0f : 1.0f) << "width " << width;
    }
  });
}

}  // namespace
}  // namespace espalier::changes_test
