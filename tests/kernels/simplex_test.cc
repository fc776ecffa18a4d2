#include "kernels/simplex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "espalier/features/weights.h"
#include "kernels/rows.h"
#include "support/simd_targets.h"

namespace espalier::simplex_test {
namespace {

// A point of the simplex: of `few` labels, or of all of them.
std::vector<float> random_point(Random& random, std::size_t n, bool few) {
  std::vector<double> mass(n);
  for (double& m : mass) m = few && random.below(4) > 0 ? 0 : random.uniform();
  mass[random.below(n)] += 0.5;
  const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
  std::vector<float> mu(n);
  for (std::size_t k = 0; k < n; ++k) mu[k] = static_cast<float>(mass[k] / total);
  return mu;
}

double value(const std::vector<float>& s, double q, const std::vector<float>& from, const float* to) {
  double sum = 0;
  for (std::size_t k = 0; k < s.size(); ++k) {
    const double step = static_cast<double>(to[k]) - from[k];
    sum += s[k] * step - q / 2 * step * step;
  }
  return sum;
}

// Everything lies one element into its memory, and ends with it, so that a sanitizer sees a step outside.
void check_step(const std::vector<float>& scores, float q, const std::vector<float>& from) {
  const std::size_t n = scores.size();
  std::vector<float> s(1 + n), mu(1 + n, 7.0f), delta(1 + n, 7.0f);
  std::copy(scores.begin(), scores.end(), s.begin() + 1);
  std::copy(from.begin(), from.end(), mu.begin() + 1);
  const kernels::SimplexStep step =
      kernels::maximise_on_simplex(s.data() + 1, q, n, mu.data() + 1, delta.data() + 1);
  const std::vector<double> expected =
      kernels::reference::maximise_on_simplex(scores.data(), q, n, from.data());
  EXPECT_EQ(mu[0], 7);
  EXPECT_EQ(delta[0], 7);

  double mean = 0, total = 0, furthest = 0;
  const double highest = *std::max_element(scores.begin(), scores.end());
  for (std::size_t k = 0; k < n; ++k) {
    mean += static_cast<double>(from[k]) * (highest - scores[k]);
    total += mu[1 + k];
    furthest = std::max(furthest, std::abs(expected[k] - from[k]));
    // b has the digits of a number below 1, and of (max s - s_k)/q where that is less than 2.
    ASSERT_NEAR(mu[1 + k], expected[k], 2e-6) << "label " << k << " of " << n << ", q " << q;
    ASSERT_GE(mu[1 + k], 0);
    if (step.moved) {
      ASSERT_NEAR(delta[1 + k], from[k] - mu[1 + k], 1e-7);
    } else {
      ASSERT_EQ(mu[1 + k], from[k]);
    }
  }
  // tau is off by a rounding or two, and that n times.
  ASSERT_NEAR(total, 1, 1e-6 + 3e-7 * static_cast<double>(n)) << n;
  ASSERT_NEAR(step.gap, mean, 1e-5 * (1 + mean));
  if (furthest > 1e-5) {
    ASSERT_TRUE(step.moved);
  }
  if (step.moved) {
    const double gain = value(scores, q, from, mu.data() + 1);
    ASSERT_NEAR(step.gain, gain, 1e-5 * (1 + std::abs(highest) + q));
  } else {
    ASSERT_EQ(step.gain, 0);
  }
}

TEST(Simplex, AgreesWithTheReference) {
  test_support::for_each_simd_target([] {
    Random random(3);
    for (std::size_t n = 1; n <= 70; ++n) {
      for (const float range : {0.01f, 1.0f, 100.0f}) {
        for (const float q : {0.0f, 0.01f, 1.0f, 50.0f}) {
          std::vector<float> s(n);
          for (float& x : s) x = range * static_cast<float>(2 * random.uniform() - 1);
          check_step(s, q, random_point(random, n, true));
          check_step(s, q, random_point(random, n, false));
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

// Scores, step and accumulation in one, against one after the other.
TEST(Simplex, OverRowsIsTheSameAsByParts) {
  test_support::for_each_simd_target([] {
    Random random(7);
    const auto uniform = [&] { return static_cast<float>(2 * random.uniform() - 1); };
    constexpr std::size_t kRows = 12;
    for (std::size_t n = 1; n <= 140; n += n < 40 ? 1 : 7) {
      const std::size_t stride = row_stride(n);
      AlignedVector<float> weights(kRows * stride);
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t k = 0; k < n; ++k) weights[r * stride + k] = 3 * uniform();
      }
      std::vector<std::uint32_t> ids;
      std::vector<float> values, costs(n);
      for (std::uint32_t r = 0; r < kRows; ++r) {
        if (random.below(3) == 0) continue;
        ids.push_back(r);
        values.push_back(uniform());
      }
      for (float& c : costs) c = 1 + uniform();
      const std::size_t gold = random.below(n);
      for (const bool given : {false, true}) {
        for (const bool ones : {false, true}) {
          const kernels::SparseRow x{ids.data(), ones ? nullptr : values.data(), ids.size()};
          const kernels::LabelCosts cost{given ? costs.data() : nullptr, gold, 1.5f};
          const float q = 0.1f + static_cast<float>(random.uniform()), scale = 0.7f, omega = 1.25f;
          const std::vector<float> start = random_point(random, n, n % 2 == 0);

          AlignedVector<float> expected_weights = weights;
          const kernels::RowTable<float> expected_w{expected_weights.data(), n, stride};
          std::vector<float> s(n), delta(n), expected = start;
          kernels::reference::score_rows(kernels::RowTable<const float>{weights.data(), n, stride}, x, scale,
                                         s.data());
          for (std::size_t k = 0; k < n; ++k) s[k] += 1.5f * (given ? costs[k] : k == gold ? 0.0f : 1.0f);
          const kernels::SimplexStep one =
              kernels::maximise_on_simplex(s.data(), q, n, expected.data(), delta.data());
          for (float& d : delta) d *= omega;
          if (one.moved) kernels::reference::accumulate_rows(expected_w, x, delta.data());

          AlignedVector<float> changed = weights, memory(2 * n);
          std::vector<float> mu = start;
          const kernels::SimplexStep step = kernels::maximise_over_rows(
              {changed.data(), n, stride}, x, scale, cost, q, omega, mu.data(), memory.data());
          ASSERT_EQ(step.moved, one.moved) << n;
          ASSERT_NEAR(step.gap, one.gap, 1e-5 * (1 + one.gap)) << n;
          ASSERT_NEAR(step.gain, one.gain, 1e-5 * (1 + one.gain)) << n;
          for (std::size_t k = 0; k < n; ++k) ASSERT_NEAR(mu[k], expected[k], 2e-5) << n;
          for (std::size_t j = 0; j < weights.size(); ++j) {
            ASSERT_NEAR(changed[j], expected_weights[j], 3e-5) << n;
            if (j % stride >= n) {
              ASSERT_EQ(changed[j], 0) << "padding";
            }
          }
        }
      }
    }
  });
}

TEST(Simplex, StaysWhereAllMassIsOnBestLabels) {
  test_support::for_each_simd_target([] {
    for (std::size_t n = 2; n <= 40; ++n) {
      std::vector<float> s(n, -1.5f), mu(n), delta(n);
      s[n / 2] = s[n - 1] = 3.25f;
      mu[n / 2] = 0.25f;
      mu[n - 1] = n / 2 == n - 1 ? 1.0f : 0.75f;
      const std::vector<float> before = mu;
      const kernels::SimplexStep step =
          kernels::maximise_on_simplex(s.data(), 0.5f, n, mu.data(), delta.data());
      ASSERT_EQ(step.gap, 0);
      ASSERT_EQ(step.gain, 0);
      ASSERT_FALSE(step.moved);
      ASSERT_EQ(mu, before);
    }
  });
}

TEST(Simplex, WithoutCurvatureTheBestLabelTakesAll) {
  test_support::for_each_simd_target([] {
    for (std::size_t n = 2; n <= 40; ++n) {
      std::vector<float> s(n, 1.0f), mu(n, 1 / static_cast<float>(n)), delta(n), expected(n);
      s[n / 3] = 2;
      expected[n / 3] = 1;
      ASSERT_TRUE(kernels::maximise_on_simplex(s.data(), 0, n, mu.data(), delta.data()).moved);
      for (std::size_t k = 0; k < n; ++k) ASSERT_NEAR(mu[k], expected[k], 1e-6);
    }
  });
}

TEST(Simplex, ALabelThatIsExcludedLosesItsMassOnly) {
  test_support::for_each_simd_target([] {
    for (std::size_t n = 3; n <= 40; ++n) {
      std::vector<float> s(n), mu(n), delta(n);
      s[n - 1] = -std::numeric_limits<float>::infinity();
      mu[0] = mu[1] = 0.5f;
      s[1] = 0.25f;
      const kernels::SimplexStep step = kernels::maximise_on_simplex(s.data(), 1, n, mu.data(), delta.data());
      ASSERT_EQ(step.gap, 0.125f);
      ASSERT_TRUE(step.moved);
      // Of a pair: t = v/2q = 1/8, as long as labels without mass are not better.
      ASSERT_NEAR(mu[0], 0.375, 1e-6);
      ASSERT_NEAR(mu[1], 0.625, 1e-6);
      ASSERT_EQ(mu[n - 1], 0);
    }
  });
}

// Weights that run away are reported by the next certificate; a visit only has to come back.
TEST(Simplex, LeavesWhatIsNotFinite) {
  test_support::for_each_simd_target([] {
    std::vector<float> s(20, std::numeric_limits<float>::quiet_NaN()), mu(20), delta(20);
    mu[3] = 1;
    const std::vector<float> before = mu;
    EXPECT_FALSE(kernels::maximise_on_simplex(s.data(), 1, 20, mu.data(), delta.data()).moved);
    EXPECT_EQ(mu, before);
  });
}

}  // namespace
}  // namespace espalier::simplex_test
