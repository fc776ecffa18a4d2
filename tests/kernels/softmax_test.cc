#include "kernels/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "support/simd_targets.h"

namespace espalier::softmax_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Real>
constexpr double kTolerance = sizeof(Real) == 4 ? 1e-6 : 1e-14;

// Scores and marginals lie one element into their memory, and end with it, so that a sanitizer sees a step
// outside.
template <class Real>
void check_softmax(const std::vector<Real>& scores) {
  const std::size_t n = scores.size();
  std::vector<Real> s(1 + n), mu(1 + n, Real{7});
  std::copy(scores.begin(), scores.end(), s.begin() + 1);
  const double log_z = kernels::softmax(s.data() + 1, n, mu.data() + 1);
  // The reference in double, whatever the precision under test.
  const std::vector<double> exact(scores.begin(), scores.end());
  std::vector<double> exact_mu(n);
  const double exact_log_z = kernels::reference::softmax(exact.data(), n, exact_mu.data());

  EXPECT_EQ(mu[0], Real{7});
  const double highest = *std::max_element(exact.begin(), exact.end());
  // log Z is a score plus a logarithm, and only the second can be far from exact.
  ASSERT_NEAR(log_z, exact_log_z, kTolerance<Real> + 1e-15 * std::abs(exact_log_z)) << n << " scores";
  long double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += mu[1 + k];
    if (exact[k] == -kInfinity) {
      ASSERT_EQ(mu[1 + k], 0) << n << " scores, label " << k;
    } else {
      // A difference of scores is rounded in proportion to itself, and so is then the exponential; what is
      // less than the smallest normal number is rounded as that number is.
      const double relative = kTolerance<Real> * (1 + (highest - exact[k]) / 8);
      ASSERT_NEAR(mu[1 + k], exact_mu[k],
                  relative * (exact_mu[k] + static_cast<double>(std::numeric_limits<Real>::min())))
          << n << " scores, label " << k << ", score " << exact[k] << ", highest " << highest;
    }
  }
  ASSERT_NEAR(static_cast<double>(sum), 1, kTolerance<Real>) << n << " scores";
}

template <class Real>
std::vector<Real> random_scores(Random& random, std::size_t n, double range) {
  std::vector<Real> s(n);
  for (Real& v : s) v = static_cast<Real>(range * (2 * random.uniform() - 1));
  return s;
}

template <class Real>
class SoftmaxTest : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SoftmaxTest, Precisions);

TYPED_TEST(SoftmaxTest, AgreesWithTheReference) {
  test_support::for_each_simd_target([] {
    Random random(3);
    for (std::size_t n = 1; n <= 70; ++n) {
      for (const double range : {0.01, 1.0, 10.0, 50.0, 100.0, 1000.0}) {
        check_softmax(random_scores<TypeParam>(random, n, range));
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

TYPED_TEST(SoftmaxTest, EqualScoresAreUniform) {
  test_support::for_each_simd_target([] {
    for (std::size_t n = 1; n <= 70; ++n) {
      for (const double score : {0.0, 1000.0, -1000.0, 1e30, -1e30}) {
        const std::vector<TypeParam> s(n, static_cast<TypeParam>(score));
        std::vector<TypeParam> mu(n);
        const double log_z = kernels::softmax(s.data(), n, mu.data());
        ASSERT_DOUBLE_EQ(log_z, static_cast<double>(s[0]) + std::log(static_cast<double>(n)));
        for (const TypeParam m : mu) ASSERT_EQ(m, static_cast<TypeParam>(1.0 / static_cast<double>(n)));
      }
    }
  });
}

TYPED_TEST(SoftmaxTest, AnImpossibleLabelHasNoShare) {
  test_support::for_each_simd_target([] {
    Random random(4);
    for (std::size_t n = 2; n <= 70; ++n) {
      // One, about half, and all but one of the labels excluded.
      auto s = random_scores<TypeParam>(random, n, 10);
      s[random.below(n)] = -std::numeric_limits<TypeParam>::infinity();
      check_softmax(s);
      const std::size_t kept = random.below(n);
      for (std::size_t k = 0; k < n; ++k) {
        if (k != kept && random.uniform() < 0.5) s[k] = -std::numeric_limits<TypeParam>::infinity();
      }
      s[kept] = 1;
      check_softmax(s);
      std::fill(s.begin(), s.end(), -std::numeric_limits<TypeParam>::infinity());
      s[kept] = -500;
      check_softmax(s);
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(SoftmaxTest, OneHighScoreTakesAll) {
  test_support::for_each_simd_target([] {
    for (std::size_t n = 2; n <= 70; ++n) {
      std::vector<TypeParam> s(n, -1000), mu(n), expected(n, 0);
      s[n / 2] = 1000;
      expected[n / 2] = 1;
      ASSERT_EQ(kernels::softmax(s.data(), n, mu.data()), 1000);
      ASSERT_EQ(mu, expected);
    }
  });
}

TYPED_TEST(SoftmaxTest, WithoutAPossibleLabelThereIsNoDistribution) {
  test_support::for_each_simd_target([] {
    for (std::size_t n = 1; n <= 20; ++n) {
      const std::vector<TypeParam> s(n, -std::numeric_limits<TypeParam>::infinity());
      std::vector<TypeParam> mu(n);
      ASSERT_EQ(kernels::softmax(s.data(), n, mu.data()), -kInfinity);
      for (const TypeParam m : mu) ASSERT_TRUE(std::isnan(m));
    }
  });
}

TYPED_TEST(SoftmaxTest, ManyLabels) {
  test_support::for_each_simd_target([] {
    Random random(5);
    for (const std::size_t n : {1000, 4097, 100000, 1000003}) {
      check_softmax(random_scores<TypeParam>(random, n, 3));
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

}  // namespace
}  // namespace espalier::softmax_test
