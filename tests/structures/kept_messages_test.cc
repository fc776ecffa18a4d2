// Tree-reweighted propagation that goes on from the messages of the call before, and what it returns when it
// is stopped early.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.h"
#include "structures/markov_graph.h"
#include "support/enumeration.h"
#include "support/random_graph.h"
#include "support/random_scores.h"

namespace espalier::kept_messages_test {
namespace {

using test_support::draw_graph;
using test_support::draw_scores;
using test_support::enumerate;

GraphInferenceOptions trw(std::size_t iterations = 1000) {
  GraphInferenceOptions options;
  options.inference = GraphInference::trw;
  options.iterations = iterations;
  return options;
}

// A grid with tables on nodes and edges.
std::shared_ptr<FactorGraph> grid(std::uint32_t side, std::uint32_t labels) {
  const auto graph = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(side * side, labels));
  for (std::uint32_t v = 0; v < side * side; ++v) graph->add_clique(std::vector<std::uint32_t>{v});
  for (std::uint32_t v = 0; v < side * side; ++v) {
    if (v % side + 1 < side) graph->add_clique(std::vector<std::uint32_t>{v, v + 1});
    if (v + side < side * side) graph->add_clique(std::vector<std::uint32_t>{v, v + side});
  }
  return graph;
}

std::vector<double> random_scores(std::size_t n, double range, Random& random) {
  std::vector<double> s(n);
  for (double& x : s) x = range * (2 * random.uniform() - 1);
  return s;
}

// Messages of other scores are messages like any others: with them, and few sweeps, what comes out is still
// above log Z.
RC_GTEST_PROP(KeptMessages, ABoundWhateverTheyAreFrom, ()) {
  const auto graph = draw_graph(4, true);
  const MarkovGraph structure =
      MarkovGraph(graph, trw(*rc::gen::element<std::size_t>(1, 2, 3, 1000))).keeping_messages();
  Workspace ws;
  for (int call = 0; call < 4; ++call) {
    const auto s = draw_scores(*graph);
    const auto e = enumerate(structure, std::span<const double>(s));
    std::vector<double> mu(s.size());
    const double bound = structure.log_partition(std::span(s), std::span(mu), ws);
    RC_ASSERT(bound >= e.log_z - 1e-9 * (1 + e.largest));
    for (const double p : mu) RC_ASSERT(p >= 0 && p <= 1 + 1e-9);
    if (*rc::gen::arbitrary<bool>()) {
      std::vector<float> rounded(s.begin(), s.end()), marginals(s.size());
      RC_ASSERT(structure.log_partition(std::span<const float>(rounded), std::span(marginals), ws) >=
                e.log_z - 1e-4 * (1 + e.largest));
    }
  }
}

// Without excluded entries beliefs agree about their variables also where messages have not settled, and no
// point of the local polytope is above what argmax returns.
RC_GTEST_PROP(KeptMessages, BeliefsAreInTheLocalPolytopeAfterAnySweep, ()) {
  const auto graph = draw_graph(4, false);
  const MarkovGraph structure(graph, trw(*rc::gen::element<std::size_t>(1, 2, 1000)));
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const auto s = random_scores(graph->num_statistics(), 3, random),
             other = random_scores(graph->num_statistics(), 20, random);
  Workspace ws;
  std::vector<double> mu(s.size()), chi(s.size());
  structure.log_partition(std::span<const double>(other), std::span(mu), ws);
  std::vector<std::vector<double>> marginals(graph->num_variables());
  for (std::size_t c = 0; c < graph->num_cliques(); ++c) {
    const auto scope = graph->scope(c);
    std::size_t stride = graph->size(c);
    for (const std::uint32_t v : scope) {
      stride /= graph->cardinality(v);
      std::vector<double> sums(graph->cardinality(v));
      for (std::size_t e = 0; e < graph->size(c); ++e)
        sums[e / stride % graph->cardinality(v)] += mu[graph->begin(c) + e];
      if (marginals[v].empty()) marginals[v] = sums;
      for (std::size_t x = 0; x < sums.size(); ++x) RC_ASSERT(std::abs(sums[x] - marginals[v][x]) <= 1e-12);
    }
  }
  const double bound = structure.argmax(std::span<const double>(s), std::span(chi), ws);
  const auto e = enumerate(structure, std::span<const double>(s));
  RC_ASSERT(bound >= e.highest - 1e-9 * (1 + e.largest));
  RC_ASSERT(bound >= test_support::score_of(std::span<const double>(s), mu) - 1e-9 * (1 + e.largest));
}

// Scores that move a little, as those of an example do from visit to visit: the same bound in fewer sweeps,
// 20 of them at most.
TEST(KeptMessages, TheSameBoundInFewerSweeps) {
  const auto graph = grid(6, 8);
  const MarkovGraph anew(graph, trw()), going_on = anew.keeping_messages();
  Random random(2);
  auto s = random_scores(graph->num_statistics(), 3, random);
  Workspace ws;
  std::vector<double> mu(s.size()), expected(s.size());
  std::size_t kept_sweeps = 0, sweeps = 0;
  constexpr std::size_t kCalls = 20;
  for (std::size_t call = 0; call < kCalls; ++call) {
    MarkovGraph::Convergence of_kept, of_zeros;
    const double bound = going_on.log_partition(s, mu, of_kept, ws);
    EXPECT_NEAR(bound, anew.log_partition(s, expected, of_zeros, ws), 1e-9 * std::abs(bound));
    for (std::size_t k = 0; k < s.size(); ++k) ASSERT_NEAR(mu[k], expected[k], 1e-5);
    EXPECT_TRUE(of_kept.converged && of_zeros.converged);
    kept_sweeps += of_kept.iterations;
    sweeps += of_zeros.iterations;
    for (double& x : s) x += 0.02 * (2 * random.uniform() - 1);
  }
  EXPECT_LT(kept_sweeps, sweeps);
  EXPECT_LE(kept_sweeps, 20 * kCalls);
}

// What a call returns depends on calls before, and on nothing else.
TEST(KeptMessages, TheSameCallsGiveTheSameBits) {
  const auto graph = grid(4, 3);
  const MarkovGraph structure(graph, trw());
  const MarkovGraph first = structure.keeping_messages(), second = first.keeping_messages();
  EXPECT_EQ(structure.message_bytes(), 0u);
  EXPECT_EQ(first.message_bytes(), 2 * 24 * 3 * sizeof(float));
  Random random(3);
  Workspace ws;
  std::vector<double> mu(graph->num_statistics()), other(mu.size());
  std::vector<float> rounded_mu(mu.size());
  std::vector<std::vector<double>> scores;
  for (int call = 0; call < 5; ++call) scores.push_back(random_scores(mu.size(), 2, random));
  for (const auto& s : scores) {
    const std::vector<float> rounded(s.begin(), s.end());
    first.log_partition(std::span<const float>(rounded), std::span(rounded_mu), ws);
  }
  const double expected = first.log_partition(std::span<const double>(scores[0]), std::span(mu), ws);
  for (const auto& s : scores) {
    const std::vector<float> rounded(s.begin(), s.end());
    second.log_partition(std::span<const float>(rounded), std::span(rounded_mu), ws);
  }
  EXPECT_EQ(second.log_partition(std::span<const double>(scores[0]), std::span(other), ws), expected);
  EXPECT_EQ(mu, other);
}

TEST(KeptMessages, SeveralThreadsMayAsk) {
  const auto graph = grid(4, 3);
  const MarkovGraph structure = MarkovGraph(graph, trw()).keeping_messages();
  Random random(4);
  const auto s = random_scores(graph->num_statistics(), 2, random);
  std::vector<double> found(2);
  std::vector<std::thread> threads;
  for (double& value : found) {
    threads.emplace_back([&] {
      Workspace ws;
      std::vector<double> mu(s.size());
      for (int call = 0; call < 20; ++call)
        value = structure.log_partition(std::span<const double>(s), std::span(mu), ws);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NEAR(found[0], found[1], 1e-9);
}

}  // namespace
}  // namespace espalier::kept_messages_test
