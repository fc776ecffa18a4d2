#include "kernels/ngram_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "espalier/base/memory.h"
#include "structures/chain.h"
#include "support/random_ngrams.h"
#include "support/simd_targets.h"

namespace espalier::ngram_chain_test {
namespace {

template <class Real>
class NgramChainKernelTest : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NgramChainKernelTest, Precisions);

// Scores and marginals end with their memory, so that a sanitizer sees a step outside.
template <class Real>
void check_chain(Random& random, const Chain& chain, std::span<const std::uint32_t> tables, double range) {
  const std::size_t size = chain.num_statistics();
  const NgramAutomaton& automaton = chain.ngrams()->automaton();
  std::vector<Real> s(size), mu(size);
  for (Real& x : s) x = static_cast<Real>(static_cast<float>(range * (2 * random.uniform() - 1)));
  const kernels::NgramChainScores<Real> scores{
      {chain.length(), chain.num_labels(), chain.num_tables(), tables.empty() ? nullptr : tables.data(),
       s.data(), nullptr, nullptr, nullptr},
      &automaton};
  AlignedVector<Real> scratch(kernels::ngram_chain_scratch(chain.length(), chain.num_tables(), automaton));
  double log_z = 0;
  ASSERT_TRUE(kernels::ngram_chain_marginals(scores, mu.data(), &log_z, scratch.data()));

  const std::vector<double> exact_s(s.begin(), s.end());
  std::vector<double> exact(size);
  Workspace ws;
  const double exact_log_z = chain.log_partition_reference(exact_s, exact, ws);
  const double tolerance = sizeof(Real) == 4 ? 3e-6 : 1e-13;
  ASSERT_NEAR(log_z, exact_log_z, tolerance * (1 + std::abs(exact_log_z)));
  for (std::size_t k = 0; k < size; ++k) ASSERT_NEAR(mu[k], exact[k], tolerance * (1 + exact[k])) << k;

  // No sequence is better than the one found: exact in double, up to rounding in float.
  std::vector<std::uint32_t> y(chain.length()), states(3 * automaton.num_states);
  kernels::ngram_chain_best(scores, y.data(), states.data(), scratch.data());
  std::vector<double> chi(size);
  chain.indicator(y, std::span(chi));
  double reached = 0;
  for (std::size_t k = 0; k < size; ++k) reached += chi[k] * exact_s[k];
  ASSERT_NEAR(reached, chain.kbest(exact_s, 1).front().score, tolerance * (1 + std::abs(reached)));
}

TYPED_TEST(NgramChainKernelTest, AgreesWithTheReference) {
  test_support::for_each_simd_target([] {
    Random random(5);
    for (std::size_t labels = 1; labels <= 25; labels += labels < 10 ? 1 : 4) {
      for (const std::size_t length : {1, 2, 3, 9}) {
        for (const double range : {0.1, 3.0, 10.0}) {
          const LabelNgrams ngrams = test_support::random_ngrams(random, labels, 2 + length % 4, 3 * labels);
          std::vector<std::uint32_t> tables(length - 1);
          for (auto& k : tables) k = static_cast<std::uint32_t>(random.below(3));
          check_chain<TypeParam>(random, Chain(length, labels, nullptr, &ngrams), {}, range);
          check_chain<TypeParam>(random, Chain(length, labels, {}, 0, nullptr, &ngrams), {}, range);
          check_chain<TypeParam>(random, Chain(length, labels, tables, 3, nullptr, &ngrams), tables, range);
          if (::testing::Test::HasFatalFailure()) {
            ADD_FAILURE() << labels << " labels, " << length << " positions, range " << range;
            return;
          }
        }
      }
    }
  });
}

TYPED_TEST(NgramChainKernelTest, SaysWhereTheRangeIsTooWide) {
  test_support::for_each_simd_target([] {
    // Label 0 is everything at position 0, label 1 at position 1, and 0 never leads to 1.
    const TypeParam far = sizeof(TypeParam) == 4 ? 100 : 900;
    const LabelNgrams ngrams(2, {{0, 1}});
    std::vector<TypeParam> s = {0, -far, -far, 0, -3 * far};
    std::vector<TypeParam> mu(s.size());
    AlignedVector<TypeParam> scratch(kernels::ngram_chain_scratch(2, 0, ngrams.automaton()));
    double log_z = 0;
    const kernels::NgramChainScores<TypeParam> scores{{2, 2, 0, nullptr, s.data(), nullptr, nullptr, nullptr},
                                                      &ngrams.automaton()};
    EXPECT_FALSE(kernels::ngram_chain_marginals(scores, mu.data(), &log_z, scratch.data()));
    s[4] = 0;
    EXPECT_TRUE(kernels::ngram_chain_marginals(scores, mu.data(), &log_z, scratch.data()));
    s[0] = s[1] = -std::numeric_limits<TypeParam>::infinity();
    EXPECT_FALSE(kernels::ngram_chain_marginals(scores, mu.data(), &log_z, scratch.data()));
  });
}

}  // namespace
}  // namespace espalier::ngram_chain_test
