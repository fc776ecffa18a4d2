#include "kernels/arcs.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "support/simd_targets.h"

namespace espalier {
namespace {

// What the kernel may read behind its rows, and write after the places. Memory ends there, so that a
// sanitizer sees a step further.
constexpr std::size_t kBehind = 15;

std::vector<std::uint32_t> random_row(Random& random, std::size_t n) {
  std::vector<std::uint32_t> row(n + kBehind);
  for (std::uint32_t& x : row) x = static_cast<std::uint32_t>(random.next());
  return row;
}

TEST(ArcPlaces, OfEveryTargetAreThoseOfTheReference) {
  test_support::for_each_simd_target([] {
    Random random(1);
    for (std::size_t n = 0; n <= 70; ++n) {
      for (const unsigned bits : {4u, 9u, 22u, 31u}) {
        for (std::uint32_t column = 1; column <= 7; ++column) {
          const auto head = random_row(random, n), modifier = random_row(random, n);
          const auto direction = static_cast<std::uint32_t>(random.next());
          const std::uint32_t mask = (1u << bits) - 1;
          std::vector<std::uint32_t> places(2 * n + kBehind), expected(2 * n);
          kernels::arc_places(head.data(), modifier.data(), n, direction, column, mask, places.data());
          kernels::reference::arc_places(head.data(), modifier.data(), n, direction, column, mask,
                                         expected.data());
          places.resize(2 * n);
          ASSERT_EQ(places, expected) << n << " features, " << bits << " bits, column " << column;
        }
      }
    }
  });
}

// With every distance it has a place of its own on one cache line, in the smallest space too.
TEST(ArcPlaces, AFeatureHasACacheLineForAllItsDistances) {
  Random random(2);
  for (int draw = 0; draw < 1000; ++draw) {
    const auto key = static_cast<std::uint32_t>(random.next());
    EXPECT_EQ(kernels::place_in_column(key, 0), key);
    std::vector<bool> taken(16);
    for (std::uint32_t column = 0; column <= 7; ++column) {
      const std::uint32_t place = kernels::place_in_column(key, column);
      EXPECT_EQ(place / 16, key / 16);
      EXPECT_FALSE(taken[place % 16]) << "column " << column;
      taken[place % 16] = true;
    }
  }
}

}  // namespace
}  // namespace espalier
