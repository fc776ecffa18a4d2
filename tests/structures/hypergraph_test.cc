// Hypergraphs against the sum over all outputs: what each of them is made of, and what they have in common.

#include "structures/hypergraph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "structures/cfg.h"
#include "structures/dependency_tree.h"
#include "structures/markov_graph.h"
#include "support/enumeration.h"
#include "support/error_message.h"
#include "support/random_dependencies.h"
#include "support/random_grammar.h"
#include "support/random_graph.h"
#include "support/random_scores.h"

namespace espalier::hypergraph_test {
namespace {

using test_support::close;

// The cliques of each output.
template <class Output>
std::vector<std::vector<std::uint32_t>> outputs_of(const Hypergraph& graph,
                                                   const test_support::Enumeration<Output>& e,
                                                   std::size_t cliques_of_output, Workspace& ws) {
  std::vector<std::vector<std::uint32_t>> found;
  for (const std::vector<double>& chi : e.chi) {
    found.emplace_back(cliques_of_output);
    const std::vector<float> as_floats(chi.begin(), chi.end());
    if (!hypergraph_output(graph, as_floats, found.back(), ws)) found.back().clear();
  }
  return found;
}

// log of the product over edges of p(e)/p(v).
double log_conditionals(std::span<const double> cliques, std::span<const std::uint32_t> output) {
  double sum = 0;
  for (std::size_t k = 0; k < output.size() / 2; ++k)
    sum += std::log(cliques[output[k]]) - std::log(cliques[output[k + output.size() / 2]]);
  return sum;
}

// `ambiguous`: several outputs may have the same statistics.
template <class S>
std::string check_hypergraph(const S& structure, const Hypergraph& graph, std::span<const double> s,
                             bool ambiguous, double tolerance) {
  const auto e = test_support::enumerate(structure, s);
  Workspace ws;
  std::vector<double> cliques(graph.num_clique_marginals(), -1.0), mu(s.size(), -1.0);
  const double log_z = hypergraph_marginals(graph, s, cliques, mu, ws);
  if (!close(log_z, e.log_z, tolerance * (1 + e.largest)))
    return fmt::format("log Z is {}, not {}", log_z, e.log_z);
  const double mu_tolerance = tolerance * (1 + e.largest);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    if (!close(mu[k], e.mu[k], mu_tolerance)) return fmt::format("mu[{}] is {}, not {}", k, mu[k], e.mu[k]);
  }

  // How often a derivation takes each clique, and as many nodes in all of them.
  std::vector<std::size_t> below(graph.num_nodes(), 1);
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    for (std::size_t edge = graph.first_edge[v]; edge < graph.first_edge[v + 1]; ++edge) {
      std::size_t nodes = 1;
      for (const std::uint32_t tail : graph.tails_of(edge)) {
        if (tail >= v) return fmt::format("node {} has tail {}", v, tail);
        nodes += below[tail];
      }
      if (edge > graph.first_edge[v] && nodes != below[v])
        return fmt::format("node {} has outputs of {} and of {} nodes", v, below[v], nodes);
      below[v] = nodes;
    }
  }
  const std::size_t size = 2 * below[graph.root()];
  const auto outputs = outputs_of(graph, e, size, ws);
  std::vector<double> expected(cliques.size(), 0.0);
  for (std::size_t y = 0; y < outputs.size(); ++y) {
    if (outputs[y].empty()) return fmt::format("output {} is not found", y);
    if (!std::ranges::is_sorted(outputs[y]) || std::ranges::adjacent_find(outputs[y]) != outputs[y].end())
      return fmt::format("the cliques of output {} do not ascend", y);
    std::vector<double> chi(s.size(), 0.0);
    for (std::size_t k = 0; k < size / 2; ++k) {
      for (const std::uint32_t j : graph.statistics_of(outputs[y][k])) chi[j] += 1;
    }
    if (chi != e.chi[y]) return fmt::format("the cliques of output {} do not count its statistics", y);
    for (const std::uint32_t c : outputs[y]) expected[c] += e.probabilities[y];
  }
  if (!ambiguous) {
    for (std::size_t c = 0; c < cliques.size(); ++c) {
      if (!close(cliques[c], expected[c], mu_tolerance))
        return fmt::format("clique {} has probability {}, not {}", c, cliques[c], expected[c]);
    }
    for (std::size_t y = 0; y < outputs.size(); ++y) {
      if (e.probabilities[y] < 1e-200) continue;
      const double log_p = log_conditionals(cliques, outputs[y]);
      if (!close(log_p, std::log(e.probabilities[y]),
                 10 * tolerance * static_cast<double>(size) * (1 + e.largest)))
        return fmt::format("log u of output {} is {}, not {}", y, log_p, std::log(e.probabilities[y]));
    }
  }

  // -sum p log p over edges, less that of nodes.
  double entropy = 0;
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    const double surprise = cliques[c] > 0 ? -cliques[c] * std::log(cliques[c]) : 0;
    entropy += c < graph.num_edges() ? surprise : -surprise;
  }
  if (!close(entropy, e.entropy, static_cast<double>(size) * mu_tolerance))
    return fmt::format("the entropy of cliques is {}, not {}", entropy, e.entropy);

  // The same again from floats.
  const std::vector<float> rounded(cliques.begin(), cliques.end());
  std::vector<double> again(s.size(), -1.0);
  const double rebuilt = hypergraph_distribution(graph, rounded, again, ws);
  if (!close(rebuilt, e.entropy, 1e-5 * static_cast<double>(size)))
    return fmt::format("the entropy of the distribution is {}, not {}", rebuilt, e.entropy);
  for (std::size_t k = 0; k < again.size(); ++k) {
    if (!close(again[k], e.mu[k], 1e-6 * static_cast<double>(size)))
      return fmt::format("mu[{}] of the distribution is {}, not {}", k, again[k], e.mu[k]);
  }
  return "";
}

// The lowest of the mixtures of some outputs: all derivations of the cliques that these have.
template <class S>
std::string check_lowest(const S& structure, const Hypergraph& graph, std::span<const float> s,
                         std::uint64_t seed) {
  const std::vector<double> wide(s.begin(), s.end());
  const auto e = test_support::enumerate(structure, std::span<const double>(wide));
  Workspace ws;
  std::vector<std::uint32_t> output;
  std::vector<double> cliques(graph.num_clique_marginals()), mu(s.size());
  hypergraph_marginals(graph, std::vector<double>(s.size(), 0.0), cliques, mu, ws);
  double nodes =
      std::accumulate(cliques.begin() + static_cast<std::ptrdiff_t>(graph.num_edges()), cliques.end(), 0.0);
  output.resize(2 * static_cast<std::size_t>(std::lround(nodes)));
  const auto outputs = outputs_of(graph, e, output.size(), ws);
  Random random(seed);
  std::vector<float> mass(cliques.size(), 0.0f);
  for (int k = 0; k < 3; ++k) {
    for (const std::uint32_t c : outputs[random.below(outputs.size())]) mass[c] += 1.0f / 3;
  }
  double expected = std::numeric_limits<double>::infinity();
  for (std::size_t y = 0; y < outputs.size(); ++y) {
    const bool has_mass = std::ranges::all_of(outputs[y], [&](std::uint32_t c) { return mass[c] > 0; });
    if (has_mass) expected = std::min(expected, e.scores[y]);
  }
  if (!hypergraph_lowest(graph, s, mass, output, ws)) return "there is no output of lowest score";
  double score = 0;
  for (std::size_t k = 0; k < output.size() / 2; ++k) {
    for (const std::uint32_t j : graph.statistics_of(output[k])) score += wide[j];
  }
  if (!close(score, expected, 1e-12 * (1 + e.largest)))
    return fmt::format("the lowest score is {}, not {}", score, expected);
  if (!std::ranges::all_of(output, [&](std::uint32_t c) { return mass[c] > 0; }))
    return "the output of lowest score has a clique without mass";
  if (hypergraph_lowest(graph, s, std::vector<float>(mass.size(), 0.0f), output, ws))
    return "an output is found where no clique has mass";
  return "";
}

// The largest product of a cost and a score, over all outputs. Statistics cost 0 to 2.
template <class S>
std::string check_by_cost(const S& structure, const Hypergraph& graph, std::span<const double> s,
                          std::uint64_t seed) {
  const auto e = test_support::enumerate(structure, s);
  Random random(seed);
  std::vector<std::uint32_t> costs(s.size());
  for (auto& cost : costs) cost = static_cast<std::uint32_t>(random.below(3));
  const double margin = 4 * random.uniform() - 2;
  const auto value_of = [&](const std::vector<double>& chi, double score) {
    const double cost = std::inner_product(chi.begin(), chi.end(), costs.begin(), 0.0);
    return cost == 0 ? 0 : cost * (margin + score);
  };
  double expected = -std::numeric_limits<double>::infinity();
  for (std::size_t y = 0; y < e.chi.size(); ++y)
    expected = std::max(expected, value_of(e.chi[y], e.scores[y]));
  Workspace ws;
  std::vector<double> chi(s.size(), -1.0);
  const double found = hypergraph_best_by_cost(graph, s, costs, margin, chi, ws);
  // The largest cost is some tens.
  const double tolerance = 1e-11 * (1 + e.largest);
  if (!close(found, expected, tolerance)) return fmt::format("the maximum is {}, not {}", found, expected);
  const auto y = static_cast<std::size_t>(std::ranges::find(e.chi, chi) - e.chi.begin());
  if (y == e.chi.size()) return "the statistics are those of no output";
  if (!close(value_of(chi, e.scores[y]), expected, tolerance))
    return fmt::format("the output has {}, not {}", value_of(chi, e.scores[y]), expected);
  return "";
}

struct AnyTree {
  AnyTree() {
    shape.single_root = *rc::gen::arbitrary<bool>();
    const auto words = *rc::gen::inRange<std::size_t>(1, 6);
    shape.num_labels = words > 4 ? 1 : *rc::gen::inRange<std::size_t>(1, 4);
    const auto all = test_support::all_trees(words, true, shape.single_root);
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    some = test_support::random_arcs(random, all[random.below(all.size())], 0.6);
    arcs = *rc::gen::arbitrary<bool>() ? ArcSet(words) : some.view();
  }
  TreeShape shape;
  test_support::OwnedArcs some;
  ArcSet arcs{1};
};

RC_GTEST_PROP(Hypergraph, ProjectiveTreesAreThoseOfEnumeration, ()) {
  const AnyTree any;
  const DependencyTree structure(any.arcs, any.shape);
  Workspace ws;
  Workspace::Frame frame(ws);
  const Hypergraph graph =
      projective_hypergraph(any.arcs, any.shape.single_root, any.shape.num_labels, frame);
  const auto s = *test_support::finite_scores(structure.num_statistics());
  RC_ASSERT(check_hypergraph(structure, graph, s, false, 1e-13) == "");
  const std::vector<float> as_floats(s.begin(), s.end());
  RC_ASSERT(check_lowest(structure, graph, as_floats, *rc::gen::arbitrary<std::uint64_t>()) == "");
  RC_ASSERT(check_by_cost(structure, graph, s, *rc::gen::arbitrary<std::uint64_t>()) == "");
}

// Scores far beyond what exponentials take.
RC_GTEST_PROP(Hypergraph, ScoresMayHaveAnyRange, ()) {
  const AnyTree any;
  const DependencyTree structure(any.arcs, any.shape);
  Workspace ws;
  Workspace::Frame frame(ws);
  const Hypergraph graph =
      projective_hypergraph(any.arcs, any.shape.single_root, any.shape.num_labels, frame);
  auto s = *test_support::finite_scores(structure.num_statistics());
  for (double& x : s) x *= 1e4;
  // What scores lose by cancelling.
  RC_ASSERT(check_hypergraph(structure, graph, s, false, 1e-9) == "");
}

// Tied rules and splits may leave two derivations with the same statistics.
RC_GTEST_PROP(Hypergraph, DerivationsAreThoseOfEnumeration, (std::uint64_t seed)) {
  Random random(seed);
  const auto index = std::make_shared<const GrammarIndex>(test_support::random_grammar(random));
  const test_support::OwnedCfg forest(
      index, test_support::random_tags(random, test_support::draw(random, 1, 4), index->grammar().num_tags));
  RC_PRE(forest.possible());
  Workspace ws;
  Workspace::Frame frame(ws);
  const Hypergraph graph = forest.hypergraph(frame);
  const auto s = *test_support::finite_scores(forest.num_statistics());
  auto chis = test_support::enumerate(forest, std::span<const double>(s)).chi;
  RC_PRE(chis.size() < 500u);
  std::ranges::sort(chis);
  const bool ambiguous = std::ranges::adjacent_find(chis) != chis.end();
  RC_CLASSIFY(ambiguous);
  RC_ASSERT(check_hypergraph(forest, graph, s, ambiguous, 1e-13) == "");
  RC_ASSERT(check_by_cost(forest, graph, s, random.next()) == "");
  if (ambiguous) return;
  const std::vector<float> as_floats(s.begin(), s.end());
  RC_ASSERT(check_lowest(forest, graph, as_floats, random.next()) == "");
}

RC_GTEST_PROP(Hypergraph, LabellingsAreThoseOfEnumeration, ()) {
  const auto factors = test_support::draw_graph(3, true);
  // Every variable is seen.
  for (std::uint32_t v = 0; v < factors->num_variables(); ++v)
    factors->add_clique(std::vector<std::uint32_t>{v});
  const MarkovGraph structure(factors, {.inference = GraphInference::exact});
  RC_ASSERT(structure.has_hypergraph());
  Workspace ws;
  Workspace::Frame frame(ws);
  const Hypergraph graph = structure.hypergraph(frame);
  const auto s = *test_support::finite_scores(structure.num_statistics());
  std::size_t outputs = 1;
  for (const std::uint32_t labels : factors->cardinalities()) outputs *= labels;
  RC_PRE(outputs < 1000u);
  RC_CLASSIFY(outputs > 50u, "many");
  RC_ASSERT(check_hypergraph(structure, graph, s, false, 1e-13) == "");
  const std::vector<float> as_floats(s.begin(), s.end());
  RC_ASSERT(check_lowest(structure, graph, as_floats, *rc::gen::arbitrary<std::uint64_t>()) == "");
  RC_ASSERT(check_by_cost(structure, graph, s, *rc::gen::arbitrary<std::uint64_t>()) == "");
}

TEST(Hypergraph, OfAGraphHasToFitInMemory) {
  const auto factors = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(12, 4));
  for (std::uint32_t v = 1; v < 12; ++v) factors->add_clique(std::vector<std::uint32_t>{v - 1, v});
  EXPECT_TRUE(MarkovGraph(factors).has_hypergraph());
  // Tables of 16 entries, one after the other, take less than all of them at once.
  const MarkovGraph small(factors, {.memory = 1000});
  EXPECT_TRUE(small.exact());
  EXPECT_FALSE(small.has_hypergraph());
  EXPECT_FALSE(MarkovGraph(factors, {.inference = GraphInference::trw}).has_hypergraph());
}

// Of 40 words, m(m^2 - 1)/2 edges of halves and those of arcs.
TEST(Hypergraph, OfASentenceHasCubicallyManyEdges) {
  Workspace ws;
  Workspace::Frame frame(ws);
  const std::size_t m = 40, n = m + 1;
  const Hypergraph graph = projective_hypergraph(ArcSet(m), false, 2, frame);
  // S and R of all spans, L of those without the root; both labels of m^2 arcs.
  const std::size_t splits = n * (n * n - 1) / 6, without_root = m * (m * m - 1) / 6;
  EXPECT_EQ(graph.num_edges(), 2 * splits + without_root + 2 * m * m);
  std::vector<double> cliques(graph.num_clique_marginals()), mu(2 * m * m);
  const std::vector<double> s(mu.size(), 0.25);
  const DependencyTree structure(ArcSet(m), {true, false, 2});
  std::vector<double> expected(mu.size());
  const double log_z = hypergraph_marginals(graph, s, cliques, mu, ws);
  EXPECT_NEAR(log_z, structure.log_partition(std::span<const double>(s), std::span<double>(expected), ws),
              1e-11);
  for (std::size_t k = 0; k < mu.size(); ++k) EXPECT_NEAR(mu[k], expected[k], 1e-13);
}

TEST(Hypergraph, RebuildsADistributionWhereRoundingLeftNone) {
  Workspace ws;
  Workspace::Frame frame(ws);
  const Hypergraph graph = projective_hypergraph(ArcSet(3), false, 1, frame);
  std::vector<double> cliques(graph.num_clique_marginals()), mu(9);
  hypergraph_marginals(graph, std::vector<double>(9, 0.0), cliques, mu, ws);
  std::vector<float> rounded(cliques.begin(), cliques.end());
  // A node that other nodes' edges lead to has lost its own.
  rounded[0] = 0;
  const double entropy = hypergraph_distribution(graph, rounded, mu, ws);
  EXPECT_GT(entropy, 0);
  for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(mu[3 * d] + mu[3 * d + 1] + mu[3 * d + 2], 1, 1e-12);
  std::ranges::fill(rounded, 0.0f);
  EXPECT_EQ(testing::error_message([&] { hypergraph_distribution(graph, rounded, mu, ws); }),
            "hyperedges: clique marginals that no output has; expected those of a distribution");
}

}  // namespace
}  // namespace espalier::hypergraph_test
