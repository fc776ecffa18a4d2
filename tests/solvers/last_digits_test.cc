// Stored floats do not set the floor: small convex problems of every structure and loss with a smooth loss
// come to a gap of 1e-9, or 1e-6 at a tiny l2, and maxima to a few roundings, all measured at the weights
// that are stored.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "learning/certify.h"
#include "solvers/lbfgs.h"
#include "solvers/margin_scale.h"
#include "solvers/training.h"
#include "support/any_problem.h"
#include "support/random_problem.h"

namespace espalier::last_digits_test {
namespace {

using test_support::AnyProblem;
using test_support::OwnedProblem;

// The dual of weights that are not rounded, straight from its definition; no bound on rounding is taken off.
double plain_dual(const Objective& objective, const DoubleWeights& theta) {
  const Problem& problem = objective.problem;
  const double beta = objective.loss.beta, gamma = objective.loss.gamma;
  Workspace ws;
  DoubleWeights w(problem.weight_shape());
  double sum = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const std::size_t length = problem.num_statistics(i);
    std::vector<double> s(length), mu(length), cost(length);
    problem.score(i, theta, beta, DoubleOut(s), ws);
    problem.add_cost(i, 1.0, DoubleOut(cost));
    for (std::size_t k = 0; k < length; ++k) s[k] += beta * gamma * cost[k];
    double entropy = problem.log_partition(i, DoubleIn(s), DoubleOut(mu), ws),
           expected = problem.cost_offset(i);
    for (std::size_t k = 0; k < length; ++k) {
      if (mu[k] > 0) entropy -= mu[k] * s[k];
      expected += mu[k] * cost[k];
    }
    sum += problem.weight(i) * (entropy / beta + gamma * expected);
    for (double& m : mu) m *= -problem.weight(i);
    problem.add_gold(i, problem.weight(i), DoubleOut(mu));
    problem.accumulate(i, DoubleIn(mu), w, ws);
  }
  return sum - problem.squared_norm(w) / (2 * objective.regularizer.l2);
}

struct Outcome {
  Summary summary;
  Training training;
};

Outcome solve(const Objective& objective, double gap) {
  Outcome outcome;
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = 20000;
  outcome.summary = find_solver("auto", objective.loss).run(objective, settings, outcome.training, {});
  return outcome;
}

RC_GTEST_PROP(LastDigits, SmoothLossesComeTo1em9AtStoredWeights, ()) {
  const AnyProblem any;
  const Objective objective{any.problem(), *rc::gen::element(Loss::crf(), Loss::softmax_margin()),
                            *rc::gen::element(1e-3, 1.0, 1e3)};
  const Outcome outcome = solve(objective, 1e-9);
  if (outcome.summary.status != Status::converged) RC_FAIL(outcome.summary.message);
  const Progress& last = outcome.summary.history.back();
  RC_ASSERT(last.relative_gap() <= 1e-9);
  RC_ASSERT(last.primal == evaluate_primal(objective, outcome.training.theta));
  // The optimum by another way: gradient steps of L-BFGS from there, in double precision, find nothing below
  // the dual.
  Weights theta = outcome.training.theta;
  LbfgsOptions options;
  options.stopping.gap = 1e-12;
  const Summary further = lbfgs(objective, options, theta);
  RC_ASSERT(further.history.back().primal >= last.dual - rounding_bound(objective, last.primal));
}

RC_GTEST_PROP(LastDigits, TinyRegularisersComeTo1em6, ()) {
  const AnyProblem any;
  const Objective objective{any.problem(), *rc::gen::element(Loss::crf(), Loss::softmax_margin()), 1e-6};
  const Outcome outcome = solve(objective, 1e-6);
  if (outcome.summary.status != Status::converged) RC_FAIL(outcome.summary.message);
  RC_ASSERT(outcome.summary.history.back().primal == evaluate_primal(objective, outcome.training.theta));
}

// What is certain of an implied dual is not above the same number computed plainly.
RC_GTEST_PROP(LastDigits, ImpliedDualsAreCertain, ()) {
  const AnyProblem any;
  const Objective objective{any.problem(),
                            *rc::gen::element(Loss::crf(), Loss::softmax_margin(), Loss{20, 1}),
                            std::pow(10.0, *rc::gen::inRange(-6, 4))};
  Weights theta(objective.problem.weight_shape());
  LbfgsOptions options;
  options.stopping.passes = *rc::gen::inRange(1, 60);
  lbfgs(objective, options, theta);
  DoubleWeights same;
  same.assign(theta);
  const Certificate certificate = certify_implied(objective, theta);
  const double plain = plain_dual(objective, same);
  // Far from the optimum norms cancel with conjugates, both of the size of what they differ from the primal
  // by.
  const double rounding = rounding_bound(objective, certificate.primal + std::abs(plain));
  RC_ASSERT(certificate.dual <= plain + rounding);
}

// Without losses at the optimum, floats miss margins by roundings, which at a small l2 are more than all of
// the objective. Longer weights come within a few roundings of floats, of 2^-24 each.
TEST(LastDigits, SeparableDataWithMarginsComeWithinAFewRoundings) {
  for (const double l2 : {1e-6, 1e-3, 1.0}) {
    const OwnedProblem owned(4, {.examples = 12, .attributes = 60, .labels = 3, .density = 1});
    const Objective objective{owned.problem, Loss::svm(), l2};
    const Outcome outcome = solve(objective, 1e-6);
    EXPECT_LE(outcome.summary.history.back().relative_gap(), 64 * 0x1p-24) << outcome.summary.message;
    EXPECT_EQ(outcome.summary.history.back().primal, evaluate_primal(objective, outcome.training.theta));
  }
}

TEST(MarginScale, IsNeverWorse) {
  const OwnedProblem owned(4, {.examples = 12, .attributes = 60, .labels = 3, .density = 1});
  const Objective objective{owned.problem, Loss::svm(), 1e-6};
  SolverSettings settings;
  settings.stopping.gap = 1e-9;
  settings.stopping.passes = 200;
  Training training;
  find_solver("smo", objective.loss).run(objective, settings, training, {});
  Sweep sweep;
  const ValuedWeights scaled = scaled_for_margins(objective, training.theta, sweep);
  EXPECT_EQ(scaled.primal, evaluate_primal(objective, scaled.theta));
  EXPECT_LT(scaled.primal, evaluate_primal(objective, training.theta));
  // Zero weights have no multiples.
  const Weights zero(owned.problem.weight_shape());
  EXPECT_EQ(scaled_for_margins(objective, zero, sweep).primal, evaluate_primal(objective, zero));
}

// The line search by values ends where P no longer changes; H/l2 of 1e9 leaves a gap of 1e-6 there.
TEST(LastDigits, LbfgsGoesOnWhereThePrimalNoLongerTells) {
  const OwnedProblem owned(7, {.examples = 400, .attributes = 4, .labels = 3, .density = 1, .noise = 0.3});
  const Objective objective{owned.problem, Loss::crf(), 1e-9};
  LbfgsOptions options;
  options.stopping.gap = 1e-9;
  Weights theta(owned.problem.weight_shape());
  const Summary summary = lbfgs(objective, options, theta);
  EXPECT_EQ(summary.status, Status::converged) << summary.message;
  EXPECT_EQ(summary.history.back().primal, evaluate_primal(objective, theta));
}

}  // namespace
}  // namespace espalier::last_digits_test
