// Replaces the allocator of the test program by one that counts.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "espalier/solvers/eg.h"
#include "support/random_chain.h"
#include "support/random_problem.h"

namespace {

std::atomic<std::size_t> allocations{0};

void* counted(void* p) {
  ++allocations;
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size > 0 ? size : 1)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit + (size == 0 ? unit : 0)));
}
// Not inlined: g++ would see free() called on what it takes for another operator new's.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace espalier {
namespace {

// Allocations of a run that reports once, at its end.
std::size_t allocations_of(const Objective& objective, EgOptions options, double passes) {
  options.stopping.gap = -1;
  options.stopping.passes = passes;
  options.report_every = std::numeric_limits<double>::infinity();
  DualState dual(objective.problem);
  Weights theta;
  const std::size_t before = allocations;
  const Summary summary = eg(objective, options, dual, theta);
  EXPECT_EQ(summary.history.size(), 1u);
  return allocations - before;
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
}  // namespace espalier
