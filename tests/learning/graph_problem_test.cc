#include "learning/graph_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "features/sequences.h"
#include "learning/kept_messages.h"
#include "learning/subset_problem.h"
#include "structures/factor_graph.h"
#include "support/certificate_checks.h"
#include "support/eg_solution.h"
#include "support/feature_checks.h"
#include "support/kernel_problems.h"
#include "support/random_graph.h"
#include "support/random_graph_problem.h"
#include "support/random_objective.h"
#include "support/until_gap.h"

namespace espalier::graph_problem_test {
namespace {

using test_support::any_dual;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_weights;
using test_support::KernelGraphs;
using test_support::OwnedGraphProblem;
using test_support::RandomGraphOptions;
using test_support::RandomGraphs;
using test_support::squared_distance;

RandomGraphOptions any_graphs() {
  RandomGraphOptions options;
  options.graphs = *rc::gen::inRange<std::size_t>(1, 5);
  options.largest = *rc::gen::inRange<std::size_t>(1, 5);
  options.constrained = *rc::gen::arbitrary<bool>();
  options.weighted = *rc::gen::arbitrary<bool>();
  options.inference.inference = GraphInference::exact;
  return options;
}

RC_GTEST_PROP(GraphProblem, FeaturesAreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  Random random(seed + 1);
  RC_ASSERT(test_support::check_features(owned.problem, random) == "");
}

RC_GTEST_PROP(GraphProblem, PrimalHasTheGradientThatAccumulates, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  Random random(seed + 1);
  RC_ASSERT(test_support::check_gradient(owned.problem, random) == "");
}

RC_GTEST_PROP(GraphProblem, SharesOfRowsAddUpToAllOfThem, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  Random random(seed);
  RC_ASSERT(test_support::check_shares(owned.problem, random) == "");
}

RC_GTEST_PROP(GraphProblem, GoldIsTheGoldLabellingAndCostTheSumOverNodes, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const GraphExample& example = owned.data.examples[i];
    const MarkovGraph& structure = owned.problem.examples().structure(i);
    const std::size_t length = structure.num_statistics();
    std::vector<double> z(length, 0.25), chi(length), p(length);
    std::vector<float> near(length);
    owned.problem.add_gold(i, 2.0, z);
    structure.indicator(example.gold, std::span(chi));
    for (std::size_t k = 0; k < length; ++k) RC_ASSERT(z[k] == 0.25 + 2 * chi[k]);
    owned.problem.add_cost(i, 1.0, p);
    owned.problem.add_near_gold(i, 4.0f, near);
    RC_ASSERT(owned.problem.weight(i) == example.weight);
    RC_ASSERT(owned.problem.cost_offset(i) == 0);
    const auto outputs = all_outputs(structure);
    RC_ASSERT(std::count(outputs.begin(), outputs.end(), example.gold) == 1);
    for (const auto& y : outputs) {
      double cost = 0, wrong = 0;
      std::size_t at = 0;
      for (std::size_t v = 0; v < y.size(); ++v) {
        cost += example.cost[at + y[v]];
        wrong += y[v] != example.gold[v] ? 1 : 0;
        at += structure.graph().cardinality(v);
      }
      structure.indicator(y, std::span(chi));
      RC_ASSERT(std::abs(test_support::score_of(std::span<const double>(p), chi) - cost) <= 1e-12);
      RC_ASSERT(test_support::score_of(std::span<const float>(near), chi) == -4 * wrong);
    }
  }
}

RC_GTEST_PROP(GraphProblem, SquaredDiameterBoundsTheDistanceOfAnyTwoLabellings, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  Random random(seed + 1);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto outputs = all_outputs(owned.problem.examples().structure(i));
    for (int pair = 0; pair < 50; ++pair) {
      const auto &a = outputs[random.below(outputs.size())], &b = outputs[random.below(outputs.size())];
      RC_ASSERT(squared_distance(owned.problem, i, a, b) <= owned.problem.squared_diameter(i) * (1 + 1e-6));
    }
  }
}

RC_GTEST_PROP(GraphProblem, DualIsThatOfEnumeration, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  test_support::check_dual(owned.problem, any_loss(), any_l2(), any_dual(owned.problem));
}

RC_GTEST_PROP(GraphProblem, PrimalIsThatOfEnumeration, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  test_support::check_primal(owned.problem, any_loss(), any_l2(), any_weights(owned.problem));
}

RC_GTEST_PROP(GraphProblem, GapIsTheSumOfItsParts, (std::uint64_t seed)) {
  const OwnedGraphProblem owned(seed, any_graphs());
  test_support::check_gaps(owned.problem, any_loss(), any_l2(), any_weights(owned.problem),
                           any_dual(owned.problem));
}

// The same with nodes in kernel form.
Kernel any_kernel() {
  return Kernel::parse(*rc::gen::element<std::string>("linear", "poly,1,0,1", "poly,2,1,0.5", "rbf,0.3"));
}

RC_GTEST_PROP(GraphProblemWithKernels, FeaturesAreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  const KernelGraphs graphs(RandomGraphs(seed, any_graphs()), any_kernel());
  Random random(seed + 1);
  RC_ASSERT(test_support::check_features(graphs.problem, random) == "");
}

RC_GTEST_PROP(GraphProblemWithKernels, PrimalHasTheGradientThatAccumulates, (std::uint64_t seed)) {
  const KernelGraphs graphs(RandomGraphs(seed, any_graphs()), any_kernel());
  Random random(seed + 1);
  RC_ASSERT(test_support::check_gradient(graphs.problem, random) == "");
}

RC_GTEST_PROP(GraphProblemWithKernels, SharesOfRowsAddUpToAllOfThem, (std::uint64_t seed)) {
  const KernelGraphs graphs(RandomGraphs(seed, any_graphs()), any_kernel());
  Random random(seed);
  RC_ASSERT(test_support::check_shares(graphs.problem, random) == "");
  RC_ASSERT(test_support::check_changes_of_one_size(graphs.problem, 0.5f, random) == "");
}

RC_GTEST_PROP(GraphProblemWithKernels, SquaredDiameterBoundsTheDistanceOfAnyTwoLabellings,
              (std::uint64_t seed)) {
  const KernelGraphs graphs(RandomGraphs(seed, any_graphs()), any_kernel());
  Random random(seed + 1);
  for (std::size_t i = 0; i < graphs.problem.size(); ++i) {
    const auto outputs = all_outputs(graphs.problem.examples().structure(i));
    for (int pair = 0; pair < 50; ++pair) {
      const auto &a = outputs[random.below(outputs.size())], &b = outputs[random.below(outputs.size())];
      RC_ASSERT(squared_distance(graphs.problem, i, a, b) <= graphs.problem.squared_diameter(i) * (1 + 1e-6));
    }
  }
}

RC_GTEST_PROP(GraphProblemWithKernels, ObjectiveAndGapsAreThoseOfEnumeration, (std::uint64_t seed)) {
  const KernelGraphs graphs(RandomGraphs(seed, any_graphs()), any_kernel());
  const Loss loss = any_loss();
  const double l2 = any_l2();
  const Weights theta = any_weights(graphs.problem);
  const DualState dual = any_dual(graphs.problem);
  test_support::check_primal(graphs.problem, loss, l2, theta);
  test_support::check_dual(graphs.problem, loss, l2, dual);
  test_support::check_gaps(graphs.problem, loss, l2, theta, dual);
}

TEST(GraphProblemWithKernels, WeightsOfNodesAreOneRowForEachDifferentNode) {
  // Nodes of two types, by their features: 0:1, 0:2, 0:1 in the one, 0:1 1:1, and nothing, in the other; and
  // a pair.
  GraphFeatures linear({{1, 3, 1}, {2, 2, 1}, {1, 6, 2}, {1, 2, 1}});
  for (const float x : {1.0f, 2.0f, 1.0f}) {
    linear.add(0, 0, x);
    linear.finish_row(0);
  }
  linear.add(1, 0, 1);
  linear.add(1, 1, 1);
  linear.finish_row(1);
  linear.finish_row(1);
  linear.add(2, 0, 1);
  linear.finish_row(2);
  linear.finish_graph();
  const Kernel kernel = Kernel::parse("poly,2");
  const auto first = test_support::kernel_matrix(kernel, linear.rows(0), 1),
             second = test_support::kernel_matrix(kernel, linear.rows(1), 2);
  const GraphFeatures features(std::move(linear), {first, second});
  EXPECT_TRUE(features.has_kernels());
  EXPECT_EQ(features.kernel(0), first.get());
  EXPECT_EQ(features.kernel(2), nullptr);
  // 2 rows of 3 columns, 2 of 2, 1 of 6 and 1 of 2; nothing is known of the last type.
  EXPECT_EQ(features.weights().block(0).attributes, 2u);
  EXPECT_EQ(features.weights().block(1).begin, 16u);
  EXPECT_EQ(features.weights().block(1).attributes, 2u);
  EXPECT_EQ(features.weights().block(2).begin, 32u);
  EXPECT_EQ(features.weights().block(3).begin, 48u);

  Weights w(features.weights().shape());
  const auto at = [&](std::size_t type, std::size_t row, std::size_t column) -> float& {
    return *w.row(features.weights().place(type, row, column));
  };
  at(0, 1, 2) = 1;    // node 0:2, label 2
  at(1, 0, 1) = -1;   // node 0:1 1:1, label 1
  at(2, 0, 4) = 0.5;  // of the pair
  std::vector<float> s(3 * 3 + 2 * 2 + 6);
  Workspace ws;
  features.score(0, w.row(0), 1.0f, std::span(s), ws);
  const std::vector<float> expected{0, 0,  9, 0,  0,   25, 0, 0, 9,  // (1*2 + 1)^2, (2*2 + 1)^2
                                    0, -9, 0, -1,                    // (1 + 1 + 1)^2, 1
                                    0, 0,  0, 0,  0.5, 0};
  EXPECT_EQ(s, expected);
  EXPECT_EQ(features.squared_norm(w), 25 + 9 + 0.25);
  EXPECT_EQ(features.squared_diameter(0), 2 * (4 * 4 + 4 * 9 + 25 + (9 + 2 * 1 + 1) + 1));
  EXPECT_EQ(features.squared_change(0), 2.0 * (4 + 25 + 4 + 9 + 1 + 2 * 1) / 5);
}

TEST(GraphProblem, WeightsLieInBlocksByType) {
  const OwnedGraphProblem owned(1);
  const GraphWeights& weights = owned.data.features.weights();
  // Rows of 3, 2, 9, 6 and 18 columns, each block on a cache line of 16 floats.
  EXPECT_EQ(weights.block(0).begin, 0u);
  EXPECT_EQ(weights.block(1).begin, 16u);
  EXPECT_EQ(weights.block(2).begin, 32u);
  EXPECT_EQ(weights.block(3).begin, 64u);
  EXPECT_EQ(weights.block(4).begin, 96u);
  EXPECT_EQ(owned.problem.weight_shape(), (WeightShape{128, 1}));
  EXPECT_EQ(weights.place(3, 2, 5), 64u + 2 * 8 + 5);
  EXPECT_EQ(owned.problem.inference(), Inference::exact);
  EXPECT_TRUE(owned.problem.ranking());
}

// A chain as a graph of pairs has the same optimum.
TEST(GraphProblem, OfAChainHasTheOptimumOfTheChain) {
  test_support::RandomChainOptions chain_options;
  chain_options.transitions = test_support::Transitions::few;
  const test_support::OwnedChainProblem chain(3, chain_options);
  const Sequences& sequences = chain.data.sequences;
  const std::size_t labels = chain.data.shape.num_labels;
  GraphFeatures features({{chain.data.shape.num_attributes, labels, 1},
                          {chain.data.shape.num_transition_attributes, labels * labels, 2}});
  std::vector<GraphExample> examples;
  const auto add = [&](std::size_t type, const SparseRows::Row& row) {
    for (std::size_t j = 0; j < row.ids.size(); ++j) features.add(type, row.ids[j], row.value(j));
    features.finish_row(type);
  };
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    GraphExample example;
    example.gold = chain.gold(i);
    example.weight = chain.problem.weight(i);
    const std::size_t length = sequences.length(i);
    auto graph =
        std::make_shared<FactorGraph>(std::vector<std::uint32_t>(length, static_cast<std::uint32_t>(labels)));
    for (std::uint32_t t = 0; t < length; ++t) {
      graph->add_clique(std::vector{t});
      add(0, sequences.tokens.row(sequences.offsets[i] + t));
      for (std::size_t y = 0; y < labels; ++y) example.cost.push_back(y == example.gold[t] ? 0.0f : 1.0f);
    }
    for (std::uint32_t t = 1; t < length; ++t) {
      graph->add_clique(std::vector{t - 1, t});
      add(1, sequences.transitions.row(sequences.transition_of[sequences.offsets[i] + t]));
    }
    features.finish_graph();
    example.structure = std::make_shared<MarkovGraph>(std::move(graph));
    examples.push_back(std::move(example));
  }
  const GraphProblem graph(GraphExamples(features, std::move(examples)));
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin()}) {
    const auto options = test_support::until_gap<EgOptions>(1e-6, 2000);
    const test_support::EgSolution of_chain({chain.problem, loss, 2}, options),
        of_graph({graph, loss, 2}, options);
    EXPECT_EQ(of_chain.summary.status, Status::converged) << of_chain.summary.message;
    EXPECT_EQ(of_graph.summary.status, Status::converged) << of_graph.summary.message;
    EXPECT_NEAR(of_graph.last().primal, of_chain.last().primal, 2e-6 * of_chain.last().primal);
    EXPECT_LE(of_graph.last().dual, of_chain.last().primal);
    EXPECT_LE(of_chain.last().dual, of_graph.last().primal);
  }
}

// TRW: an objective of its own, above that of the graph, with a gap that closes.
TEST(GraphProblem, OfUpperBoundsIsARelaxedProblem) {
  RandomGraphOptions options;
  options.constrained = false;
  options.inference.inference = GraphInference::exact;
  const OwnedGraphProblem exact(5, options);
  options.inference.inference = GraphInference::trw;
  const OwnedGraphProblem relaxed(5, options);
  EXPECT_EQ(relaxed.problem.inference(), Inference::relaxed);
  const auto until = test_support::until_gap<EgOptions>(1e-3, 200);
  const test_support::EgSolution of_exact({exact.problem, Loss::crf(), 1}, until),
      of_relaxed({relaxed.problem, Loss::crf(), 1}, until);
  EXPECT_EQ(of_relaxed.summary.status, Status::converged) << of_relaxed.summary.message;
  EXPECT_GT(of_relaxed.last().primal, of_exact.last().dual);
  EXPECT_GT(of_relaxed.last().dual, 0);
  EXPECT_GE(of_relaxed.last().primal,
            evaluate_primal({exact.problem, Loss::crf(), 1}, of_relaxed.theta) - 1e-9);
}

// With maxima, too: the primal is that of a bound, the dual that of outputs or of points of the local
// polytope.
TEST(GraphProblem, OfBoundsOfMaximaIsARelaxedProblem) {
  RandomGraphOptions options;
  options.constrained = false;
  options.inference.inference = GraphInference::exact;
  const OwnedGraphProblem exact(5, options);
  options.inference.inference = GraphInference::trw;
  const OwnedGraphProblem relaxed(5, options);
  const Objective of_exact{exact.problem, Loss::svm(), 1}, of_relaxed{relaxed.problem, Loss::svm(), 1};
  const test_support::EgSolution optimum(of_exact, test_support::until_gap<EgOptions>(1e-4, 400)),
      by_eg(of_relaxed, test_support::until_gap<EgOptions>(1e-2, 400));
  EXPECT_EQ(by_eg.summary.status, Status::converged) << by_eg.summary.message;
  // The loss is bounded, so that what no weights get below is no less than with exact maxima.
  EXPECT_GE(by_eg.last().primal, evaluate_primal(of_exact, by_eg.theta) - 1e-9);
  EXPECT_GE(by_eg.last().primal, optimum.last().dual);
  EXPECT_LE(by_eg.last().dual, evaluate_primal(of_relaxed, optimum.theta));
  // Weights without duals: their best labelling makes a dual of the exact problem.
  const Certificate implied = certify_implied(of_relaxed, optimum.theta);
  EXPECT_EQ(implied.inference, Inference::relaxed);
  EXPECT_LE(implied.dual, implied.primal);
  EXPECT_LE(implied.dual, by_eg.last().primal);
}

// A rank, a fold or whoever else has a copy goes on from its own messages.
TEST(GraphProblem, SubsetsKeepMessagesOfTheirOwn) {
  RandomGraphOptions options;
  options.inference.inference = GraphInference::trw;
  const OwnedGraphProblem owned(5, options), other(5, options);
  ASSERT_GT(message_bytes(owned.problem), 0u);
  std::vector<std::uint32_t> all(owned.problem.size());
  std::iota(all.begin(), all.end(), 0u);
  const SubsetProblem first(owned.problem, all), second(owned.problem, all);
  const auto infer = [](const Problem& problem, double scale) {
    Workspace ws;
    double sum = 0;
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<double> s(problem.num_statistics(i)), mu(s.size());
      for (std::size_t k = 0; k < s.size(); ++k) s[k] = scale * static_cast<double>(k % 7);
      sum += problem.log_partition(i, s, mu, ws);
      for (const double p : mu) sum += p * p;
    }
    return sum;
  };
  const double alone = infer(other.problem, 0.5);
  infer(first, 3.0);
  EXPECT_EQ(infer(second, 0.5), alone);
  EXPECT_EQ(infer(owned.problem, 0.5), alone);
  options.inference.inference = GraphInference::exact;
  EXPECT_EQ(message_bytes(OwnedGraphProblem(5, options).problem), 0u);
}

TEST(GraphProblem, ReweightedTrainingIsTheSameWithAnyNumberOfThreads) {
  RandomGraphOptions options;
  options.graphs = 60;
  options.constrained = false;
  options.inference.inference = GraphInference::trw;
  const auto theta_of = [&](std::size_t threads) {
    const OwnedGraphProblem owned(5, options);
    auto until = test_support::until_gap<EgOptions>(1e-4, 30);
    until.threads = threads;
    const test_support::EgSolution solution({owned.problem, Loss::crf(), 1}, until);
    return std::vector<float>(solution.theta.values().begin(), solution.theta.values().end());
  };
  const auto two = theta_of(2);
  EXPECT_EQ(theta_of(3), two);
  EXPECT_EQ(theta_of(16), two);
}

TEST(GraphProblem, OfApproximationsSaysSo) {
  RandomGraphOptions options;
  options.inference.inference = GraphInference::bp;
  const OwnedGraphProblem by_bp(5, options);
  EXPECT_EQ(by_bp.problem.inference(), Inference::approximate);
  EXPECT_FALSE(by_bp.problem.ranking());
}

}  // namespace
}  // namespace espalier::graph_problem_test
