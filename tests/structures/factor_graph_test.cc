#include "structures/factor_graph.h"

#include <gtest/gtest.h>

#include <vector>

#include "espalier/base/error.h"
#include "support/error_message.h"

namespace espalier::factor_graph_test {
namespace {

TEST(FactorGraph, LaysTablesOneAfterAnother) {
  FactorGraph graph({2, 3, 4});
  EXPECT_EQ(graph.add_clique(std::vector<std::uint32_t>{2, 0}), 0u);
  EXPECT_EQ(graph.add_clique(std::vector<std::uint32_t>{1}), 1u);
  EXPECT_EQ(graph.num_cliques(), 2u);
  EXPECT_EQ(graph.size(0), 8u);
  EXPECT_EQ(graph.begin(1), 8u);
  EXPECT_EQ(graph.num_statistics(), 11u);
  // The first variable of the scope changes slowest.
  EXPECT_EQ(graph.entry(0, std::vector<std::uint32_t>{1, 2, 3}), 3u * 2 + 1);
  EXPECT_EQ(graph.entry(1, std::vector<std::uint32_t>{1, 2, 3}), 2u);
}

TEST(FactorGraph, KeepsWhatIsForbiddenInOrderAndOnce) {
  FactorGraph graph({2, 2});
  graph.add_clique(std::vector<std::uint32_t>{0, 1});
  graph.add_clique(std::vector<std::uint32_t>{1});
  graph.forbid(1, 0);
  graph.forbid(0, 2);
  graph.forbid(1, 0);
  EXPECT_EQ(std::vector<std::size_t>(graph.forbidden().begin(), graph.forbidden().end()),
            (std::vector<std::size_t>{2, 4}));
}

TEST(FactorGraph, HasNoRoomForTablesWhoseEntriesItCannotCount) {
  FactorGraph graph(std::vector<std::uint32_t>(70, 2));
  std::vector<std::uint32_t> scope;
  for (std::uint32_t v = 0; v < 70; ++v) scope.push_back(v);
  EXPECT_FALSE(graph.has_room(scope));
  const std::span<const std::uint32_t> some = std::span(scope).first(57);
  ASSERT_TRUE(graph.has_room(some));
  graph.add_clique(some);
  EXPECT_FALSE(graph.has_room(some));
  EXPECT_TRUE(graph.has_room(std::span(scope).first(56)));
}

}  // namespace
}  // namespace espalier::factor_graph_test
