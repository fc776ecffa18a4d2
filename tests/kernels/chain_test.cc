#include "kernels/chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "structures/chain.h"
#include "support/simd_targets.h"

namespace espalier::chain_test {
namespace {

template <class Real>
class ChainKernelTest : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ChainKernelTest, Precisions);

// Scores and marginals end with their memory, so that a sanitizer sees a step outside.
template <class Real>
void check_chain(Random& random, const Chain& chain, std::span<const std::uint32_t> tables, double range) {
  const std::size_t size = chain.num_statistics();
  std::vector<Real> s(size), mu(size);
  for (Real& x : s) x = static_cast<Real>(static_cast<float>(range * (2 * random.uniform() - 1)));
  const kernels::ChainScores<Real> scores{chain.length(),
                                          chain.num_labels(),
                                          chain.num_tables(),
                                          tables.empty() ? nullptr : tables.data(),
                                          s.data(),
                                          nullptr,
                                          nullptr,
                                          nullptr};
  AlignedVector<Real> scratch(kernels::chain_scratch(chain.length(), chain.num_labels(), chain.num_tables()));
  double log_z = 0;
  ASSERT_TRUE(kernels::chain_marginals(scores, mu.data(), &log_z, scratch.data()));

  const std::vector<double> exact_s(s.begin(), s.end());
  std::vector<double> exact(size);
  Workspace ws;
  const double exact_log_z = chain.log_partition_reference(exact_s, exact, ws);
  const double tolerance = sizeof(Real) == 4 ? 3e-6 : 1e-13;
  ASSERT_NEAR(log_z, exact_log_z, tolerance * (1 + std::abs(exact_log_z)));
  for (std::size_t k = 0; k < size; ++k) ASSERT_NEAR(mu[k], exact[k], tolerance * (1 + exact[k])) << k;

  if constexpr (sizeof(Real) == 4) {
    const std::size_t square = chain.num_labels() * chain.num_labels();
    std::vector<float> again(size), pairs((chain.length() - 1) * square);
    ASSERT_TRUE(kernels::chain_pair_marginals(scores, again.data(), pairs.data(), &log_z, scratch.data()));
    ASSERT_EQ(again, mu);
    std::vector<double> exact_pairs(chain.num_clique_marginals());
    chain.clique_marginals(exact_s, exact_pairs, ws);
    for (std::size_t k = 0; k < pairs.size(); ++k) ASSERT_NEAR(pairs[k], exact_pairs[k], tolerance) << k;
  }

  if constexpr (sizeof(Real) == 8) {
    double alone = 0;
    ASSERT_TRUE(kernels::chain_log_partition(scores, &alone, scratch.data()));
    ASSERT_EQ(alone, log_z);
  }

  // No sequence is better than the one found: exact in double, up to rounding in float.
  std::vector<std::uint32_t> y(chain.length());
  kernels::chain_best(scores, y.data(), scratch.data());
  std::vector<double> chi(size);
  chain.indicator(y, std::span(chi));
  double reached = 0;
  for (std::size_t k = 0; k < size; ++k) reached += chi[k] * exact_s[k];
  ASSERT_NEAR(reached, chain.kbest(exact_s, 1).front().score, tolerance * (1 + std::abs(reached)));
}

TYPED_TEST(ChainKernelTest, AgreesWithTheReference) {
  test_support::for_each_simd_target([] {
    Random random(5);
    for (std::size_t labels = 1; labels <= 40; labels += labels < 10 ? 1 : 3) {
      for (const std::size_t length : {1, 2, 3, 9}) {
        for (const double range : {0.1, 3.0, 15.0}) {
          check_chain<TypeParam>(random, Chain(length, labels), {}, range);
          std::vector<std::uint32_t> tables(length - 1);
          for (auto& k : tables) k = static_cast<std::uint32_t>(random.below(3));
          check_chain<TypeParam>(random, Chain(length, labels, tables, 3), tables, range);
          if (::testing::Test::HasFatalFailure()) {
            ADD_FAILURE() << labels << " labels, " << length << " positions, range " << range;
            return;
          }
        }
      }
    }
  });
}

TYPED_TEST(ChainKernelTest, SaysWhereTheRangeIsTooWide) {
  test_support::for_each_simd_target([] {
    // Label 0 is everything at position 0, label 1 at position 1, and 0 never leads to 1.
    const TypeParam far = sizeof(TypeParam) == 4 ? 100 : 900;
    std::vector<TypeParam> s = {0, -far, -far, 0, 0, -3 * far, 0, 0};
    std::vector<TypeParam> mu(s.size());
    AlignedVector<TypeParam> scratch(kernels::chain_scratch(2, 2, 1));
    double log_z = 0;
    kernels::ChainScores<TypeParam> scores{2, 2, 1, nullptr, s.data(), nullptr, nullptr, nullptr};
    EXPECT_FALSE(kernels::chain_marginals(scores, mu.data(), &log_z, scratch.data()));
    if constexpr (sizeof(TypeParam) == 8) {
      EXPECT_FALSE(kernels::chain_log_partition(scores, &log_z, scratch.data()));
    }
    s[5] = 0;
    EXPECT_TRUE(kernels::chain_marginals(scores, mu.data(), &log_z, scratch.data()));
    s[0] = s[1] = -std::numeric_limits<TypeParam>::infinity();
    EXPECT_FALSE(kernels::chain_marginals(scores, mu.data(), &log_z, scratch.data()));
  });
}

}  // namespace
}  // namespace espalier::chain_test
