#include "kernels/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "support/simd_targets.h"

namespace espalier {
namespace {

// Masses of all sizes, many of them zero or next to it. Vectors lie one element into their memory, and end
// with it, so that a sanitizer sees a step outside.
std::vector<float> random_masses(Random& random, std::size_t n) {
  std::vector<float> v(1 + n);
  for (float& x : v) {
    const double kind = random.uniform();
    x = kind < 0.2   ? 0
        : kind < 0.5 ? static_cast<float>(std::exp(-60 * random.uniform()))
                     : static_cast<float>(random.uniform());
  }
  return v;
}

TEST(Divergence, AlongALineIsThatOfTheReference) {
  test_support::for_each_simd_target([] {
    Random random(3);
    for (std::size_t n = 0; n <= 600; n += n < 70 ? 1 : 97) {
      const auto p = random_masses(random, n), q = random_masses(random, n);
      for (const float step : {0.0f, 1e-3f, 0.4f, 1.0f}) {
        const auto sum = kernels::divergence_along(p.data() + 1, q.data() + 1, step, n);
        const auto expected = kernels::reference::divergence_along(p.data() + 1, q.data() + 1, step, n);
        const double size = static_cast<double>(n + 1);
        // A logarithm of a ratio is 86 at most, and as exact as the ratio.
        EXPECT_NEAR(sum.value, expected.value, 3e-5 * size) << n;
        EXPECT_NEAR(sum.first, expected.first, 3e-5 * size) << n;
        EXPECT_NEAR(sum.second, expected.second, 1e-6 * (size + expected.second)) << n;
        EXPECT_TRUE(std::isfinite(sum.value) && std::isfinite(sum.first) && std::isfinite(sum.second));
      }
    }
  });
}

// Close to q everything is small, and right all the same.
TEST(Divergence, OfCloseDistributions) {
  test_support::for_each_simd_target([] {
    Random random(5);
    constexpr std::size_t kSize = 50;
    std::vector<float> p(kSize), q(kSize);
    double sum = 0;
    for (float& x : q) sum += x = static_cast<float>(0.1 + random.uniform());
    for (std::size_t k = 0; k < kSize; ++k) {
      q[k] = static_cast<float>(q[k] / sum);
      p[k] = q[k] * static_cast<float>(k % 2 ? 1 + 1e-4 : 1 - 1e-4);
    }
    const auto at = kernels::divergence_along(p.data(), q.data(), 0.5f, kSize);
    const auto expected = kernels::reference::divergence_along(p.data(), q.data(), 0.5f, kSize);
    EXPECT_NEAR(at.first, expected.first, 1e-2 * std::abs(expected.first));
    EXPECT_NEAR(at.second, expected.second, 1e-2 * expected.second);
    EXPECT_LT(std::abs(expected.first), 1e-7);
  });
}

TEST(Divergence, MixIsThatOfTheReference) {
  test_support::for_each_simd_target([] {
    Random random(4);
    for (std::size_t n = 0; n <= 70; ++n) {
      const auto q = random_masses(random, n);
      auto p = random_masses(random, n), expected = p;
      kernels::mix(p.data() + 1, q.data() + 1, 0.3f, n);
      kernels::reference::mix(expected.data() + 1, q.data() + 1, 0.3f, n);
      for (std::size_t k = 0; k <= n; ++k) EXPECT_NEAR(p[k], expected[k], 1e-7) << n;
      // The end of the way is its end.
      kernels::mix(p.data() + 1, q.data() + 1, 1.0f, n);
      for (std::size_t k = 1; k <= n; ++k) {
        EXPECT_EQ(p[k], q[k]) << n;
      }
    }
  });
}

}  // namespace
}  // namespace espalier
