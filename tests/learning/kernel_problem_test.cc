// Problems in kernel form: what their weights stand for, written out as features, gives the same scores,
// norms and optima.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "support/feature_checks.h"
#include "support/kernel_problems.h"

namespace espalier {
namespace {

using test_support::KernelChains;
using test_support::KernelClasses;
using test_support::KernelGraphs;
using test_support::num_quadratic_features;
using test_support::OwnedChainProblem;
using test_support::OwnedGraphProblem;
using test_support::OwnedProblem;
using test_support::quadratic_features;
using test_support::quadratic_nodes;
using test_support::random_chain_data;
using test_support::random_data;
using test_support::random_double_weights;
using test_support::RandomGraphs;

const std::vector<Kernel> kKernels{Kernel::parse("linear"), Kernel::parse("poly,2,1,0.5"),
                                   Kernel::parse("rbf,0.3")};

std::vector<double> random_delta(Random& random, std::size_t n) {
  std::vector<double> delta(n);
  for (double& d : delta) d = 2 * random.uniform() - 1;
  return delta;
}

// <F'w, delta> = <w, F delta>, |F delta|^2 both ways, and no difference of outputs longer than the diameter.
void check_operator(const Problem& problem, Random& random) {
  Workspace ws;
  const DoubleWeights w = random_double_weights(random, problem.weight_shape());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const auto delta = random_delta(random, problem.num_statistics(i));
    std::vector<double> s(delta.size());
    problem.score(i, w, 1.0, s, ws);
    DoubleWeights moved(problem.weight_shape());
    problem.accumulate(i, delta, moved, ws);
    double product = 0;
    for (std::size_t k = 0; k < s.size(); ++k) product += s[k] * delta[k];
    const double norm = problem.squared_norm(moved);
    const double size = std::sqrt(norm * problem.squared_norm(w)) + 1e-6;
    RC_ASSERT(std::abs(problem.inner_product(w, moved) - product) <= 1e-10 * size);
    RC_ASSERT(std::abs(problem.inner_product(moved, w) - product) <= 1e-10 * size);
    RC_ASSERT(std::abs(problem.squared_norm(i, std::span<const double>(delta), ws) - norm) <=
              1e-10 * (1 + norm));
    const std::vector<float> rounded(delta.begin(), delta.end());
    RC_ASSERT(std::abs(problem.squared_norm(i, std::span<const float>(rounded), ws) - norm) <=
              1e-5 * (1 + norm));

    std::vector<double> chi(s.size());
    problem.argmax(i, std::span<const double>(s), chi, ws);
    for (double& c : chi) c = -c;
    problem.add_gold(i, 1.0, std::span(chi));
    RC_ASSERT(problem.squared_norm(i, std::span<const double>(chi), ws) <=
              problem.squared_diameter(i) * (1 + 1e-6));
  }
}

RC_GTEST_PROP(KernelProblem, OperatorAndNormsGoTogether, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1000);
  Random random(seed);
  for (const Kernel& kernel : kKernels) {
    const KernelClasses classes(random_data(seed, {.examples = 12}), kernel);
    check_operator(classes.problem, random);
    const KernelChains chains(random_chain_data(seed, {.sequences = 6,
                                                       .transitions = test_support::Transitions::few,
                                                       .order = *rc::gen::inRange<std::size_t>(1, 3)}),
                              kernel);
    check_operator(chains.problem, random);
    const KernelGraphs graphs(RandomGraphs(seed, {.graphs = 6}), kernel);
    check_operator(graphs.problem, random);
    RC_ASSERT(chains.problem.kernel());
    RC_ASSERT(graphs.problem.kernel());
    RC_ASSERT(classes.problem.kernel());
  }
}

// The same deltas in both: then w and v are the same vector, as coefficients and as weights of features.
void expect_same(const Problem& kernel, const Problem& linear) {
  Random random(1);
  Workspace ws;
  DoubleWeights w(kernel.weight_shape()), v(linear.weight_shape());
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    ASSERT_EQ(kernel.num_statistics(i), linear.num_statistics(i));
    const auto delta = random_delta(random, kernel.num_statistics(i));
    kernel.accumulate(i, delta, w, ws);
    linear.accumulate(i, delta, v, ws);
    const double norm = linear.squared_norm(i, std::span<const double>(delta), ws);
    EXPECT_NEAR(kernel.squared_norm(i, std::span<const double>(delta), ws), norm, 1e-5 * (1 + norm));
    // |sum_a x_a y_a| <= sum_a |x_a| |y_a|
    EXPECT_LE(kernel.squared_diameter(i), linear.squared_diameter(i) * (1 + 1e-5));
    EXPECT_NEAR(kernel.squared_change(i), linear.squared_change(i), 1e-5 * (1 + linear.squared_change(i)));
  }
  EXPECT_NEAR(kernel.squared_norm(w), linear.squared_norm(v), 1e-5 * linear.squared_norm(v));
  const double size = std::sqrt(linear.squared_norm(v));
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    std::vector<double> s(kernel.num_statistics(i)), expected(s.size());
    kernel.score(i, w, 1.0, s, ws);
    linear.score(i, v, 1.0, expected, ws);
    for (std::size_t k = 0; k < s.size(); ++k) EXPECT_NEAR(s[k], expected[k], 1e-5 * (1 + size));
  }
}

// Trained to certified optima, which are one, with the same best outputs.
void expect_same_optimum(const Problem& kernel, const Problem& linear, const Loss& loss) {
  constexpr double kL2 = 1, kGap = 1e-5;
  EgOptions options;
  options.stopping.gap = kGap;
  options.stopping.passes = 2000;
  Weights w, v;
  DualState dual_w(kernel), dual_v(linear);
  const Summary a = eg({kernel, loss, kL2}, options, dual_w, w),
                b = eg({linear, loss, kL2}, options, dual_v, v);
  ASSERT_EQ(a.status, Status::converged) << a.message;
  ASSERT_EQ(b.status, Status::converged) << b.message;
  EXPECT_LE(a.history.back().dual, b.history.back().primal * (1 + 1e-6));
  EXPECT_LE(b.history.back().dual, a.history.back().primal * (1 + 1e-6));
  Workspace ws;
  std::size_t different = 0, all = 0;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    std::vector<double> s(kernel.num_statistics(i)), t(s.size()), chi(s.size()), other(s.size());
    kernel.score(i, w, 1.0, s, ws);
    linear.score(i, v, 1.0, t, ws);
    // |theta - theta'|^2 <= 2/l2 times the sum of both gaps.
    const double gaps = a.history.back().gap() + b.history.back().gap();
    const double distance = std::sqrt(2 * gaps / kL2 * kernel.squared_diameter(i));
    for (std::size_t k = 0; k < s.size(); ++k) EXPECT_NEAR(s[k], t[k], 2 * distance + 1e-4);
    kernel.argmax(i, std::span<const double>(s), chi, ws);
    linear.argmax(i, std::span<const double>(t), other, ws);
    different += chi != other ? 1 : 0;
    ++all;
  }
  EXPECT_EQ(different, 0u) << "of " << all;
}

TEST(KernelProblem, ClassesWithAQuadraticKernelAreThoseOfItsFeatures) {
  const auto data = random_data(11, {.examples = 25, .attributes = 5});
  const KernelClasses kernel(data, Kernel::parse("poly,2,1,0.5"));
  auto expanded = data;
  expanded.rows = quadratic_features(data.rows, data.attributes, 1, 0.5);
  expanded.attributes = num_quadratic_features(data.attributes);
  const OwnedProblem linear(expanded);
  expect_same(kernel.problem, linear.problem);
  expect_same_optimum(kernel.problem, linear.problem, Loss::crf());
  expect_same_optimum(kernel.problem, linear.problem, Loss::svm());
}

TEST(KernelProblem, ChainsWithAQuadraticKernelAreThoseOfItsFeatures) {
  const auto data = random_chain_data(12, {.sequences = 14, .attributes = 5});
  const KernelChains kernel(data, Kernel::parse("poly,2,1,0.5"));
  auto expanded = data;
  expanded.sequences.tokens = quadratic_features(data.sequences.tokens, data.shape.num_attributes, 1, 0.5);
  expanded.shape.num_attributes = num_quadratic_features(data.shape.num_attributes);
  const OwnedChainProblem linear(expanded);
  expect_same(kernel.problem, linear.problem);
  expect_same_optimum(kernel.problem, linear.problem, Loss::crf());
  expect_same_optimum(kernel.problem, linear.problem, Loss::svm());
}

TEST(KernelProblem, GraphsWithAQuadraticKernelAreThoseOfItsFeatures) {
  const RandomGraphs data(14, {});
  const GraphFeatures expanded = quadratic_nodes(data.features, 1, 0.5);
  const GraphProblem linear(GraphExamples(expanded, data.examples));
  const KernelGraphs kernel(RandomGraphs(14, {}), Kernel::parse("poly,2,1,0.5"));
  expect_same(kernel.problem, linear);
  expect_same_optimum(kernel.problem, linear, Loss::crf());
  expect_same_optimum(kernel.problem, linear, Loss::softmax_margin());
}

TEST(KernelProblem, TheLinearKernelIsTheLinearModel) {
  const auto classes = random_data(13, {.examples = 25});
  expect_same(KernelClasses(classes, Kernel::parse("linear")).problem, OwnedProblem(classes).problem);
  const auto chains = random_chain_data(
      13, {.sequences = 14, .transitions = test_support::Transitions::different, .order = 2});
  const KernelChains kernel(chains, Kernel::parse("linear"));
  const OwnedChainProblem linear(chains);
  expect_same(kernel.problem, linear.problem);
  expect_same_optimum(kernel.problem, linear.problem, Loss::softmax_margin());
  for (const char* name : {"linear", "poly,1,0,1"}) {
    const KernelGraphs graphs(RandomGraphs(15, {}), Kernel::parse(name));
    const OwnedGraphProblem linear_graphs(15);
    expect_same(graphs.problem, linear_graphs.problem);
    expect_same_optimum(graphs.problem, linear_graphs.problem, Loss::crf());
  }
}

}  // namespace
}  // namespace espalier
