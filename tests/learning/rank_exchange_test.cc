#include "learning/rank_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fleet/threads.h"
#include "learning/rank_problem.h"
#include "support/random_chain.h"

namespace espalier::rank_exchange_test {
namespace {

using test_support::OwnedChainProblem;

// Rank r adds its own multiple of random numbers to some of the shared blocks, in each of several rounds.
// What all have then is compared with sums in double precision, of those blocks that were exchanged.
void expect_sums(std::size_t ranks, std::size_t threads) {
  const OwnedChainProblem owned(5);
  constexpr double kTimes = 1.5;
  std::vector<Weights> weights(ranks);
  run_ranks(ranks, [&](Communicator& fleet) {
    const RankProblem problem = RankProblem::share_of(owned.problem, fleet);
    const RankBlocks& blocks = problem.blocks();
    Weights w(problem.weight_shape());
    Random begin(3);
    for (float& x : w.values()) x = static_cast<float>(begin.uniform());
    std::vector<double> sums(w.values().begin(), w.values().end()), pending(sums.size(), 0);
    Team team(threads);
    RankExchange exchange(blocks, w, team);
    exchange.restart();
    const std::size_t all = blocks.shared().size();
    for (const std::size_t prefix : {all / 3, std::size_t{0}, all / 2, all, all}) {
      // Every rank knows what the others add, so that it knows the sum.
      for (std::size_t r = 0; r < ranks; ++r) {
        Random random(100 * prefix + r);
        for (std::size_t k = 0; k < all; ++k) {
          if (random.uniform() < 0.4) continue;
          const std::uint32_t block = blocks.shared()[k];
          const auto of_w = blocks.of(w.values(), block);
          for (std::size_t j = 0; j < of_w.size(); ++j) {
            const double change = random.uniform() - 0.5;
            pending[block * blocks.size() + j] += change;
            if (r == fleet.rank()) of_w[j] += static_cast<float>(kTimes * change);
          }
        }
      }
      double numbers[] = {1, static_cast<double>(fleet.rank())};
      const RankExchange::Norms norms = exchange.exchange(prefix, kTimes, numbers);
      EXPECT_EQ(numbers[0], static_cast<double>(ranks));
      EXPECT_EQ(numbers[1], static_cast<double>(ranks * (ranks - 1)) / 2);
      double norm = 0;
      for (std::size_t k = 0; k < prefix; ++k) {
        const std::uint32_t block = blocks.shared()[k];
        for (std::size_t j = 0; j < blocks.of(w.values(), block).size(); ++j) {
          double& change = pending[block * blocks.size() + j];
          norm += change * change;
          sums[block * blocks.size() + j] += std::exchange(change, 0);
        }
      }
      EXPECT_NEAR(norms.sum, norm, 1e-4 * norm + 1e-9);
      EXPECT_GE(norms.own * static_cast<double>(ranks) * (1 + 1e-4), norms.sum);
      for (std::size_t k = 0; k < prefix; ++k) {
        const std::uint32_t block = blocks.shared()[k];
        const auto of_w = blocks.of(w.values(), block);
        for (std::size_t j = 0; j < of_w.size(); ++j)
          EXPECT_NEAR(of_w[j], sums[block * blocks.size() + j], 1e-5) << k;
      }
    }
    weights[fleet.rank()] = std::move(w);
  });
  for (const Weights& of_rank : weights)
    EXPECT_TRUE(std::ranges::equal(of_rank.values(), weights[0].values()));
}

TEST(RankExchange, AddsUpWhatRanksHaveChanged) {
  for (const std::size_t ranks : {1, 2, 3, 5}) {
    SCOPED_TRACE(ranks);
    expect_sums(ranks, 1);
    expect_sums(ranks, 3);
  }
}

}  // namespace
}  // namespace espalier::rank_exchange_test
