#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/team.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier {
namespace {

// Two threads add to the weights at once, each the same ones again and again. All values are integers that
// floats hold.
void expect_that_nothing_is_lost(const Problem& problem, std::size_t times = 1000000) {
  constexpr std::size_t kThreads = 2;
  const std::vector<float> delta(problem.num_statistics(0), 1.0f);
  Workspace ws;
  Weights once(problem.weight_shape()), all(problem.weight_shape());
  problem.accumulate(0, delta, once, ws);
  Team team(kThreads);
  team.run([&](std::size_t) {
    Workspace mine;
    for (std::size_t t = 0; t < times; ++t) problem.sharing()->accumulate_shared(0, delta, all, mine);
  });
  for (std::size_t j = 0; j < all.values().size(); ++j) {
    ASSERT_EQ(all.values()[j], static_cast<float>(kThreads * times) * once.values()[j]) << j;
  }
}

TEST(AccumulateSharedThreads, LoseNothingOfClasses) {
  test_support::RandomDataOptions dense;
  dense.density = 1;
  dense.unit_values = true;
  expect_that_nothing_is_lost(test_support::OwnedProblem(1, dense).problem);
}

TEST(AccumulateSharedThreads, LoseNothingOfRowsThatManySequencesHave) {
  test_support::RandomChainOptions dense;
  dense.density = 1;
  dense.unit_values = true;
  expect_that_nothing_is_lost(test_support::OwnedChainProblem(2, dense).problem);
}

TEST(AccumulateSharedThreads, LoseNothingOfTrees) {
  test_support::RandomDependencyOptions short_sentences;
  short_sentences.longest = 1;
  short_sentences.shape.num_labels = 2;
  expect_that_nothing_is_lost(test_support::OwnedDependencyProblem(3, short_sentences).problem, 100000);
}

}  // namespace
}  // namespace espalier
