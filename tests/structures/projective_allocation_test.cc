// Inference on trees allocates nothing once it has seen a sentence as long. Replaces the allocator of the
// test program by one that counts.

#include <gtest/gtest.h>

#include <vector>

#include "structures/dependency_tree.h"
#include "structures/projective.h"
#include "support/counting_allocator.h"

namespace espalier {
namespace {

TEST(Projective, InferenceAllocatesNothingAfterItsFirstRun) {
  constexpr std::size_t kWords = 12, kSquare = 13 * 13, kCube = 13 * kSquare;
  // Equal scores need no logarithms; two words that would best be each other's heads do.
  std::vector<double> equal(kSquare, 0.0), wide(kSquare, -1000.0);
  wide[arc_matrix_index(kWords, 1, 2)] = wide[arc_matrix_index(kWords, 2, 1)] = 0;
  const std::vector<double> pairs(kCube, 0.5);
  std::vector<double> mu(kSquare), sibling_mu(kCube), grandparent_mu(kCube);
  std::vector<std::uint32_t> heads(kWords);
  Workspace ws;
  const auto run = [&] {
    for (const auto& s : {std::span<const double>(equal), std::span<const double>(wide)}) {
      projective_log_partition(kWords, true, s, mu, ws);
      projective_best(kWords, true, s, heads, ws);
      const SecondOrder<const double> second{s, pairs, pairs};
      projective_log_partition(kWords, true, second, SecondOrder<double>{mu, sibling_mu, grandparent_mu}, ws);
      projective_best(kWords, true, second, heads, ws);
    }
  };
  run();
  const std::size_t before = test_support::allocations;
  run();
  EXPECT_EQ(test_support::allocations - before, 0u);
}

TEST(DependencyTree, InferenceAllocatesNothingAfterItsFirstRun) {
  constexpr std::size_t kWords = 12, kLabels = 3, kSize = kWords * kWords * kLabels;
  const std::vector<float> s(kSize, 0.5f);
  const std::vector<double> exact(kSize, 0.5);
  std::vector<float> mu(kSize);
  std::vector<double> exact_mu(kSize);
  Workspace ws;
  const auto run = [&] {
    for (const bool projective : {true, false}) {
      const DependencyTree tree(ArcSet(kWords), {projective, true, kLabels});
      tree.log_partition(std::span<const float>(s), std::span(mu), ws);
      tree.log_partition(std::span<const double>(exact), std::span(exact_mu), ws);
      tree.argmax(std::span<const float>(s), std::span(mu), ws);
      tree.entropy(exact, ws);
    }
  };
  run();
  const std::size_t before = test_support::allocations;
  run();
  EXPECT_EQ(test_support::allocations - before, 0u);
}

}  // namespace
}  // namespace espalier
