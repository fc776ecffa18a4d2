#include "features/row_overlap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

// Rows that share attributes, have some twice, and may be empty.
SparseRows random_rows(Random& random, std::size_t count, std::size_t attributes, bool with_values) {
  SparseRows rows;
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t length = random.below(4) == 0 ? 0 : random.below(2 * attributes + 1);
    for (std::size_t j = 0; j < length; ++j) {
      rows.add(static_cast<std::uint32_t>(random.below(attributes)),
               with_values ? static_cast<float>(4 * random.uniform() - 2) : 1.0f);
    }
    rows.finish_row();
  }
  return rows;
}

// sum over a and k of ( sum_r x_ra delta_rk )^2, from the whole matrix of values. With `absolute`, of
// absolute values: what rounding errors are measured by.
template <class Real>
double dense_norm(const SparseRows& rows, std::span<const std::uint32_t> of_example, std::size_t attributes,
                  std::span<const Real> delta, std::size_t width, bool absolute = false) {
  std::vector<double> sums(attributes * width);
  for (std::size_t r = 0; r < of_example.size(); ++r) {
    const SparseRows::Row row = rows.row(of_example[r]);
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      for (std::size_t k = 0; k < width; ++k) {
        const double term = static_cast<double>(row.value(j)) * delta[r * width + k];
        sums[row.ids[j] * width + k] += absolute ? std::abs(term) : term;
      }
    }
  }
  return std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
}

template <class Real>
std::vector<Real> random_delta(Random& random, std::size_t size) {
  std::vector<Real> delta(size);
  for (Real& d : delta) d = static_cast<Real>(2 * random.uniform() - 1);
  return delta;
}

template <class Real>
void check_norm(Random& random, const RowOverlap& overlap, std::size_t i, const SparseRows& rows,
                const std::vector<std::uint32_t>& of_example, std::size_t attributes, double tolerance) {
  for (const std::size_t width : {1, 3, 22, 40}) {
    const auto delta = random_delta<Real>(random, of_example.size() * width);
    const std::span<const Real> in(delta);
    RC_ASSERT(
        std::abs(overlap.squared_norm(i, in, width) - dense_norm(rows, of_example, attributes, in, width)) <=
        tolerance * dense_norm(rows, of_example, attributes, in, width, true));
  }
}

// One table of rows, whose examples are ranges and selections of them, in any order.
RC_GTEST_PROP(RowOverlap, NormIsThatOfTheExplicitSum, (std::uint64_t seed)) {
  Random random(seed);
  const auto attributes = *rc::gen::element<std::size_t>(1, 2, 5, 30);
  const auto count = *rc::gen::inRange<std::size_t>(1, 12);
  const SparseRows rows = random_rows(random, count, attributes, *rc::gen::arbitrary<bool>());
  RowOverlap overlap(attributes);
  std::vector<std::vector<std::uint32_t>> examples;
  for (int i = 0; i < 6; ++i) {
    std::vector<std::uint32_t> chosen(count);
    std::iota(chosen.begin(), chosen.end(), 0u);
    if (i % 2 == 0) {
      const std::size_t begin = random.below(count + 1), end = begin + random.below(count + 1 - begin);
      overlap.add_example(rows, begin, end);
      chosen = {chosen.begin() + static_cast<std::ptrdiff_t>(begin),
                chosen.begin() + static_cast<std::ptrdiff_t>(end)};
    } else {
      random.shuffle(std::span(chosen));
      chosen.resize(random.below(count + 1));
      overlap.add_example(rows, chosen);
    }
    examples.push_back(chosen);
  }
  overlap.finish();
  for (std::size_t i = 0; i < examples.size(); ++i) {
    check_norm<float>(random, overlap, i, rows, examples[i], attributes, 1e-6);
    check_norm<double>(random, overlap, i, rows, examples[i], attributes, 1e-14);
  }
}

RC_GTEST_PROP(RowOverlap, LargestSquaredNormBoundsAndIsReached, (std::uint64_t seed)) {
  Random random(seed);
  const auto attributes = *rc::gen::element<std::size_t>(1, 2, 5, 30);
  const auto count = *rc::gen::inRange<std::size_t>(1, 12);
  const bool with_values = *rc::gen::arbitrary<bool>();
  const SparseRows rows = random_rows(random, count, attributes, with_values);
  RowOverlap overlap(attributes);
  overlap.add_example(rows, 0, count);
  overlap.finish();
  constexpr std::size_t kWidth = 3;
  const double largest = overlap.largest_squared_norm(0);
  for (int t = 0; t < 20; ++t) {
    auto delta = random_delta<double>(random, count * kWidth);
    for (std::size_t r = 0; r < count; ++r) {
      double length = 0;
      for (std::size_t k = 0; k < kWidth; ++k) length += delta[r * kWidth + k] * delta[r * kWidth + k];
      for (std::size_t k = 0; k < kWidth; ++k) delta[r * kWidth + k] /= std::sqrt(length);
    }
    RC_ASSERT(overlap.squared_norm(0, std::span<const double>(delta), kWidth) <= largest * (1 + 1e-13));
  }
  // Where nothing is negative, one direction for all of them is the worst.
  if (with_values) return;
  const std::vector<double> ones(count, 1);
  RC_ASSERT(std::abs(overlap.squared_norm(0, std::span<const double>(ones), 1) - largest) <= 1e-14 * largest);
}

// Rows {0: 2, 1: 1}, {}, {1: 3, 2: 1, 2: -0.5}: attribute 0 is the first row's own, 1 is shared, and 2 comes
// twice.
TEST(RowOverlap, ByHand) {
  SparseRows rows;
  rows.add(0, 2);
  rows.add(1, 1);
  rows.finish_row();
  rows.finish_row();
  rows.add(1, 3);
  rows.add(2, 1);
  rows.add(2, -0.5);
  rows.finish_row();
  RowOverlap overlap(3);
  overlap.add_example(rows, 0, 3);
  overlap.add_example(rows, 1, 2);
  overlap.add_example(rows, std::vector<std::uint32_t>{2, 0});
  overlap.finish();
  const std::vector<float> delta{1, 2, 100, 100, -1, 1};
  const double expected = 4 * 5 + (2 * 2 + 5 * 5) + 0.25 * 2;
  EXPECT_EQ(overlap.squared_norm(0, std::span<const float>(delta), 2), expected);
  EXPECT_EQ(overlap.largest_squared_norm(0), 4 + 16 + 2.25);
  EXPECT_EQ(overlap.squared_norm(1, std::vector<float>{5, 5}, 2), 0);
  EXPECT_EQ(overlap.largest_squared_norm(1), 0);
  EXPECT_EQ(overlap.squared_norm(2, std::vector<double>{-1, 1, 1, 2}, 2), expected);
}

}  // namespace
}  // namespace espalier
