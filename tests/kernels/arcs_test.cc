#include "kernels/arcs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "support/simd_targets.h"

namespace espalier::arcs_test {
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
    for (std::size_t n = 0; n <= 40; ++n) {
      for (const unsigned bits : {4u, 9u, 22u, 31u}) {
        constexpr std::size_t kHeads = 3;
        const std::size_t stride = n + 2;
        const auto heads = random_row(random, kHeads * stride), modifier = random_row(random, n);
        const kernels::ArcKeyRows keys{heads.data(), modifier.data(), stride, n, (1u << bits) - 1};
        std::vector<kernels::ArcEnd> arcs;
        for (std::uint32_t column = 1; column <= 7; ++column)
          arcs.push_back({static_cast<std::uint32_t>(random.below(kHeads)), column});
        std::vector<std::uint32_t> places(2 * n * arcs.size() + kBehind), expected(2 * n * arcs.size());
        kernels::arc_places(keys, arcs.data(), arcs.size(), places.data());
        kernels::reference::arc_places(keys, arcs.data(), arcs.size(), expected.data());
        places.resize(expected.size());
        ASSERT_EQ(places, expected) << n << " features, " << bits << " bits";
      }
    }
  });
}

// Lines of weights, and places on them.
constexpr std::size_t kLines = 9;
template <class Real>
AlignedVector<Real> random_lines(Random& random, std::size_t lines) {
  AlignedVector<Real> values(lines * kernels::kLineOfWeights);
  for (Real& x : values) x = static_cast<Real>(random.below(2001)) / 8 - 125;  // their sums are exact
  return values;
}
std::vector<std::uint32_t> random_places(Random& random, std::size_t n) {
  std::vector<std::uint32_t> places(n);
  for (std::uint32_t& place : places)
    place = static_cast<std::uint32_t>(random.below(kLines * kernels::kLineOfWeights));
  return places;
}

template <class Real, class Sum>
void expect_sums_of_rows() {
  Random random(3);
  const auto w = random_lines<Real>(random, kLines);
  constexpr std::size_t kRows = 5;
  for (std::size_t num_arcs = 0; num_arcs <= 6; ++num_arcs) {
    std::vector<kernels::RowSum> sums;
    std::vector<kernels::ArcEnd> arcs;
    std::size_t num_places = 0;
    for (std::size_t k = 0; k < num_arcs; ++k) {
      const auto row = static_cast<std::uint32_t>(random.below(kRows)),
                 start = random.below(2) == 0 ? row : static_cast<std::uint32_t>(random.below(kRows)),
                 n = static_cast<std::uint32_t>(random.below(4));
      sums.push_back({row, start, n});
      arcs.push_back({0, static_cast<std::uint32_t>(random.below(kernels::kArcColumns))});
      num_places += n;
    }
    const auto places = random_places(random, num_places);
    const Sum threshold = num_arcs % 2 == 0 ? 0 : Sum{0.25};
    auto rows = random_lines<Sum>(random, kRows), expected_rows = rows;
    AlignedVector<Sum> totals(num_arcs, Sum{3}), expected = totals;
    kernels::sum_rows_of_arcs(w.data(), threshold, places.data(), sums.data(), arcs.data(), num_arcs,
                              rows.data(), totals.data());
    kernels::reference::sum_rows_of_arcs(w.data(), threshold, places.data(), sums.data(), arcs.data(),
                                         num_arcs, expected_rows.data(), expected.data());
    ASSERT_EQ(totals, expected);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kernels::kArcColumns; ++c) {
        const std::size_t at = r * kernels::kLineOfWeights + c;
        ASSERT_EQ(rows[at], expected_rows[at]) << "row " << r << ", column " << c;
      }
    }
  }
}

TEST(ArcRows, SumsOfEveryTargetAreThoseOfTheReference) {
  test_support::for_each_simd_target([] {
    expect_sums_of_rows<float, float>();
    expect_sums_of_rows<double, double>();
    expect_sums_of_rows<float, double>();
  });
}

template <class Real>
void expect_added_row() {
  Random random(4);
  auto w = random_lines<Real>(random, kLines), expected = w;
  auto row = random_lines<Real>(random, 1);
  std::fill(row.begin() + kernels::kArcColumns, row.end(), Real{0});
  // Every place of a line, also several on one.
  auto places = random_places(random, 20);
  for (std::uint32_t place = 0; place < kernels::kLineOfWeights; ++place) places.push_back(place);
  kernels::add_row(places.data(), places.size(), row.data(), w.data());
  kernels::reference::add_row(places.data(), places.size(), row.data(), expected.data());
  EXPECT_EQ(w, expected);
}

TEST(ArcRows, ChangesOfEveryTargetAreThoseOfTheReference) {
  test_support::for_each_simd_target([] {
    expect_added_row<float>();
    expect_added_row<double>();
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
}  // namespace espalier::arcs_test
