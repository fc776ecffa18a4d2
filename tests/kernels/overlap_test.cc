#include "kernels/overlap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "support/simd_targets.h"

namespace espalier {
namespace {

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

// Groups of one member and more, some with the same row twice. Everything is in memory that ends where it
// ends, so that a sanitizer sees a read after it.
struct RandomOverlap {
  std::vector<double> own;
  std::vector<std::uint32_t> members;
  std::vector<float> values;

  RandomOverlap(Random& random, std::size_t rows, std::size_t groups, bool with_values)
      : with_values_(with_values) {
    for (std::size_t r = 0; r < rows; ++r) own.push_back(r % 3 == 1 ? 0 : between(random, 0, 5));
    for (std::size_t g = 0; g < groups && rows > 0; ++g) {
      const std::size_t size = 1 + random.below(2 * rows);
      for (std::size_t j = 0; j < size; ++j) {
        members.push_back(static_cast<std::uint32_t>(random.below(rows)));
        if (with_values) values.push_back(static_cast<float>(between(random, -3, 3)));
      }
      members.back() |= kernels::kEndOfGroup;
    }
    members.shrink_to_fit();
    values.shrink_to_fit();
    own.shrink_to_fit();
  }

  kernels::Overlap view() const {
    return {own.data(), own.size(), members.data(), with_values_ ? values.data() : nullptr, members.size()};
  }

 private:
  bool with_values_;
};

// The sum of the absolute terms, which rounding errors are measured by.
double magnitude(RandomOverlap overlap, std::vector<float> delta, std::size_t width) {
  for (float& v : overlap.values) v = std::abs(v);
  for (float& d : delta) d = std::abs(d);
  return kernels::reference::overlap_norm(overlap.view(), delta.data(), width);
}

void check_norm(Random& random, const RandomOverlap& overlap, std::size_t width) {
  std::vector<float> memory(1 + overlap.own.size() * width);  // one in front, so that nothing is aligned
  for (float& d : memory) d = static_cast<float>(between(random, -1, 1));
  const std::vector<float> delta(memory.begin() + 1, memory.end());
  const double expected = kernels::reference::overlap_norm(overlap.view(), delta.data(), width);
  ASSERT_NEAR(kernels::overlap_norm(overlap.view(), memory.data() + 1, width), expected,
              1e-6 * magnitude(overlap, delta, width))
      << overlap.own.size() << " rows of " << width << ", " << overlap.members.size() << " members"
      << (overlap.values.empty() ? "" : " with values");
}

TEST(OverlapNorm, AgreesWithTheReference) {
  std::vector<std::size_t> widths{121, 128, 200, 256, 333};
  for (std::size_t width = 1; width <= 70; ++width) widths.push_back(width);
  test_support::for_each_simd_target([&] {
    Random random(21);
    for (const std::size_t width : widths) {
      for (const std::size_t rows : {1, 2, 3, 7, 40}) {
        for (const std::size_t groups : {0, 1, 4, 15}) {
          for (const bool with_values : {false, true}) {
            check_norm(random, RandomOverlap(random, rows, groups, with_values), width);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

TEST(OverlapNorm, IsZeroWithoutRows) {
  test_support::for_each_simd_target([] {
    for (const std::size_t width : {1, 9, 70}) {
      EXPECT_EQ(kernels::overlap_norm({nullptr, 0, nullptr, nullptr, 0}, nullptr, width), 0);
    }
  });
}

// Two rows of three, small enough to do by hand: 2 |d_0|^2 + |d_0 - 3 d_1|^2 + |d_1|^2.
TEST(OverlapNorm, ByHand) {
  const std::vector<double> own{2, 0};
  const std::vector<std::uint32_t> members{0, 1 | kernels::kEndOfGroup, 1 | kernels::kEndOfGroup};
  const std::vector<float> values{1, -3, 1};
  const std::vector<float> delta{1, 2, 0, 1, 0, -1};
  test_support::for_each_simd_target([&] {
    EXPECT_EQ(kernels::overlap_norm({own.data(), 2, members.data(), values.data(), 3}, delta.data(), 3),
              2 * 5 + (4 + 4 + 9) + 2);
  });
}

}  // namespace
}  // namespace espalier
