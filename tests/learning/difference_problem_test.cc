// Differences of losses, against the two losses that they are of and against sums over all outputs.

#include "learning/difference_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/learning/dual_state.h"
#include "support/any_problem.h"
#include "support/enumerated_objective.h"
#include "support/random_objective.h"

namespace espalier::difference_problem_test {
namespace {

using test_support::any_l2;
using test_support::any_weights;
using test_support::AnyProblem;
using test_support::enumerate_example;
using test_support::EnumeratedExample;

// The convex part of a difference.
Loss any_part() {
  const double beta = *rc::gen::inRange(1, 500) * 0.01, gamma = *rc::gen::inRange(1, 300) * 0.01;
  const double infinity = std::numeric_limits<double>::infinity();
  return *rc::gen::element(Loss::risk().convex(), Loss::ramp().convex(), Loss{beta, gamma},
                           Loss{infinity, gamma});
}

// T(theta) = g(theta) + sum_i omega_i (L_{beta,gamma} - L_{beta,0}), with the gold outputs of the problem
// itself.
double true_objective(const Problem& problem, const Loss& loss, double l2, const Weights& theta) {
  double value = l2 / 2 * euclidean_squared_norm(theta);
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> s(problem.num_statistics(i)), pi(s.size());
    const double with_cost = example_loss({problem, loss, l2}, i, theta, s, pi, ws);
    const double without = example_loss({problem, {loss.beta, 0}, l2}, i, theta, s, pi, ws);
    value += problem.weight(i) * (with_cost - without);
  }
  return value;
}

double by_inference(const DifferenceProblem& problem, const Loss& loss, double l2, const Weights& theta) {
  return evaluate_primal({problem, loss, l2}, theta) - problem.surplus(theta, loss);
}

RC_GTEST_PROP(DifferenceProblem, ThePrimalLessTheSurplusIsTheDifference, ()) {
  const AnyProblem inner;
  DifferenceProblem problem(inner.problem(), *rc::gen::element(1u, 2u));
  const Loss loss = any_part();
  const double l2 = any_l2();
  const Weights theta = any_weights(problem), other = any_weights(problem);
  const double expected = true_objective(inner.problem(), loss, l2, theta);
  const double size = 1 + std::abs(expected) + std::abs(evaluate_primal({inner.problem(), loss, l2}, theta));
  // Whatever the gold statistics are.
  RC_ASSERT(std::abs(by_inference(problem, loss, l2, theta) - expected) <= 1e-11 * size);
  problem.complete(other, loss);
  const double scores = size + std::abs(problem.surplus(theta, loss));
  RC_ASSERT(std::abs(by_inference(problem, loss, l2, theta) - expected) <= 1e-11 * scores);
}

// Before it is completed it is the problem inside, whose loss is above the difference.
RC_GTEST_PROP(DifferenceProblem, BeginsWithTheGoldOutputs, ()) {
  const AnyProblem inner;
  const DifferenceProblem problem(inner.problem());
  const Loss loss = any_part();
  const Weights theta = any_weights(problem);
  const double primal = evaluate_primal({problem, loss, 1.0}, theta);
  RC_ASSERT(primal == evaluate_primal({inner.problem(), loss, 1.0}, theta));
  RC_ASSERT(true_objective(inner.problem(), loss, 1.0, theta) <= primal + 1e-10 * (1 + primal));
  DualState near(problem), expected(inner.problem());
  near.start_near_gold(problem, 5);
  expected.start_near_gold(inner.problem(), 5);
  RC_ASSERT(std::equal(near.scores().begin(), near.scores().end(), expected.scores().begin()));
}

// What the rounds rest on: the convex objective with the statistics of theta lies above the difference
// everywhere, but for a constant, and touches it at theta.
RC_GTEST_PROP(DifferenceProblem, TheConvexObjectiveIsABoundThatIsTight, ()) {
  const AnyProblem inner;
  DifferenceProblem problem(inner.problem());
  const Loss loss = any_part();
  const double l2 = any_l2();
  const Weights theta = any_weights(problem), other = any_weights(problem);
  problem.complete(theta, loss);
  const Objective objective{problem, loss, l2};
  const double constant = problem.surplus(theta, loss), primal = evaluate_primal(objective, other);
  const double truth = true_objective(inner.problem(), loss, l2, other);
  RC_ASSERT(primal - constant >= truth - 1e-10 * (1 + std::abs(primal) + std::abs(constant)));
  const double at_theta = evaluate_primal(objective, theta);
  RC_ASSERT(std::abs(at_theta - constant - true_objective(inner.problem(), loss, l2, theta)) <=
            1e-10 * (1 + std::abs(at_theta) + std::abs(constant)));
}

// l2 theta + sum_i omega_i F_i(pi_i - z_i), with the statistics of theta itself, against differences of the
// true objective.
RC_GTEST_PROP(DifferenceProblem, TheGradientIsThatOfCentralDifferences, ()) {
  const AnyProblem inner;
  DifferenceProblem problem(inner.problem());
  const Loss loss{*rc::gen::inRange(20, 300) * 0.01, *rc::gen::inRange(10, 200) * 0.01};
  const double l2 = 0.5;
  const Weights theta =
      test_support::random_weights(*rc::gen::arbitrary<std::uint64_t>(), problem.weight_shape(), 0.5);
  problem.complete(theta, loss);
  const Objective objective{problem, loss, l2};
  DoubleWeights gradient(problem.weight_shape());
  gradient.assign(theta, l2);
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> s(problem.num_statistics(i)), pi(s.size());
    example_loss(objective, i, theta, s, pi, ws);
    for (double& p : pi) p *= problem.weight(i);
    problem.add_gold(i, -problem.weight(i), pi);
    problem.accumulate(i, std::span<const double>(pi), gradient, ws);
  }
  // Along a random direction.
  Weights up = theta, down = theta;
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  double expected = 0;
  constexpr float kStep = 0x1p-9f;
  for (std::size_t j = 0; j < theta.values().size(); ++j) {
    const auto step = static_cast<float>((2 * random.uniform() - 1) * kStep);
    up.values()[j] += step;
    down.values()[j] -= step;
    expected += gradient.values()[j] * (static_cast<double>(up.values()[j]) - down.values()[j]);
  }
  const double change =
      true_objective(inner.problem(), loss, l2, up) - true_objective(inner.problem(), loss, l2, down);
  RC_ASSERT(std::abs(change - expected) <= 1e-3 * kStep * (1 + std::abs(expected) / kStep));
}

// Weak duality holds for gold statistics that are no indicator and for costs that are not zero there.
RC_GTEST_PROP(DifferenceProblem, DualsBoundTheConvexObjective, ()) {
  const AnyProblem inner;
  DifferenceProblem problem(inner.problem());
  const Loss loss = any_part();
  const Objective objective{problem, loss, any_l2()};
  problem.complete(any_weights(problem), loss);
  const Certificate certificate = certify(objective, any_weights(problem), test_support::any_dual(problem));
  RC_ASSERT(certificate.gap() >= -1e-9 * (1 + std::abs(certificate.primal) + std::abs(certificate.dual)));
}

double log_sum_exp(const std::vector<double>& x) {
  const double highest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double value : x) sum += std::exp(value - highest);
  return highest + std::log(sum);
}

// Of each example by enumeration: the ramp loss, log E exp(cost) with Jensen's inequality, and z_i.
template <class Examples>
void check_by_enumeration(const StructuredProblem<Examples>& inner, std::uint64_t seed) {
  const Weights theta = test_support::random_weights(seed, inner.weight_shape(), 1.0);
  DifferenceProblem smooth(inner), maximum(inner);
  smooth.complete(theta, Loss::risk().convex());
  maximum.complete(theta, Loss::ramp().convex());
  Workspace ws;
  double ramp = 0, risk = 0;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const EnumeratedExample e = enumerate_example(inner, i);
    std::vector<double> s(e.z.size()), scores, with_cost;
    inner.score(i, theta, 1.0, s, ws);
    for (std::size_t y = 0; y < e.chi.size(); ++y) {
      scores.push_back(test_support::score_of<double>(s, e.chi[y]));
      with_cost.push_back(scores.back() + e.cost[y]);
    }
    const auto best = std::max_element(scores.begin(), scores.end());
    ramp += inner.weight(i) * (*std::max_element(with_cost.begin(), with_cost.end()) - *best);

    const double log_z = log_sum_exp(scores);
    std::vector<double> pi;
    double expected_cost = 0, expected_exp = 0;
    for (std::size_t y = 0; y < scores.size(); ++y) {
      pi.push_back(std::exp(scores[y] - log_z));
      expected_cost += pi[y] * e.cost[y];
      expected_exp += pi[y] * std::exp(e.cost[y]);
    }
    const double of_example = log_sum_exp(with_cost) - log_z;
    EXPECT_NEAR(of_example, std::log(expected_exp), 1e-10 * (1 + of_example));  // Martins' footnote 1
    EXPECT_GE(of_example, expected_cost - 1e-12);                               // Jensen
    risk += inner.weight(i) * of_example;

    std::vector<double> mean(s.size()), output(s.size());
    smooth.add_gold(i, 1.0, mean);
    maximum.add_gold(i, 1.0, output);
    const std::vector<double> expected = test_support::expectation(e, pi);
    for (std::size_t k = 0; k < s.size(); ++k) EXPECT_NEAR(mean[k], expected[k], 1e-10);
    EXPECT_NEAR(test_support::score_of<double>(s, output), *best, 1e-10 * (1 + std::abs(*best)));
    EXPECT_NE(std::find(e.chi.begin(), e.chi.end(), output), e.chi.end()) << "an output";
  }
  const double norm = 0.25 * inner.squared_norm(theta);
  EXPECT_NEAR(by_inference(smooth, Loss::risk().convex(), 0.5, theta), norm + risk, 1e-9 * (1 + risk));
  EXPECT_NEAR(by_inference(maximum, Loss::ramp().convex(), 0.5, theta), norm + ramp, 1e-9 * (1 + ramp));
}

TEST(DifferenceProblem, IsThatOfEnumeration) {
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    check_by_enumeration(test_support::OwnedProblem(seed, {.examples = 20, .labels = 5}).problem, seed);
    check_by_enumeration(
        test_support::OwnedChainProblem(seed, {.sequences = 6, .longest = 5, .constrained = true}).problem,
        seed);
    test_support::RandomDependencyOptions trees;
    trees.sentences = 5;
    trees.longest = 4;
    for (const TreeShape& shape : {TreeShape{true, false, 2}, TreeShape{false, true, 1}}) {
      trees.shape = shape;
      check_by_enumeration(test_support::OwnedDependencyProblem(seed, trees).problem, seed);
    }
    check_by_enumeration(test_support::OwnedCfgProblem(seed, {.sentences = 5}).problem, seed);
  }
}

// A label's scores are its log-probabilities, down to those that are next to impossible.
TEST(DifferenceProblem, DualsStartNearItsStatistics) {
  const test_support::OwnedProblem owned(7, {.examples = 30, .labels = 4});
  DifferenceProblem problem(owned.problem);
  const Weights theta = test_support::random_weights(8, problem.weight_shape(), 3.0);
  for (const Loss& loss : {Loss::risk().convex(), Loss::ramp().convex()}) {
    problem.complete(theta, loss);
    DualState dual(problem);
    dual.start_near_gold(problem, 12);
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<float> z(problem.num_statistics(i));
      problem.add_gold(i, 1.0f, z);
      for (std::size_t k = 0; k < z.size(); ++k) EXPECT_NEAR(dual.mu(i)[k], z[k], 4 * std::exp(-12.0));
    }
  }
}

TEST(DifferenceProblem, HasNoRescaledSlacks) {
  const test_support::OwnedProblem owned(9, {.examples = 3});
  EXPECT_NE(owned.problem.slack_rescaling(), nullptr);
  const DifferenceProblem problem(owned.problem);
  EXPECT_EQ(problem.slack_rescaling(), nullptr);
  EXPECT_EQ(problem.factored(), owned.problem.factored());
}

}  // namespace
}  // namespace espalier::difference_problem_test
