#include "kernels/tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "support/simd_targets.h"

namespace espalier::tables_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Tables lie one element into their memory, and end with it, so that a sanitizer sees a step outside. Some
// entries, and all of the first column, are -infinity.
std::vector<double> random_table(Random& random, std::size_t rows, std::size_t width, double range) {
  std::vector<double> table(1 + rows * width, 7);
  for (std::size_t k = 0; k < rows * width; ++k) {
    const bool excluded = random.below(5) == 0 || (width > 1 && k % width == 0);
    table[1 + k] = excluded ? -kInfinity : range * (2 * random.uniform() - 1);
  }
  return table;
}

TEST(Tables, LogarithmsAgreeWithTheReference) {
  test_support::for_each_simd_target([] {
    Random random(2);
    for (std::size_t n = 1; n < 20; ++n) {
      std::vector<double> x(1 + n, 7), expected;
      for (std::size_t k = 1; k <= n; ++k) x[k] = k % 4 == 0 ? 0 : std::exp(600 * (2 * random.uniform() - 1));
      x.back() = 1;
      expected = x;
      kernels::log_plus(x.data() + 1, n, -3.5);
      kernels::reference::log_plus(expected.data() + 1, n, -3.5);
      EXPECT_EQ(x[0], 7);
      for (std::size_t k = 1; k <= n; ++k) {
        if (expected[k] == -kInfinity) {
          ASSERT_EQ(x[k], -kInfinity);
        } else {
          ASSERT_NEAR(x[k], expected[k], 1e-14 * (1 + std::abs(expected[k])));
        }
      }
    }
  });
}

TEST(Tables, AgreeWithTheReference) {
  test_support::for_each_simd_target([] {
    Random random(1);
    for (const double range : {1.0, 50.0, 1000.0}) {
      for (const std::size_t width : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31}) {
        for (const std::size_t rows : {1, 2, 3, 8, 17}) {
          auto table = random_table(random, rows, width, range);
          std::vector<double> sums(1 + width, 7), expected(width);
          kernels::log_sum_rows(table.data() + 1, rows, width, sums.data() + 1);
          kernels::reference::log_sum_rows(table.data() + 1, rows, width, expected.data());
          EXPECT_EQ(sums[0], 7);
          for (std::size_t k = 0; k < width; ++k) {
            if (expected[k] == -kInfinity) {
              ASSERT_EQ(sums[1 + k], -kInfinity) << rows << " x " << width;
            } else {
              ASSERT_NEAR(sums[1 + k], expected[k], 1e-14 * (1 + std::abs(expected[k])))
                  << rows << " x " << width;
            }
          }
          // Shifts as they come: minus the sums, and -infinity where those are.
          std::vector<double> shift(width);
          for (std::size_t k = 0; k < width; ++k)
            shift[k] = expected[k] == -kInfinity ? -kInfinity : -expected[k];
          std::vector<double> exponentials(table.begin() + 1, table.end());
          kernels::reference::exp_rows(exponentials.data(), rows, width, shift.data());
          kernels::exp_rows(table.data() + 1, rows, width, shift.data());
          EXPECT_EQ(table[0], 7);
          for (std::size_t k = 0; k < rows * width; ++k) {
            ASSERT_NEAR(table[1 + k], exponentials[k], 1e-13 * exponentials[k] + 1e-300)
                << rows << " x " << width;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace espalier::tables_test
