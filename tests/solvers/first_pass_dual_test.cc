#include "solvers/first_pass_dual.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/aggressive_step.h"
#include "support/enumerated_objective.h"
#include "support/naive_online.h"
#include "support/partial_chain.h"
#include "support/random_objective.h"

namespace espalier::first_pass_dual_test {
namespace {

using test_support::any_chain_data;
using test_support::any_data;
using test_support::any_dependencies;
using test_support::any_l2;
using test_support::any_loss;
using test_support::enumerate_dual;
using test_support::enumerate_example;
using test_support::enumerate_loss;
using test_support::EnumeratedExample;
using test_support::expectation;
using test_support::online_order;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedPartialChain;
using test_support::OwnedProblem;
using test_support::random_chain_data;
using test_support::random_weights;
using test_support::RandomChainOptions;

// A pass of dual coordinate ascent in double precision, all of it by enumeration: at each visit the dual is
// that of the mixtures, and has risen as it should.
template <class Examples>
void check_first_pass(const StructuredProblem<Examples>& problem) {
  const Loss loss = any_loss();
  const double l2 = any_l2();
  const Objective objective{problem, loss, l2};
  Workspace ws;
  std::vector<std::vector<double>> u;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const EnumeratedExample e = enumerate_example(problem, i);
    u.emplace_back(e.chi.size());
    u.back()[static_cast<std::size_t>(std::find(e.chi.begin(), e.chi.end(), e.z) - e.chi.begin())] = 1;
  }
  FirstPassDual dual(objective);
  DoubleWeights theta(problem.weight_shape());
  double before = 0;
  // Nothing is certain that rounding might have made.
  RC_ASSERT(dual.value() <= 0 && dual.value() > -1e-10);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  for (const std::size_t i : online_order(problem.size(), seed, problem.size())) {
    const EnumeratedExample e = enumerate_example(problem, i);
    auto at = enumerate_loss(problem, loss, i, theta);
    if (!loss.smooth()) {
      at.pi.assign(e.chi.size(), 0);
      at.pi[static_cast<std::size_t>(std::max_element(at.margins.begin(), at.margins.end()) -
                                     at.margins.begin())] = 1;
    }
    std::vector<double> difference = expectation(e, at.pi), s(difference.size());
    for (std::size_t k = 0; k < difference.size(); ++k) difference[k] = e.z[k] - difference[k];
    problem.score(i, theta, 1.0, s, ws);
    const double squared = problem.squared_norm(i, std::span<const double>(difference), ws);
    const double omega = problem.weight(i), eta = aggressive_step(omega / l2, at.value, squared);
    if (eta == 0) continue;

    dual.mix(i, eta, at.value, s, difference, ws);
    for (double& d : difference) d *= eta;
    problem.accumulate(i, std::span<const double>(difference), theta, ws);
    const double rho = l2 * eta / omega;
    for (std::size_t y = 0; y < u[i].size(); ++y) u[i][y] = (1 - rho) * u[i][y] + rho * at.pi[y];

    const double value = dual.value(), expected = enumerate_dual(problem, loss, l2, u).value;
    const double rounding =
        1e-10 * (1 + std::abs(value) + omega * at.value + (loss.smooth() ? 1 / loss.beta : 0));
    RC_ASSERT(std::abs(value - expected) <= rounding);
    // The minimum of equation (13), and for a maximum no more than that.
    const double rise = l2 * eta * (at.value - eta / 2 * squared);
    RC_ASSERT(rise >= 0);
    RC_ASSERT(value - before >= rise - rounding);
    if (!loss.smooth()) RC_ASSERT(value - before <= rise + rounding);
    before = value;
  }
}

RC_GTEST_PROP(FirstPassDual, RisesOnClasses, ()) {
  const OwnedProblem owned(any_data());
  check_first_pass(owned.problem);
}

RC_GTEST_PROP(FirstPassDual, RisesOnChains, ()) {
  const OwnedChainProblem owned(any_chain_data());
  check_first_pass(owned.problem);
}

RC_GTEST_PROP(FirstPassDual, RisesOnTrees, ()) {
  const OwnedDependencyProblem owned(any_dependencies());
  check_first_pass(owned.problem);
}

TEST(FirstPassDual, StaysWhenThePassIsOver) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::svm(), 3};
  FirstPassDual dual(objective);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    ASSERT_TRUE(dual.next_visit());
    std::vector<double> delta(owned.problem.num_statistics(i));
    delta[i % delta.size()] = 0.01;
    dual.move(i, 0.5, delta, ws);
  }
  const double value = dual.value();
  EXPECT_GT(value, 0);
  EXPECT_FALSE(dual.next_visit());
  EXPECT_EQ(dual.value(), value);
  EXPECT_FALSE(dual.next_visit());
  EXPECT_EQ(dual.value(), value);
}

// Gold statistics that are means tell less of the entropy; the value is then below that of the mixtures, and
// a bound as well.
RC_GTEST_PROP(FirstPassDual, IsNoMoreThanTheDualOfHiddenLabels, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  RandomChainOptions options;
  options.sequences = 2;  // the labels of the first one are known
  options.longest = *rc::gen::element<std::size_t>(1, 3);
  options.density = 1;
  OwnedPartialChain owned(random_chain_data(seed, options), 0.8, seed + 1);
  const ChainProblem& problem = owned.problem;
  const Objective objective{problem, Loss::crf(), *rc::gen::element(0.1, 1.0, 10.0)};
  // z_i is the mean of all outputs that are possible.
  owned.latent.complete(Weights(problem.weight_shape()), objective.loss);

  const Weights theta = random_weights(seed, problem.weight_shape(), 3);
  FirstPassDual dual(objective);
  std::vector<std::vector<double>> u;
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> s(problem.num_statistics(i)), difference(s.size());
    const double loss = example_loss(objective, i, theta, s, difference, ws);
    for (double& d : difference) d = -d;
    problem.add_gold(i, 1.0, difference);
    const double rho = *rc::gen::inRange(1, 11) * 0.1;
    dual.mix(i, rho * problem.weight(i) / objective.regularizer.l2, loss, s, difference, ws);

    u.push_back(enumerate_loss(problem, objective.loss, i, theta).pi);
    const auto outputs = all_outputs(problem.examples().structure(i)), allowed = owned.allowed_outputs(i);
    for (std::size_t y = 0; y < outputs.size(); ++y) {
      const bool possible = std::find(allowed.begin(), allowed.end(), outputs[y]) != allowed.end();
      u[i][y] = rho * u[i][y] + (possible ? (1 - rho) / static_cast<double>(allowed.size()) : 0);
    }
  }
  const double expected = enumerate_dual(problem, objective.loss, objective.regularizer.l2, u).value;
  RC_ASSERT(dual.value() <= expected + 1e-10 * (1 + std::abs(expected)));
}

}  // namespace
}  // namespace espalier::first_pass_dual_test
