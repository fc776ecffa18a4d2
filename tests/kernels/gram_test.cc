#include "kernels/gram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "espalier/features/weights.h"
#include "support/simd_targets.h"

namespace espalier::gram_test {
namespace {

using test_support::for_each_simd_target;

double between(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

AlignedVector<float> random_values(Random& random, std::size_t n, double low, double high) {
  AlignedVector<float> values(n);
  for (float& value : values) value = static_cast<float>(between(random, low, high));
  return values;
}

TEST(Gram, AddScaled) {
  for_each_simd_target([] {
    Random random(1);
    for (const std::size_t n : {std::size_t{16}, std::size_t{48}, std::size_t{160}}) {
      const auto column = random_values(random, n, -2, 2), before = random_values(random, n, -2, 2);
      auto out = before;
      kernels::add_scaled(0.75f, column.data(), out.data(), n);
      for (std::size_t v = 0; v < n; ++v) ASSERT_NEAR(out[v], before[v] + 0.75 * column[v], 1e-6) << v;
    }
  });
}

TEST(Gram, Polynomials) {
  for_each_simd_target([] {
    Random random(2);
    for (int degree = 1; degree <= 5; ++degree) {
      const auto dots = random_values(random, 48, -3, 3);
      auto found = dots, expected = dots;
      kernels::to_polynomial(0.5f, 1.25f, degree, found.data(), found.size());
      kernels::reference::to_polynomial(0.5f, 1.25f, degree, expected.data(), expected.size());
      for (std::size_t v = 0; v < dots.size(); ++v) {
        ASSERT_NEAR(found[v], expected[v], 3e-6 * (1 + std::abs(expected[v]))) << "degree " << degree;
      }
    }
  });
}

TEST(Gram, GaussiansFromOneToNothing) {
  for_each_simd_target([] {
    Random random(3);
    const auto norms = random_values(random, 160, 0, 9);
    auto dots = random_values(random, 160, -4, 4);
    for (const float gamma : {0.01f, 1.0f, 20.0f}) {
      auto found = dots, expected = dots;
      kernels::to_gaussian(gamma, 2.5f, norms.data(), found.data(), found.size());
      kernels::reference::to_gaussian(gamma, 2.5f, norms.data(), expected.data(), expected.size());
      for (std::size_t v = 0; v < dots.size(); ++v) {
        ASSERT_NEAR(found[v], expected[v], 1e-5 * expected[v] * (1 + gamma) + 1e-37) << v << " " << gamma;
      }
    }
    // No distance, and one that rounding makes less than none.
    AlignedVector<float> own(16, 2.5f), norm(16, 2.5f);
    own[1] = 2.5000002f;
    kernels::to_gaussian(1.0f, 2.5f, norm.data(), own.data(), own.size());
    EXPECT_EQ(own[0], 1);
    EXPECT_EQ(own[1], 1);
  });
}

template <class W, class Real>
void check_scores(std::size_t width, std::size_t num_rows, bool some) {
  Random random(width * 100 + num_rows);
  constexpr std::size_t kNodes = 67;
  BasicWeights<W> w({kNodes, width});
  for (std::size_t v = 0; v < kNodes; ++v) {
    for (std::size_t k = 0; k < width; ++k) w.row(v)[k] = static_cast<W>(between(random, -2, 2));
  }
  std::vector<AlignedVector<float>> gram;
  std::vector<const float*> rows;
  for (std::size_t r = 0; r < num_rows; ++r)
    gram.push_back(random_values(random, kernels::padded_nodes(kNodes), -1, 3));
  for (const auto& row : gram) rows.push_back(row.data());
  const std::vector<std::uint32_t> nodes{0, 3, 4, 9, 31, 32, 66};
  const kernels::GramRows asked{rows.data(), num_rows, some ? nodes.data() : nullptr,
                                some ? nodes.size() : kNodes};
  // Memory that ends where the scores end, so that a sanitizer sees a write after it.
  std::vector<Real> found(num_rows * width, 99), expected(num_rows * width);
  const kernels::RowTable<const W> table{w.row(0), width, w.stride()};
  kernels::score_gram(table, asked, Real{0.5}, found.data());
  kernels::reference::score_gram(table, asked, Real{0.5}, expected.data());
  const double tolerance = sizeof(Real) == 4 ? 5e-5 : 1e-12;
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_NEAR(found[k], expected[k], tolerance) << width << " wide, " << num_rows << " rows, value " << k;
  }
}

TEST(Gram, ScoresOfRowsAndNodes) {
  for_each_simd_target([] {
    for (const std::size_t width : {1, 2, 3, 4, 5, 8, 10, 16, 23, 26, 32, 40, 65}) {
      for (const std::size_t rows : {0, 1, 2, 3, 4, 5, 8}) {
        for (const bool some : {false, true}) {
          check_scores<float, float>(width, rows, some);
          check_scores<float, double>(width, rows, some);
          check_scores<double, double>(width, rows, some);
        }
      }
    }
  });
}

}  // namespace
}  // namespace espalier::gram_test
