#include "kernels/vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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

TEST(Vectors, SumsOfDoublesAreThoseOfTheReference) {
  test_support::for_each_simd_target([] {
    Random random(5);
    for (std::size_t n = 0; n <= 70; ++n) {
      std::vector<double> s(1 + n), mu(1 + n);
      for (std::size_t k = 0; k <= n; ++k) {
        s[k] = 10 * random.uniform() - 5;
        mu[k] = random.uniform();
      }
      const double bound = 1e-14 * 5 * static_cast<double>(n + 1);
      EXPECT_NEAR(kernels::dot(s.data() + 1, mu.data() + 1, n),
                  kernels::reference::dot(s.data() + 1, mu.data() + 1, n), bound)
          << n;
      for (std::size_t k = 0; k <= n; k += 3) {
        s[k] = -std::numeric_limits<double>::infinity();
        mu[k] = 0;
      }
      const auto check = [&](const auto& scores, const auto& masses) {
        const auto expected = kernels::expected_score(scores.data() + 1, masses.data() + 1, n);
        const auto plain = kernels::reference::expected_score(scores.data() + 1, masses.data() + 1, n);
        EXPECT_NEAR(expected.value, plain.value, bound) << n;
        EXPECT_NEAR(expected.absolute, plain.absolute, bound) << n;
      };
      check(s, mu);
      check(std::vector<float>(s.begin(), s.end()), std::vector<float>(mu.begin(), mu.end()));
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
