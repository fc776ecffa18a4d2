#include "kernels/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "espalier/features/weights.h"
#include "support/simd_targets.h"

namespace espalier::rows_test {
namespace {

constexpr std::size_t kRows = 307;
constexpr std::size_t kWidest = 70;
const std::vector<std::size_t> kLengths{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 64, 129, 300};

// Relative to the sum of the absolute terms.
template <class Real>
constexpr double kTolerance = sizeof(Real) == 4 ? 1e-6 : 1e-14;

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

template <class Real>
BasicWeights<Real> random_weights(Random& random, std::size_t width) {
  BasicWeights<Real> w({kRows, width});
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t k = 0; k < width; ++k) w.row(r)[k] = static_cast<Real>(between(random, -2, 2));
  }
  return w;
}

// Distinct ids in random order, in memory that ends where the row ends, so that a sanitizer sees a read
// after it.
struct RandomRow {
  std::vector<std::uint32_t> ids;
  std::vector<float> values;

  RandomRow(Random& random, std::size_t length, bool with_values) {
    std::vector<std::uint32_t> all(kRows);
    std::iota(all.begin(), all.end(), 0u);
    random.shuffle(std::span(all));
    ids = std::vector<std::uint32_t>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
    for (std::size_t j = 0; with_values && j < length; ++j) {
      values.push_back(static_cast<float>(between(random, -3, 3)));
    }
    unit_ = !with_values;
  }
  kernels::SparseRow view() const { return {ids.data(), unit_ ? nullptr : values.data(), ids.size()}; }

 private:
  bool unit_;
};

template <class W>
kernels::RowTable<const W> table(const BasicWeights<W>& w) {
  return {w.row(0), w.shape().width, w.stride()};
}
template <class W>
kernels::RowTable<W> table(BasicWeights<W>& w) {
  return {w.row(0), w.shape().width, w.stride()};
}

// Weights with what the reference needs of them: in double, and their absolute values.
template <class W>
struct Table {
  explicit Table(BasicWeights<W> weights) : w(std::move(weights)) {
    exact.assign(w);
    absolute.assign(w);
    for (double& v : absolute.values()) v = std::abs(v);
  }
  BasicWeights<W> w;
  DoubleWeights exact, absolute;
};

// Scores start one element into their memory (duals of many examples lie side by side, aligned to nothing)
// and end with it.
template <class W, class Real>
void check_scores(const Table<W>& t, const RandomRow& row, Real scale) {
  const std::size_t width = t.w.shape().width;
  constexpr Real kUntouched = 1234.5;
  std::vector<Real> memory(1 + width, kUntouched);
  kernels::score_rows(table(t.w), row.view(), scale, memory.data() + 1);
  EXPECT_EQ(memory[0], kUntouched);

  std::vector<double> expected(width), magnitude(width);
  RandomRow positive = row;
  for (float& v : positive.values) v = std::abs(v);
  const double exact_scale = scale;
  kernels::reference::score_rows(table(t.exact), row.view(), exact_scale, expected.data());
  kernels::reference::score_rows(table(t.absolute), positive.view(), std::abs(exact_scale), magnitude.data());
  for (std::size_t k = 0; k < width; ++k) {
    ASSERT_NEAR(memory[1 + k], expected[k], kTolerance<Real> * magnitude[k])
        << "width " << width << ", " << row.ids.size() << " entries, label " << k;
  }
}

template <class W, class Real>
void check_all_scores() {
  test_support::for_each_simd_target([] {
    Random random(17);
    for (std::size_t width = 1; width <= kWidest; ++width) {
      const Table<W> t(random_weights<W>(random, width));
      for (const std::size_t length : kLengths) {
        for (const bool with_values : {false, true}) {
          check_scores(t, RandomRow(random, length, with_values), static_cast<Real>(between(random, -2, 2)));
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

TEST(ScoreRows, FloatAgreesWithTheReference) { check_all_scores<float, float>(); }
TEST(ScoreRows, FloatWeightsSummedInDoubleAgreeWithTheReference) { check_all_scores<float, double>(); }
TEST(ScoreRows, DoubleAgreesWithTheReference) { check_all_scores<double, double>(); }

template <class W, class Real>
void check_nothing_behind_is_written() {
  test_support::for_each_simd_target([] {
    Random random(18);
    for (std::size_t width = 1; width <= kWidest; ++width) {
      const auto w = random_weights<W>(random, width);
      const RandomRow row(random, 5, true);
      constexpr Real kUntouched = 1234.5;
      std::vector<Real> s(width + 16, kUntouched);
      kernels::score_rows(table(w), row.view(), Real{1}, s.data());
      for (std::size_t k = width; k < s.size(); ++k)
        ASSERT_EQ(s[k], kUntouched) << "width " << width << ", at " << k;
    }
  });
}

TEST(ScoreRows, WritesNothingBehindTheScores) {
  check_nothing_behind_is_written<float, float>();
  check_nothing_behind_is_written<float, double>();
  check_nothing_behind_is_written<double, double>();
}

TEST(ScoreRows, ATableWithoutRowsScoresZero) {
  test_support::for_each_simd_target([] {
    for (std::size_t width = 1; width <= kWidest; ++width) {
      const Weights w({0, width});
      std::vector<float> s(width, 1);
      kernels::score_rows(table(w), {nullptr, nullptr, 0}, 1.0f, s.data());
      ASSERT_EQ(s, std::vector<float>(width, 0.0f));
    }
  });
}

template <class Real>
void check_accumulation(BasicWeights<Real> w, const RandomRow& row, Random& random) {
  const auto [rows, width] = w.shape();
  std::vector<Real> memory(1 + width);
  for (Real& d : memory) d = static_cast<Real>(between(random, -1, 1));
  const Real* delta = memory.data() + 1;

  const BasicWeights<Real> before = w;
  DoubleWeights expected;
  expected.assign(w);
  const std::vector<double> exact_delta(delta, delta + width);
  kernels::reference::accumulate_rows(table(expected), row.view(), exact_delta.data());
  kernels::accumulate_rows(table(w), row.view(), delta);

  std::vector<std::optional<double>> value(rows);
  for (std::size_t j = 0; j < row.ids.size(); ++j) value[row.ids[j]] = row.values.empty() ? 1 : row.values[j];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < width; ++k) {
      if (value[r]) {
        const double magnitude = std::abs(before.row(r)[k]) + std::abs(*value[r] * delta[k]);
        ASSERT_NEAR(w.row(r)[k], expected.row(r)[k], kTolerance<Real> * magnitude)
            << "width " << width << ", row " << r << ", label " << k;
      } else {
        ASSERT_EQ(w.row(r)[k], before.row(r)[k]) << "a row that was not named: " << r << ", width " << width;
      }
    }
    for (std::size_t k = width; k < w.stride(); ++k) ASSERT_EQ(w.row(r)[k], 0) << "padding, width " << width;
  }
}

template <class Real>
void check_all_accumulations() {
  test_support::for_each_simd_target([] {
    Random random(19);
    for (std::size_t width = 1; width <= kWidest; ++width) {
      const auto w = random_weights<Real>(random, width);
      for (const std::size_t length : {0, 1, 5, 300}) {
        for (const bool with_values : {false, true}) {
          check_accumulation(w, RandomRow(random, length, with_values), random);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

// Columns that may not change stay as they are, to the bit.
template <class Real>
void check_accumulation_in_columns() {
  test_support::for_each_simd_target([] {
    Random random(20);
    for (std::size_t width = 5; width <= 64; ++width) {
      const auto before = random_weights<Real>(random, width);
      std::vector<std::uint64_t> columns(kRows);
      for (std::uint64_t& bits : columns) bits = random.next();
      columns[0] = 0;
      columns[1] = ~std::uint64_t{0};
      const RandomRow row(random, 300, width % 2 == 0);
      std::vector<Real> delta(width);
      for (Real& d : delta) d = static_cast<Real>(between(random, -1, 1));
      BasicWeights<Real> w = before, expected = before;
      kernels::RowTable<Real> some = table(w), plain = table(expected);
      some.columns = plain.columns = columns.data();
      kernels::accumulate_rows(some, row.view(), delta.data());
      kernels::reference::accumulate_rows(plain, row.view(), delta.data());
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t k = 0; k < w.stride(); ++k) {
          if (k >= width || (columns[r] >> k & 1) == 0) {
            ASSERT_EQ(w.row(r)[k], before.row(r)[k]) << "width " << width << ", row " << r << ", label " << k;
          } else {
            ASSERT_NEAR(w.row(r)[k], expected.row(r)[k], 5 * kTolerance<Real>);
          }
        }
      }
    }
  });
}

TEST(AccumulateRows, SomeColumnsInFloat) { check_accumulation_in_columns<float>(); }
TEST(AccumulateRows, SomeColumnsInDouble) { check_accumulation_in_columns<double>(); }

template <class W, class Real>
void check_soft_scores() {
  test_support::for_each_simd_target([] {
    Random random(21);
    for (std::size_t width = 1; width <= kWidest; ++width) {
      const auto w = random_weights<W>(random, width);
      for (const std::size_t length : kLengths) {
        const RandomRow row(random, length, length % 2 == 0);
        kernels::RowTable<const W> soft_table = table(w);
        soft_table.threshold = {between(random, 0.1, 1.5), 40, 200};
        std::vector<Real> s(width), expected(width);
        kernels::score_rows(soft_table, row.view(), Real{0.5}, s.data());
        kernels::reference::score_rows(soft_table, row.view(), Real{0.5}, expected.data());
        for (std::size_t k = 0; k < width; ++k)
          ASSERT_NEAR(s[k], expected[k], 1000 * kTolerance<Real>) << "width " << width << ", label " << k;
      }
    }
  });
}

TEST(ScoreRows, ThresholdsAgreeWithTheReference) {
  check_soft_scores<float, float>();
  check_soft_scores<float, double>();
  check_soft_scores<double, double>();
}

TEST(AccumulateRows, FloatAgreesWithTheReference) { check_all_accumulations<float>(); }
TEST(AccumulateRows, DoubleAgreesWithTheReference) { check_all_accumulations<double>(); }

// Rows one after the other, of every length from none on and with the same few ids again and again. The range
// begins and ends in the middle, and memory ends where the entries end.
struct RandomRange {
  std::vector<std::size_t> offsets{0};
  std::vector<std::uint32_t> ids;
  std::vector<float> values;

  RandomRange(Random& random, std::size_t rows, bool with_values) : unit_(!with_values) {
    constexpr std::size_t kNamed = 12;
    std::vector<std::uint32_t> few(kNamed);
    for (std::size_t r = 0; r < rows + 2; ++r) {
      std::iota(few.begin(), few.end(), 0u);
      random.shuffle(std::span(few));
      const std::size_t length = r % 3 == 2 ? 0 : random.below(kNamed);
      ids.insert(ids.end(), few.begin(), few.begin() + static_cast<std::ptrdiff_t>(length));
      offsets.push_back(ids.size());
    }
    ids.resize(offsets[rows + 1]);
    ids.shrink_to_fit();
    if (with_values) values.resize(ids.size());
    for (float& v : values) v = static_cast<float>(between(random, -3, 3));
  }
  kernels::SparseRowRange view() const {
    return {offsets.data() + 1, ids.data(), unit_ ? nullptr : values.data(), offsets.size() - 3};
  }

 private:
  bool unit_;
};

template <class Check>
void for_each_range(const Check& check) {
  test_support::for_each_simd_target([&] {
    Random random(20);
    for (std::size_t width = 1; width <= kWidest; ++width) {
      for (const std::size_t rows : {0, 1, 2, 3, 25}) {
        for (const bool with_values : {false, true}) {
          check(random, RandomRange(random, rows, with_values), width);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

template <class W, class Real>
void check_range_scores() {
  for_each_range([](Random& random, const RandomRange& range, std::size_t width) {
    const auto w = random_weights<W>(random, width);
    const auto scale = static_cast<Real>(between(random, -2, 2));
    const std::size_t rows = range.view().size;
    std::vector<Real> s(rows * width, -7), one(rows * width, 7);
    kernels::score_row_range(table(w), range.view(), scale, s.data());
    for (std::size_t r = 0; r < rows; ++r)
      kernels::score_rows(table(w), range.view().row(r), scale, one.data() + r * width);
    ASSERT_EQ(s, one) << rows << " rows, width " << width;
  });
}

TEST(ScoreRowRange, IsRowByRow) {
  check_range_scores<float, float>();
  check_range_scores<float, double>();
  check_range_scores<double, double>();
}

template <class Real>
void check_range_accumulation() {
  for_each_range([](Random& random, const RandomRange& range, std::size_t width) {
    auto w = random_weights<Real>(random, width), one = w;
    const std::size_t rows = range.view().size;
    std::vector<Real> delta(rows * width);
    for (Real& d : delta) d = static_cast<Real>(between(random, -1, 1));
    kernels::accumulate_row_range(table(w), range.view(), delta.data());
    for (std::size_t r = 0; r < rows; ++r)
      kernels::accumulate_rows(table(one), range.view().row(r), delta.data() + r * width);
    ASSERT_TRUE(std::ranges::equal(w.values(), one.values())) << rows << " rows, width " << width;
  });
}

TEST(AccumulateRowRange, IsRowByRow) {
  check_range_accumulation<float>();
  check_range_accumulation<double>();
}

}  // namespace
}  // namespace espalier::rows_test
