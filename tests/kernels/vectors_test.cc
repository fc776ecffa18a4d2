#include "kernels/vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "support/simd_targets.h"

namespace espalier::vectors_test {
namespace {

// Vectors lie one element into their memory, and end with it, so that a sanitizer sees a step outside.
std::vector<float> random_vector(Random& random, std::size_t n, double lowest, double highest) {
  std::vector<float> v(1 + n);
  for (float& x : v) x = static_cast<float>(lowest + (highest - lowest) * random.uniform());
  return v;
}

TEST(Vectors, SumsAreThoseOfTheReference) {
  test_support::for_each_simd_target([] {
    Random random(3);
    for (std::size_t n = 0; n <= 70; ++n) {
      const auto a = random_vector(random, n, -5, 5), b = random_vector(random, n, -5, 5);
      // Products of floats are exact in double; only the order of a few additions differs.
      const double bound = 1e-14 * 25 * static_cast<double>(n + 1);
      EXPECT_NEAR(kernels::dot(a.data() + 1, b.data() + 1, n),
                  kernels::reference::dot(a.data() + 1, b.data() + 1, n), bound)
          << n;
      EXPECT_NEAR(kernels::squared_norm(a.data() + 1, n), kernels::reference::squared_norm(a.data() + 1, n),
                  bound)
          << n;
    }
  });
}

TEST(Vectors, ChangeAlongADirectionIsThatOfTheReference) {
  test_support::for_each_simd_target([] {
    Random random(4);
    for (std::size_t n = 0; n <= 70; ++n) {
      const auto d = random_vector(random, n, -50, 50), mu = random_vector(random, n, 0, 1);
      const auto new_mu = random_vector(random, n, 0, 1);
      std::vector<float> delta(1 + n, 7.0f), expected_delta(1 + n, 7.0f);
      const auto change =
          kernels::change_along(d.data() + 1, mu.data() + 1, new_mu.data() + 1, delta.data() + 1, n);
      const auto expected = kernels::reference::change_along(d.data() + 1, mu.data() + 1, new_mu.data() + 1,
                                                             expected_delta.data() + 1, n);
      const double bound = 1e-14 * 50 * static_cast<double>(n + 1);
      EXPECT_NEAR(change.gain, expected.gain, bound) << n;
      EXPECT_NEAR(change.mean, expected.mean, bound) << n;
      EXPECT_NEAR(change.absolute, expected.absolute, bound) << n;
      EXPECT_EQ(delta, expected_delta) << n;
    }
  });
}

}  // namespace
}  // namespace espalier::vectors_test
