#include "learning/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "support/random_chain.h"
#include "support/random_problem.h"

namespace espalier::sweep_test {
namespace {

using test_support::OwnedChainProblem;
using test_support::OwnedProblem;

TEST(Sweep, VisitsEachExampleOnce) {
  for (const std::size_t threads : {1, 2, 5}) {
    for (const std::size_t n : {0, 1, 3, 4, 5, 1000}) {
      Sweep sweep(threads);
      std::vector<int> visits(n, 0);
      const double sum = sweep.sum(n, [&](std::size_t i, Workspace&) {
        ++visits[i];
        return static_cast<double>(i);
      });
      EXPECT_EQ(visits, std::vector<int>(n, 1)) << threads << " threads";
      EXPECT_EQ(sum, static_cast<double>(n) * (static_cast<double>(n) - 1) / 2) << threads << " threads";
    }
  }
}

TEST(Sweep, EndsWhereItIsTold) {
  const OwnedProblem owned(1);
  for (const std::size_t threads : {1, 3}) {
    Sweep sweep(threads);
    DoubleWeights w(owned.problem.weight_shape());
    std::size_t filled = 0;
    sweep.accumulate(
        owned.problem, w,
        [&](std::size_t, DoubleOut delta, Workspace&) {
          std::fill(delta.begin(), delta.end(), 0.0);
          ++filled;
          return 0.0;
        },
        [](std::size_t) { return false; });
    EXPECT_EQ(filled, 0u);
  }
}

// Everything that a certificate is made of, with any number of threads.
void expect_same_bits(const Problem& problem) {
  const Objective objective{problem, {1.5, 0.5}, 0.7};
  DualState dual(problem);
  dual.start_near_gold(problem, 2.0f);
  Weights theta(problem.weight_shape());
  for (std::size_t r = 0; r < theta.shape().rows; ++r) {
    for (std::size_t k = 0; k < theta.shape().width; ++k) {
      theta.row(r)[k] = static_cast<float>(std::sin(static_cast<double>(7 * r + k)));
    }
  }
  Sweep alone;
  DualValue expected;
  std::vector<double> expected_gaps;
  evaluate_dual(objective, dual, expected, alone);
  const Certificate certificate = certify(objective, theta, dual, expected, alone, &expected_gaps);
  const Certificate implied = certify_implied(objective, theta, alone);
  for (const std::size_t threads : {2, 3, 7}) {
    Sweep sweep(threads);
    DualValue value;
    std::vector<double> gaps;
    evaluate_dual(objective, dual, value, sweep);
    EXPECT_EQ(value.value, expected.value);
    EXPECT_EQ(value.conjugate, expected.conjugate);
    EXPECT_TRUE(std::equal(value.w.values().begin(), value.w.values().end(), expected.w.values().begin()));
    const Certificate now = certify(objective, theta, dual, value, sweep, &gaps);
    EXPECT_EQ(now.primal, certificate.primal);
    EXPECT_EQ(gaps, expected_gaps);
    const Certificate of_weights = certify_implied(objective, theta, sweep);
    EXPECT_EQ(of_weights.primal, implied.primal);
    EXPECT_EQ(of_weights.dual, implied.dual);
  }
}

TEST(Sweep, CertificatesOfClassesHaveTheSameBitsWithAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) expect_same_bits(OwnedProblem(seed).problem);
}

TEST(Sweep, CertificatesOfChainsHaveTheSameBitsWithAnyNumberOfThreads) {
  for (const auto transitions : {test_support::Transitions::tied, test_support::Transitions::different}) {
    test_support::RandomChainOptions options;
    options.transitions = transitions;
    for (std::uint64_t seed = 0; seed < 5; ++seed) expect_same_bits(OwnedChainProblem(seed, options).problem);
  }
}

// Blocks end between examples: these have more statistics than one block holds.
TEST(Sweep, AddsUpManyBlocks) {
  test_support::RandomChainOptions options;
  options.sequences = 200;
  options.longest = 30;
  options.labels = 60;
  expect_same_bits(OwnedChainProblem(1, options).problem);
}

}  // namespace
}  // namespace espalier::sweep_test
