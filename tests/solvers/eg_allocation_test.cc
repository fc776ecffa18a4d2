// Replaces the allocator of the test program by one that counts.

#include <gtest/gtest.h>

#include <limits>

#include "espalier/solvers/eg.h"
#include "support/counting_allocator.h"
#include "support/random_chain.h"
#include "support/random_problem.h"

namespace espalier::eg_allocation_test {
namespace {

// Allocations of a run that reports once, at its end.
std::size_t allocations_of(const Objective& objective, EgOptions options, double passes) {
  options.stopping.gap = -1;
  options.stopping.passes = passes;
  options.report_every = std::numeric_limits<double>::infinity();
  DualState dual(objective.problem);
  Weights theta;
  const std::size_t before = test_support::allocations;
  const Summary summary = eg(objective, options, dual, theta);
  EXPECT_EQ(summary.history.size(), 1u);
  return test_support::allocations - before;
}

void expect_none_inside_an_epoch(const Problem& problem) {
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    for (const Sampling order : {Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic}) {
      for (const EgStep step : {EgStep::automatic, EgStep::safe}) {
        EgOptions options;
        options.sampling = order;
        options.step = step;
        const Objective objective{problem, loss, 1};
        const std::size_t few = allocations_of(objective, options, 5);
        EXPECT_GT(few, 0u) << "the counter does not count";
        EXPECT_EQ(allocations_of(objective, options, 50), few);
      }
    }
  }
}

TEST(EgAllocations, NoneInsideAnEpoch) { expect_none_inside_an_epoch(test_support::OwnedProblem(1).problem); }

TEST(EgAllocations, NoneInsideAnEpochOfChains) {
  using test_support::Transitions;
  for (const Transitions transitions : {Transitions::tied, Transitions::few, Transitions::different}) {
    for (const bool constrained : {false, true}) {
      test_support::RandomChainOptions options;
      options.transitions = transitions;
      options.constrained = constrained;
      expect_none_inside_an_epoch(test_support::OwnedChainProblem(1, options).problem);
    }
  }
}

}  // namespace
}  // namespace espalier::eg_allocation_test
