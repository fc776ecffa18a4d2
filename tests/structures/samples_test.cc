// Outputs drawn from their distribution, against the probabilities of all of them; and the entropy.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "structures/cfg.h"
#include "structures/dependency_tree.h"
#include "structures/markov_graph.h"
#include "support/all_outputs.h"
#include "support/enumeration.h"
#include "support/random_grammar.h"

namespace espalier::samples_test {
namespace {

using Chi = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Pearson's statistic of the draws is about as large as it has degrees of freedom, of which those of outputs
// with few draws are one.
void check_frequencies(const std::map<Chi, double>& probabilities, const std::map<Chi, std::size_t>& drawn,
                       std::size_t n) {
  double statistic = 0, rare = 0;
  std::size_t rare_draws = 0, cells = 0, all = 0;
  const auto add = [&](double expected, std::size_t found) {
    const double difference = static_cast<double>(found) - expected;
    statistic += difference * difference / expected;
    ++cells;
  };
  for (const auto& [chi, p] : probabilities) {
    const auto at = drawn.find(chi);
    const std::size_t found = at == drawn.end() ? 0 : at->second;
    all += found;
    const double expected = p * static_cast<double>(n);
    if (expected >= 5) {
      add(expected, found);
    } else {
      rare += expected;
      rare_draws += found;
    }
  }
  EXPECT_EQ(all, n) << "something that is no output";
  if (rare >= 5) {
    add(rare, rare_draws);
  } else {
    EXPECT_LE(static_cast<double>(rare_draws), rare + 6 * std::sqrt(rare) + 3);
  }
  const double freedom = static_cast<double>(cells) - 1;
  EXPECT_LE(statistic, freedom + 4 * std::sqrt(2 * freedom) + 4) << cells << " cells";
}

template <class Structure, class Outputs>
void check(const Structure& structure, const Outputs& outputs, const std::vector<double>& s,
           std::uint64_t seed) {
  const auto chi_of = [&](const auto& y) {
    Chi chi(structure.num_statistics());
    structure.indicator(y, std::span<double>(chi));
    return chi;
  };
  std::map<Chi, double> probabilities;
  double highest = -kInfinity, z = 0, entropy = 0;
  std::vector<double> scores;
  for (const auto& y : outputs) {
    const Chi chi = chi_of(y);
    double score = 0;
    for (std::size_t k = 0; k < s.size(); ++k) score += chi[k] > 0 ? chi[k] * s[k] : 0;
    scores.push_back(score);
    highest = std::max(highest, score);
  }
  for (const double score : scores) z += std::exp(score - highest);
  for (std::size_t y = 0; y < outputs.size(); ++y) {
    const double p = std::exp(scores[y] - highest) / z;
    if (p > 0) {
      probabilities[chi_of(outputs[y])] += p;
      entropy -= p * std::log(p);
    }
  }
  Workspace ws;
  EXPECT_NEAR(structure.entropy(s, ws), entropy, 1e-9 * (1 + std::abs(highest)));
  constexpr std::size_t kDraws = 4000;
  Random random(seed), same(seed);
  std::map<Chi, std::size_t> drawn;
  const auto samples = structure.samples(s, kDraws, random);
  ASSERT_EQ(samples.size(), kDraws);
  for (const auto& y : samples) ++drawn[chi_of(y)];
  check_frequencies(probabilities, drawn, kDraws);
  // One after the other is the same as all at once.
  EXPECT_EQ(chi_of(structure.samples(s, 1, same).front()), chi_of(samples.front()));
}

std::vector<double> random_scores(Random& random, std::size_t n, double size) {
  std::vector<double> s(n);
  for (double& x : s) x = size * (2 * random.uniform() - 1);
  return s;
}

TEST(Samples, OfTrees) {
  Random random(1);
  for (const bool projective : {true, false}) {
    for (const bool single_root : {true, false}) {
      for (const std::size_t words : {1, 2, 4}) {
        for (const std::size_t labels : {1, 2}) {
          SCOPED_TRACE(std::to_string(words) + (projective ? " projective" : "") +
                       (single_root ? " single root" : ""));
          const ArcSet arcs(words);
          const DependencyTree tree(arcs, {projective, single_root, labels});
          const auto outputs = all_outputs(tree);
          for (const double size : {0.5, 3.0})
            check(tree, outputs, random_scores(random, tree.num_statistics(), size), random.next());
        }
      }
    }
  }
}

// Where some arcs are excluded, and where two words score each other so high that a random walk would go to
// and fro between them for ever.
TEST(Samples, OfTreesWithScoresOfAnyRange) {
  Random random(2);
  for (const bool projective : {true, false}) {
    for (const bool single_root : {true, false}) {
      const std::size_t words = 4;
      const ArcSet arcs(words);
      const DependencyTree tree(arcs, {projective, single_root, 1});
      const auto outputs = all_outputs(tree);
      std::vector<double> s = random_scores(random, tree.num_statistics(), 1);
      s[arcs.find(1, 2)] += 800;
      s[arcs.find(2, 1)] += 800;
      s[arcs.find(0, 3)] = -kInfinity;
      s[arcs.find(4, 3)] -= 1000;
      check(tree, outputs, s, random.next());
    }
  }
}

TEST(Samples, OfDerivations) {
  Random random(3);
  int checked = 0;
  for (int trial = 0; checked < 6; ++trial) {
    const GrammarIndex index(test_support::random_grammar(random));
    const Cfg forest(index, test_support::random_tags(random, 1 + trial % 4, index.grammar().num_tags));
    if (!forest.possible()) continue;
    const auto outputs = all_outputs(forest);
    if (outputs.size() < 2 || outputs.size() > 300) continue;
    for (const double size : {0.5, 3.0, 400.0})
      check(forest, outputs, random_scores(random, forest.num_statistics(), size), random.next());
    ++checked;
  }
}

TEST(Samples, OfGraphs) {
  Random random(4);
  // A loop of four variables with a chord, a part that has no edge, and labellings that are forbidden.
  const std::vector<std::uint32_t> cardinalities{2, 3, 2, 2, 3};
  const std::vector<std::vector<std::uint32_t>> scopes{{0},    {1},    {2},    {3},    {4},
                                                       {0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2, 1}};
  const auto graph = std::make_shared<FactorGraph>(cardinalities);
  for (const auto& scope : scopes) graph->add_clique(scope);
  graph->forbid(6, 2);
  const MarkovGraph structure(graph, {GraphInference::exact});
  std::vector<MarkovGraph::Output> outputs;
  MarkovGraph::Output y(cardinalities.size(), 0);
  for (std::size_t v = 0; v < y.size();) {
    outputs.push_back(y);
    for (v = 0; v < y.size() && ++y[v] == cardinalities[v]; ++v) y[v] = 0;
  }
  ASSERT_EQ(outputs.size(), 72u);
  for (const double size : {0.5, 3.0}) {
    std::vector<double> s = random_scores(random, structure.num_statistics(), size);
    s[graph->begin(5) + 1] = -kInfinity;
    s[graph->begin(6) + 2] = -kInfinity;  // as the graph has it
    check(structure, outputs, s, random.next());
  }
}

}  // namespace
}  // namespace espalier::samples_test
