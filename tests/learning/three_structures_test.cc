// One tagging problem as a chain, as a graph and as a right-linear grammar: the same distributions, and the
// same optimum.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "espalier/learning/structured_problem.h"
#include "espalier/solvers/eg.h"
#include "solvers/frank_wolfe.h"
#include "structures/cfg.h"
#include "structures/chain.h"
#include "structures/markov_graph.h"
#include "support/until_gap.h"

namespace espalier {
namespace {

constexpr std::uint32_t kLabels = 3, kAttributes = 5;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A word has one attribute.
struct Sentence {
  std::vector<std::uint32_t> attributes, labels;
};

std::vector<Sentence> random_sentences(std::uint64_t seed) {
  Random random(seed);
  std::vector<Sentence> sentences(12);
  for (Sentence& sentence : sentences) {
    for (std::size_t t = 2 + random.below(5); t > 0; --t) {
      sentence.attributes.push_back(static_cast<std::uint32_t>(random.below(kAttributes)));
      sentence.labels.push_back(static_cast<std::uint32_t>(random.below(kLabels)));
    }
  }
  return sentences;
}

// The weight of an attribute with a label, and of a label after another.
std::uint32_t node_weight(std::uint32_t attribute, std::uint32_t label) {
  return attribute * kLabels + label;
}
std::uint32_t step_weight(std::uint32_t before, std::uint32_t label) {
  return (kAttributes + before) * kLabels + label;
}
constexpr std::size_t kWeights = (kAttributes + kLabels) * kLabels;

// Each statistic has one weight, or none, and a cost.
template <class Structure>
struct Example {
  Structure structure;
  std::vector<std::uint32_t> weights;
  std::vector<double> gold, cost;
};

template <class Structure>
class Examples {
 public:
  explicit Examples(std::vector<Example<Structure>> examples) : examples_(std::move(examples)) {}

  std::size_t size() const { return examples_.size(); }
  WeightShape weight_shape() const { return {kWeights, 1}; }
  const Structure& structure(std::size_t i) const { return examples_[i].structure; }
  double weight(std::size_t) const { return 1; }
  double cost_offset(std::size_t) const { return 0; }
  // A sequence of m labels has 2m - 1 weights, each at most so often.
  double squared_diameter(std::size_t i) const {
    const double parts = 2 * std::accumulate(examples_[i].gold.begin(), examples_[i].gold.end(), 0.0);
    return 2 * parts * parts;
  }

  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += scale * static_cast<Real>(examples_[i].gold[k]);
  }
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += scale * static_cast<Real>(examples_[i].cost[k]);
  }
  template <class Real, class Scale>
  void score(std::size_t i, const BasicWeights<Real>& w, Scale scale, std::span<Scale> s, Workspace&) const {
    for (std::size_t k = 0; k < s.size(); ++k) {
      const std::uint32_t place = examples_[i].weights[k];
      s[k] = place == kNone ? Scale{0} : scale * static_cast<Scale>(*w.row(place));
    }
  }
  template <class Real>
  void accumulate(std::size_t i, std::span<const Real> delta, BasicWeights<Real>& w, Workspace&) const {
    for (std::size_t k = 0; k < delta.size(); ++k) {
      if (examples_[i].weights[k] != kNone) *w.row(examples_[i].weights[k]) += delta[k];
    }
  }
  template <class Real>
  double squared_norm(std::size_t i, std::span<const Real> delta, Workspace&) const {
    std::vector<double> sum(kWeights);
    for (std::size_t k = 0; k < delta.size(); ++k) {
      if (examples_[i].weights[k] != kNone) sum[examples_[i].weights[k]] += delta[k];
    }
    return std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0);
  }

 private:
  std::vector<Example<Structure>> examples_;
};

Example<Chain> as_chain(const Sentence& sentence) {
  const std::size_t words = sentence.labels.size();
  Example<Chain> example{Chain(words, kLabels), {}, {}, {}};
  for (const std::uint32_t attribute : sentence.attributes) {
    for (std::uint32_t j = 0; j < kLabels; ++j) example.weights.push_back(node_weight(attribute, j));
  }
  for (std::uint32_t i = 0; i < kLabels; ++i) {
    for (std::uint32_t j = 0; j < kLabels; ++j) example.weights.push_back(step_weight(i, j));
  }
  example.gold.resize(example.weights.size());
  example.structure.indicator(sentence.labels, std::span<double>(example.gold));
  example.cost.resize(example.weights.size());
  for (std::size_t t = 0; t < words; ++t) {
    for (std::uint32_t j = 0; j < kLabels; ++j) example.cost[t * kLabels + j] = j != sentence.labels[t];
  }
  return example;
}

// A clique for each word, and one for each pair of neighbours.
Example<MarkovGraph> as_graph(const Sentence& sentence) {
  const auto words = static_cast<std::uint32_t>(sentence.labels.size());
  auto graph = std::make_shared<FactorGraph>(std::vector<std::uint32_t>(words, kLabels));
  std::vector<std::uint32_t> weights;
  std::vector<double> cost;
  for (std::uint32_t t = 0; t < words; ++t) {
    graph->add_clique(std::vector<std::uint32_t>{t});
    for (std::uint32_t j = 0; j < kLabels; ++j) {
      weights.push_back(node_weight(sentence.attributes[t], j));
      cost.push_back(j != sentence.labels[t]);
    }
  }
  for (std::uint32_t t = 1; t < words; ++t) {
    graph->add_clique(std::vector<std::uint32_t>{t - 1, t});
    for (std::uint32_t i = 0; i < kLabels; ++i) {
      for (std::uint32_t j = 0; j < kLabels; ++j) weights.push_back(step_weight(i, j));
    }
  }
  cost.resize(weights.size());
  Example<MarkovGraph> example{
      MarkovGraph(graph, {.inference = GraphInference::exact}), std::move(weights), {}, std::move(cost)};
  example.gold.resize(example.weights.size());
  example.structure.indicator(sentence.labels, std::span<double>(example.gold));
  return example;
}

// Symbol kLabels + i derives all that begins with label i: the word and what derives the rest.
GrammarIndex right_linear_grammar() {
  Grammar grammar;
  grammar.num_tags = kLabels;
  grammar.num_symbols = 2 * kLabels + 1;
  grammar.start = 2 * kLabels;
  grammar.labels.assign(grammar.num_symbols, kNoLabel);
  for (std::uint32_t i = 0; i < kLabels; ++i) {
    for (std::uint32_t j = 0; j < kLabels; ++j) grammar.binaries.push_back({kLabels + i, i, kLabels + j});
  }
  for (std::uint32_t j = 0; j < kLabels; ++j) grammar.unaries.push_back({kLabels + j, j, {}});
  for (std::uint32_t j = 0; j < kLabels; ++j) grammar.unaries.push_back({grammar.start, kLabels + j, {}});
  return GrammarIndex(std::move(grammar));
}

Example<Cfg> as_derivations(const GrammarIndex& index, const Sentence& sentence) {
  const auto words = static_cast<std::uint32_t>(sentence.labels.size());
  std::vector<std::uint32_t> all(kLabels);
  std::iota(all.begin(), all.end(), 0u);
  Example<Cfg> example{Cfg(index, TagSets(words, all)), {}, {}, {}};
  const Cfg& forest = example.structure;
  example.weights.assign(forest.num_statistics(), kNone);
  example.cost.resize(forest.num_statistics());
  for (std::size_t k = 0; k < forest.rules().size(); ++k) {
    const std::uint32_t rule = forest.rules()[k];
    if (rule >= index.grammar().binaries.size()) continue;
    const Grammar::Binary& binary = index.grammar().binaries[rule];
    example.weights[k] = step_weight(binary.left, binary.right - kLabels);
  }
  for (std::uint32_t t = 0; t < words; ++t) {
    for (std::uint32_t j = 0; j < kLabels; ++j) {
      example.weights[forest.tagged(t).first + j] = node_weight(sentence.attributes[t], j);
      example.cost[forest.tagged(t).first + j] = j != sentence.labels[t];
    }
  }
  Derivation gold;
  const std::vector<std::uint32_t>& y = sentence.labels;
  for (std::uint32_t t = 0; t < words; ++t) {
    const bool last = t + 1 == words;
    if (!last) {
      const std::uint32_t unary = t == 0 ? kLabels + y[0] : kNoRule;
      gold.nodes.push_back({t, t + 1, words, y[t] * kLabels + y[t + 1], unary});
    }
    gold.nodes.push_back({t, t, t + 1, y[t], last ? y[t] : kNoRule});
  }
  example.gold.resize(forest.num_statistics());
  example.structure.indicator(gold, std::span<double>(example.gold));
  return example;
}

struct Expectation {
  double log_z;
  std::vector<double> weights;  // how often each weight is used
  double best;
};

template <class Structure>
Expectation expectation(const Example<Structure>& example, std::span<const double> w) {
  Workspace ws;
  std::vector<double> s(example.weights.size()), mu(s.size());
  for (std::size_t k = 0; k < s.size(); ++k) s[k] = example.weights[k] == kNone ? 0 : w[example.weights[k]];
  Expectation found{example.structure.log_partition(std::span<const double>(s), std::span<double>(mu), ws),
                    std::vector<double>(kWeights), 0};
  for (std::size_t k = 0; k < s.size(); ++k) {
    if (example.weights[k] != kNone) found.weights[example.weights[k]] += mu[k];
  }
  found.best = example.structure.argmax(std::span<const double>(s), std::span<double>(mu), ws);
  return found;
}

TEST(ThreeStructures, HaveTheSameDistributions) {
  const GrammarIndex index = right_linear_grammar();
  Random random(5);
  for (const Sentence& sentence : random_sentences(1)) {
    for (const double width : {1.0, 20.0}) {
      std::vector<double> w(kWeights);
      for (double& weight : w) weight = width * (2 * random.uniform() - 1);
      const Expectation chain = expectation(as_chain(sentence), w);
      for (const Expectation& other :
           {expectation(as_graph(sentence), w), expectation(as_derivations(index, sentence), w)}) {
        EXPECT_NEAR(other.log_z, chain.log_z, 1e-12 * (1 + std::abs(chain.log_z)));
        EXPECT_NEAR(other.best, chain.best, 1e-12 * (1 + std::abs(chain.best)));
        for (std::size_t j = 0; j < kWeights; ++j) EXPECT_NEAR(other.weights[j], chain.weights[j], 1e-11);
      }
    }
  }
}

template <class Structure>
Progress trained(std::vector<Example<Structure>> examples, const Loss& loss, Weights& theta) {
  const StructuredProblem<Examples<Structure>> problem{Examples<Structure>(std::move(examples))};
  const Objective objective{problem, loss, 0.5};
  if (loss.smooth()) {
    DualState dual(problem);
    return eg(objective, test_support::until_gap<EgOptions>(1e-7, 5000), dual, theta).history.back();
  }
  MeanState means(problem);
  theta = Weights(problem.weight_shape());
  return frank_wolfe(objective, test_support::until_gap<FrankWolfeOptions>(1e-6, 20000), means, theta)
      .history.back();
}

// At a gap g the weights are within sqrt(2 g/l2) of the best ones.
TEST(ThreeStructures, HaveTheSameOptimum) {
  const GrammarIndex index = right_linear_grammar();
  std::vector<Example<Chain>> chains;
  std::vector<Example<MarkovGraph>> graphs;
  std::vector<Example<Cfg>> derivations;
  for (const Sentence& sentence : random_sentences(2)) {
    chains.push_back(as_chain(sentence));
    graphs.push_back(as_graph(sentence));
    derivations.push_back(as_derivations(index, sentence));
  }
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss::svm()}) {
    Weights as_chains, as_graphs, as_grammar;
    const Progress chain = trained(chains, loss, as_chains), graph = trained(graphs, loss, as_graphs),
                   grammar = trained(derivations, loss, as_grammar);
    const double tolerance = loss.smooth() ? 1e-7 : 1e-6;
    for (const Progress& progress : {chain, graph, grammar}) {
      EXPECT_LE(progress.primal - progress.dual, tolerance * progress.primal) << loss.name();
      EXPECT_NEAR(progress.primal, chain.primal, 2 * tolerance * chain.primal) << loss.name();
    }
    const double distance = 2 * std::sqrt(2 * tolerance * chain.primal / 0.5);
    for (std::size_t j = 0; j < kWeights; ++j) {
      EXPECT_NEAR(*as_graphs.row(j), *as_chains.row(j), distance) << loss.name();
      EXPECT_NEAR(*as_grammar.row(j), *as_chains.row(j), distance) << loss.name();
    }
  }
}

}  // namespace
}  // namespace espalier
