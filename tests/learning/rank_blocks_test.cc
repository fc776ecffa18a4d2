#include "learning/rank_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "fleet/threads.h"
#include "learning/rank_problem.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier::rank_blocks_test {
namespace {

using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;

// The blocks that examples change, found by changing them.
std::set<std::uint32_t> changed_blocks(const Problem& problem, std::span<const std::uint32_t> examples,
                                       const RankBlocks& blocks) {
  Weights w(problem.weight_shape());
  Workspace ws;
  for (const std::uint32_t i : examples) {
    std::vector<float> delta(problem.num_statistics(i));
    for (std::size_t k = 0; k < delta.size(); ++k) delta[k] = 1 + 0.01f * static_cast<float>(k);
    problem.accumulate(i, delta, w, ws);
  }
  std::set<std::uint32_t> changed;
  for (std::uint32_t block = 0; block < blocks.count(); ++block) {
    if (std::ranges::any_of(blocks.of(w.values(), block), [](float x) { return x != 0; }))
      changed.insert(block);
  }
  return changed;
}

std::vector<std::uint32_t> all_of(const Problem& problem) {
  std::vector<std::uint32_t> all(problem.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  return all;
}

// Of every rank: all blocks that its examples change are its own or shared, and own ones are those of nobody
// else.
void expect_right_blocks(const Problem& whole, std::size_t ranks) {
  std::vector<std::set<std::uint32_t>> changed(ranks), own(ranks);
  std::vector<std::vector<std::uint32_t>> shared(ranks);
  run_ranks(ranks, [&](Communicator& fleet) {
    const RankProblem problem = RankProblem::share_of(whole, fleet);
    const RankBlocks& blocks = problem.blocks();
    const std::size_t r = fleet.rank();
    changed[r] = changed_blocks(problem, all_of(problem), blocks);
    own[r].insert(blocks.own().begin(), blocks.own().end());
    shared[r].assign(blocks.shared().begin(), blocks.shared().end());
    // Those that are changed most often come first.
    std::size_t before = blocks.shared_from(40);
    EXPECT_EQ(before, 0u);
    std::vector<std::set<std::uint32_t>> of_example;
    for (std::uint32_t i = 0; i < whole.size() && r == 0; ++i)
      of_example.push_back(changed_blocks(whole, std::span(&i, 1), blocks));
    for (std::size_t level = 40; level-- > 0; before = blocks.shared_from(level)) {
      EXPECT_GE(blocks.shared_from(level), before);
      if (r != 0) continue;
      for (std::size_t k = before; k < blocks.shared_from(level); ++k) {
        const auto examples = std::ranges::count_if(
            of_example, [&](const auto& changes) { return changes.contains(blocks.shared()[k]); });
        EXPECT_LT(examples, 2 << level);  // one may change it several times
        EXPECT_GT(examples, 1);
      }
    }
    EXPECT_EQ(before, blocks.shared().size());
  });
  for (std::size_t r = 0; r < ranks; ++r) {
    SCOPED_TRACE(r);
    EXPECT_EQ(shared[r], shared[0]);
    for (const std::uint32_t block : changed[r])
      EXPECT_TRUE(own[r].contains(block) || std::ranges::count(shared[r], block) == 1) << block;
    for (std::size_t other = 0; other < ranks; ++other) {
      if (other == r) continue;
      for (const std::uint32_t block : own[r]) EXPECT_FALSE(changed[other].contains(block)) << block;
    }
  }
}

TEST(RankBlocks, KnowWhatExamplesChange) {
  for (const std::size_t ranks : {1, 2, 5}) {
    SCOPED_TRACE(ranks);
    expect_right_blocks(OwnedProblem(1).problem, ranks);
    expect_right_blocks(OwnedChainProblem(2).problem, ranks);
    expect_right_blocks(OwnedDependencyProblem(3).problem, ranks);
  }
}

// What was there counts once, and every rank has the sum of what all have added, to the same bits.
TEST(RankBlocks, AddUp) {
  const OwnedChainProblem owned(4);
  const Problem& whole = owned.problem;
  const auto add_examples = [](const Problem& problem, DoubleWeights& w) {
    Workspace ws;
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const std::vector<double> delta(problem.num_statistics(i), 1);
      problem.accumulate(i, DoubleIn(delta), w, ws);
    }
  };
  DoubleWeights before(whole.weight_shape());
  for (std::size_t r = 0; r < before.shape().rows; ++r) {
    for (std::size_t k = 0; k < before.shape().width; ++k) before.row(r)[k] = static_cast<double>(r + k);
  }
  DoubleWeights expected = before;
  add_examples(whole, expected);
  for (const std::size_t ranks : {1, 2, 4}) {
    SCOPED_TRACE(ranks);
    std::vector<DoubleWeights> sums(ranks);
    run_ranks(ranks, [&](Communicator& fleet) {
      const RankProblem problem = RankProblem::share_of(whole, fleet);
      DoubleWeights w = before;
      problem.blocks().begin(w);
      add_examples(problem, w);
      problem.blocks().add_up(w);
      sums[fleet.rank()] = std::move(w);
    });
    for (const DoubleWeights& sum : sums) EXPECT_TRUE(std::ranges::equal(sum.values(), sums[0].values()));
    for (std::size_t j = 0; j < expected.values().size(); ++j)
      EXPECT_NEAR(sums[0].values()[j], expected.values()[j], 1e-12 * std::abs(expected.values()[j]) + 1e-12);
  }
}

}  // namespace
}  // namespace espalier::rank_blocks_test
