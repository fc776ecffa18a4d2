#include "kernels/entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "espalier/base/random.h"
#include "support/simd_targets.h"

namespace espalier {
namespace {

// Masses of all sizes, many of them zero or next to it. Vectors lie one element into their memory, and end with it, so that a
// sanitizer sees a step outside.
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

TEST(Entropy, AlongALineIsThatOfTheReference) {
  test_support::for_each_simd_target([] {
    Random random(3);
    for (std::size_t n = 0; n <= 600; n += n < 70 ? 1 : 97) {
      const auto p = random_masses(random, n), q = random_masses(random, n);
      for (const float step : {0.0f, 1e-3f, 0.4f, 1.0f}) {
        const auto sum = kernels::entropy_along(p.data() + 1, q.data() + 1, step, n);
        const auto expected = kernels::reference::entropy_along(p.data() + 1, q.data() + 1, step, n);
        const double size = static_cast<double>(n + 1);
        EXPECT_NEAR(sum.value, expected.value, 2e-7 * size) << n;
        // d log x, with a logarithm of 23 at most
        EXPECT_NEAR(sum.first, expected.first, 3e-6 * size) << n;
        EXPECT_NEAR(sum.second, expected.second, 1e-6 * (size - expected.second)) << n;
        EXPECT_TRUE(std::isfinite(sum.value) && std::isfinite(sum.first) && std::isfinite(sum.second));
      }
    }
  });
}

TEST(Entropy, MixIsThatOfTheReference) {
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
