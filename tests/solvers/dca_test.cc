#include "solvers/dca.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/learning/certificate.h"
#include "solvers/lbfgs.h"
#include "support/enumerated_objective.h"
#include "support/naive_online.h"
#include "support/random_objective.h"

namespace espalier::dca_test {
namespace {

using test_support::any_chain_data;
using test_support::any_data;
using test_support::any_dependencies;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_smooth_loss;
using test_support::any_weights;
using test_support::distance;
using test_support::enumerate_example;
using test_support::enumerate_loss;
using test_support::EnumeratedExample;
using test_support::expectation;
using test_support::naive_online;
using test_support::NaiveOnline;
using test_support::online_order;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::random_weights;
using test_support::RandomDataOptions;

OnlineOptions visits(std::size_t count, const Problem& problem, std::uint64_t seed, bool average) {
  OnlineOptions options;
  options.stopping.passes = static_cast<double>(count) / static_cast<double>(problem.size());
  options.stopping.gap = -1;  // go on, whatever the gap
  options.report_every = 1e9;
  options.seed = seed;
  options.average = average;
  return options;
}

// Algorithm 2 with all outputs written out: eta(z_i - pi_i), eta = min{ omega_i/l2, L_i / |F_i(z_i - pi_i)|^2
// }.
template <class Examples>
std::vector<double> enumerated_update(const StructuredProblem<Examples>& problem, const Loss& loss, double l2,
                                      std::size_t i, const DoubleWeights& theta) {
  const EnumeratedExample e = enumerate_example(problem, i);
  const auto at = enumerate_loss(problem, loss, i, theta);
  Workspace ws;
  std::vector<double> pi(e.z.size());
  if (loss.smooth()) {
    pi = expectation(e, at.pi);
  } else {
    // Of several best outputs the problem's choice.
    std::vector<double> s(e.z.size());
    problem.score(i, theta, 1.0, s, ws);
    problem.add_cost(i, loss.gamma, s);
    problem.argmax(i, s, pi, ws);
  }
  DoubleWeights gradient(problem.weight_shape());
  for (std::size_t k = 0; k < pi.size(); ++k) pi[k] = e.z[k] - pi[k];
  problem.accumulate(i, std::span<const double>(pi), gradient, ws);
  const double squared = euclidean_squared_norm(gradient);
  const double eta =
      at.value <= 1e-12 ? 0 : std::min(problem.weight(i) / l2, squared > 0 ? at.value / squared : HUGE_VAL);
  for (double& p : pi) p *= eta;
  return pi;
}

template <class Examples>
void check_first_visit(const StructuredProblem<Examples>& problem) {
  const Loss loss = any_loss();
  const double l2 = any_l2();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Weights start = any_weights(problem);
  Weights theta = start;
  const Summary summary = dca({problem, loss, l2}, visits(1, problem, seed, false), theta);
  RC_ASSERT(summary.status == Status::out_of_passes);
  const std::size_t i = online_order(problem.size(), seed, 1).front();
  DoubleWeights before;
  before.assign(start);
  const std::vector<double> update = enumerated_update(problem, loss, l2, i, before);
  // In floats, since trees then leave out what hardly moves.
  const std::vector<float> delta(update.begin(), update.end());
  Weights expected = start;
  Workspace ws;
  problem.accumulate(i, std::span<const float>(delta), expected, ws);
  RC_ASSERT(distance(theta, expected) < 1e-6);
}

RC_GTEST_PROP(Dca, FirstVisitOnClasses, ()) {
  const OwnedProblem owned(any_data());
  check_first_visit(owned.problem);
}
RC_GTEST_PROP(Dca, FirstVisitOnChains, ()) {
  const OwnedChainProblem owned(any_chain_data());
  check_first_visit(owned.problem);
}
RC_GTEST_PROP(Dca, FirstVisitOnTrees, ()) {
  const OwnedDependencyProblem owned(any_dependencies());
  check_first_visit(owned.problem);
}

template <class Examples>
void check_passes(const StructuredProblem<Examples>& problem) {
  const Loss loss = any_smooth_loss();
  const double l2 = *rc::gen::element(0.3, 1.0, 7.0, 1000.0);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const std::size_t count = 3 * problem.size() + problem.size() / 2;
  const Weights start = random_weights(seed, problem.weight_shape(), *rc::gen::element(0.0, 0.5));
  Weights last = start, mean = start;
  dca({problem, loss, l2}, visits(count, problem, seed, false), last);
  dca({problem, loss, l2}, visits(count, problem, seed, true), mean);
  const NaiveOnline expected = naive_online(
      problem, online_order(problem.size(), seed, count), start,
      [&](std::size_t i, const DoubleWeights& at) { return enumerated_update(problem, loss, l2, i, at); });
  RC_ASSERT(distance(last, expected.last) < 1e-4);
  RC_ASSERT(distance(mean, expected.mean) < 1e-4);
}

RC_GTEST_PROP(Dca, PassesOnClasses, ()) {
  const OwnedProblem owned(any_data());
  check_passes(owned.problem);
}
RC_GTEST_PROP(Dca, PassesOnChains, ()) {
  const OwnedChainProblem owned(any_chain_data());
  check_passes(owned.problem);
}

// What a run of one pass and a bit reports: the better of the dual that its mean weights imply and that of
// the first pass.
RC_GTEST_PROP(Dca, FirstPassBoundsTheOptimumForGood, ()) {
  const OwnedProblem owned(*rc::gen::arbitrary<std::uint64_t>());
  const Objective objective{owned.problem, any_smooth_loss(), *rc::gen::element(0.3, 3.0, 30.0)};
  OnlineOptions options = visits(3 * owned.problem.size(), owned.problem, 1, true);
  options.report_every = 0.5;
  Weights theta(owned.problem.weight_shape());
  std::vector<double> implied;
  const Summary summary = dca(objective, options, theta, [&](const Progress& now, const Weights& weights) {
    const Certificate certificate = certify_implied(objective, weights);
    RC_ASSERT(now.primal == certificate.primal);
    RC_ASSERT(now.dual >= certificate.dual);
    implied.push_back(certificate.dual);
    return Control::go_on;
  });
  RC_ASSERT(summary.history.size() == 6u);
  for (std::size_t t = 1; t < summary.history.size(); ++t) {
    RC_ASSERT(summary.history[t].dual >= summary.history[t - 1].dual);
  }
  LbfgsOptions exact;
  exact.stopping.gap = 1e-9;
  Weights best(theta.shape());
  const double optimum = lbfgs(objective, exact, best).history.back().primal;
  RC_ASSERT(summary.history.back().dual <= optimum * (1 + 1e-9));
  // From zero weights the first visits alone raise the dual above that of the gold outputs.
  RC_ASSERT(summary.history.front().dual > 0);
}

TEST(Dca, FirstPassIsInTheReports) {
  // One example, strongly regularised: its first visit is at the cap, so that its dual is pi_0, at theta = 0,
  // and
  //   D = H(pi_0) - |F(z - pi_0)|^2/(2 l2).
  RandomDataOptions shape;
  shape.examples = 1;
  shape.density = 1;
  shape.weighted = false;
  const OwnedProblem owned(3, shape);
  const Objective objective{owned.problem, Loss::crf(), 50};
  Weights theta(owned.problem.weight_shape());
  const Summary summary = dca(objective, visits(2, owned.problem, 1, true), theta);
  const double labels = static_cast<double>(shape.labels);
  const double squared = owned.problem.squared_diameter(0) / 2;  // |x|^2
  // |z - pi|^2 = (1 - 1/L)^2 + (L - 1)/L^2 = 1 - 1/L
  const double expected = std::log(labels) - squared * (1 - 1 / labels) / (2 * objective.regularizer.l2);
  EXPECT_NEAR(summary.history.back().dual, std::max(expected, certify_implied(objective, theta).dual), 1e-12);
  EXPECT_GE(expected, 0.9 * summary.history.back().primal);
}

TEST(Dca, ComesNearTheOptimumInAFewPasses) {
  RandomDataOptions shape;
  shape.examples = 500;
  shape.noise = 0.05;
  const OwnedProblem owned(21, shape);
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{4, 1}}) {
    const Objective objective{owned.problem, loss, 50};
    Weights best(owned.problem.weight_shape()), theta(owned.problem.weight_shape());
    LbfgsOptions options;
    options.stopping.gap = 1e-8;
    const double optimum = lbfgs(objective, options, best).history.back().primal;
    const Summary summary = dca(objective, visits(1000, owned.problem, 1, true), theta);
    EXPECT_GE(summary.history.back().primal, optimum * (1 - 1e-8));
    EXPECT_LE(summary.history.back().primal, 2 * optimum) << loss.name();
    EXPECT_LE(summary.history.back().dual, optimum * (1 + 1e-8));
  }
}

TEST(Dca, PerceptronLossIsAtItsOptimumFromTheStart) {
  const OwnedProblem owned(6);
  Weights theta(owned.problem.weight_shape());
  OnlineOptions options;
  const Summary summary = dca({owned.problem, Loss::perceptron(), 1}, options, theta);
  EXPECT_EQ(summary.status, Status::converged);
  EXPECT_EQ(summary.history.back().primal, 0);
  EXPECT_EQ(euclidean_squared_norm(theta), 0);
}

}  // namespace
}  // namespace espalier::dca_test
