#include "espalier/learning/certificate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "learning/certify.h"
#include "learning/sweep.h"
#include "support/certificate_checks.h"
#include "support/counting_problem.h"
#include "support/random_objective.h"
#include "support/random_problem.h"

namespace espalier::certificate_test {
namespace {

using test_support::any_data;
using test_support::any_dual;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_maximum_loss;
using test_support::any_smooth_loss;
using test_support::any_weights;
using test_support::check_dual;
using test_support::check_gaps;
using test_support::check_primal;
using test_support::OwnedProblem;
using test_support::probabilities;
using test_support::rounding;

RC_GTEST_PROP(Certificate, DualIsThatOfEnumeration, ()) {
  const OwnedProblem owned(any_data());
  check_dual(owned.problem, any_loss(), any_l2(), any_dual(owned.problem));
}

RC_GTEST_PROP(Certificate, PrimalIsThatOfEnumeration, ()) {
  const OwnedProblem owned(any_data());
  check_primal(owned.problem, any_loss(), any_l2(), any_weights(owned.problem));
}

RC_GTEST_PROP(Certificate, GapIsTheSumOfItsParts, ()) {
  const OwnedProblem owned(any_data());
  check_gaps(owned.problem, any_loss(), any_l2(), any_weights(owned.problem), any_dual(owned.problem));
}

RC_GTEST_PROP(Certificate, NoDualExceedsAnyPrimal, ()) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_loss(), any_l2()};
  const Certificate certificate = certify(objective, any_weights(owned.problem), any_dual(owned.problem));
  RC_ASSERT(certificate.gap() >= -rounding(certificate));
}

// Weights that come from w(u)/l2 and are rounded to float: the gap has no other part than the g_i and the
// rounding.
RC_GTEST_PROP(Certificate, NoGapButTheExamplesAtTheDualsOwnWeights, ()) {
  const OwnedProblem owned(any_data());
  const Objective objective{owned.problem, any_loss(), 1};
  const DualState dual = any_dual(owned.problem);
  Workspace ws;
  Sweep sweep;
  const DualValue value = evaluate_dual(objective, dual);
  Weights theta;
  theta.assign(value.w, 1 / objective.regularizer.l2);
  std::vector<double> gaps;
  const Certificate certificate = certify(objective, theta, dual, value, sweep, &gaps);
  double sum = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) sum += owned.problem.weight(i) * gaps[i];
  const double rounded =
      0x1p-48 * euclidean_squared_norm(value.w) / (objective.regularizer.l2 * objective.regularizer.l2);
  const double raw = test_support::raw_dual(owned.problem, objective.regularizer.l2, value);
  RC_ASSERT(std::abs(certificate.primal - raw - sum) <=
            objective.regularizer.l2 / 2 * rounded + rounding(certificate));
}

// For finite beta the dual point that weights imply has the gap |grad P|^2 / (2 l2).
RC_GTEST_PROP(CertifyImplied, GapIsThatOfTheGradient, ()) {
  const OwnedProblem owned(any_data());
  const MulticlassProblem& problem = owned.problem;
  const Objective objective{problem, any_smooth_loss(), any_l2()};
  const Weights theta = any_weights(problem);
  const Certificate certificate = certify_implied(objective, theta);

  // grad P = l2 theta + sum_i omega_i F_i(pi_i - z_i)
  Workspace ws;
  DoubleWeights gradient;
  gradient.assign(theta, objective.regularizer.l2);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const auto e = test_support::enumerate_example(problem, i);
    auto pi =
        test_support::expectation(e, test_support::enumerate_loss(problem, objective.loss, i, theta).pi);
    for (std::size_t k = 0; k < pi.size(); ++k) pi[k] = problem.weight(i) * (pi[k] - e.z[k]);
    problem.accumulate(i, std::span<const double>(pi), gradient, ws);
  }
  const double expected = euclidean_squared_norm(gradient) / (2 * objective.regularizer.l2);
  RC_ASSERT(std::abs(certificate.gap() - expected) <= rounding(certificate) + 5e-11 / objective.loss.beta);
  RC_ASSERT(certificate.primal == evaluate_primal(objective, theta));
}

// For a maximum it is a bound, and no worse than that of one best output an example or of softmax at a
// temperature, up to the first that is worse than the one before.
RC_GTEST_PROP(CertifyImplied, OfAMaximumIsTheBestOfItsCandidates, ()) {
  const OwnedProblem owned(any_data());
  const MulticlassProblem& problem = owned.problem;
  const Objective objective{problem, any_maximum_loss(), any_l2()};
  const Weights theta = any_weights(problem);
  const Certificate certificate = certify_implied(objective, theta);
  RC_ASSERT(certificate.gap() >= -rounding(certificate));
  const double primal =
      test_support::enumerate_primal(problem, objective.loss, objective.regularizer.l2, theta);
  RC_ASSERT(std::abs(certificate.primal - primal) <= rounding(certificate));

  const auto dual_at = [&](double beta) {
    std::vector<std::vector<double>> u;
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const auto at = test_support::enumerate_loss(problem, {beta, objective.loss.gamma}, i, theta);
      u.push_back(at.pi);
      if (at.pi.empty()) {
        u.back().resize(at.margins.size());
        u.back()[static_cast<std::size_t>(std::max_element(at.margins.begin(), at.margins.end()) -
                                          at.margins.begin())] = 1;
      }
    }
    return test_support::enumerate_dual(problem, objective.loss, objective.regularizer.l2, u).value;
  };
  double best = dual_at(objective.loss.beta), before = -std::numeric_limits<double>::infinity();
  for (const double beta : {1.0, 4.0, 16.0, 64.0, 256.0}) {
    const double dual = dual_at(beta);
    const double noise = 1e-11 * (1 + std::abs(dual));
    RC_PRE(std::abs(dual - before) > noise);  // else rounding decides where the search ends
    best = std::max(best, dual);
    if (dual < before) break;
    before = dual;
  }
  RC_ASSERT(std::abs(certificate.dual - best) <= 5e-11 * (1 + std::abs(best)));
}

// The losses are computed once: one inference an example, and for a maximum one for each of the temperatures
// up to the first that is worse than the one before: at least two, at most five.
TEST(CertifyImplied, ComputesLossesOnce) {
  const OwnedProblem owned(5);
  const std::size_t n = owned.problem.size();
  const Weights theta = test_support::random_weights(6, owned.problem.weight_shape());
  const test_support::CountingProblem smooth(owned.problem), maximum(owned.problem);
  certify_implied({smooth, Loss::crf(), 1}, theta);
  EXPECT_EQ(smooth.double_log_partitions, n);
  EXPECT_EQ(smooth.double_argmaxes, 0u);
  certify_implied({maximum, Loss::svm(), 1}, theta);
  EXPECT_EQ(maximum.double_log_partitions % n, 0u);
  EXPECT_GE(maximum.double_log_partitions, 2 * n);
  EXPECT_LE(maximum.double_log_partitions, 5 * n);
  EXPECT_EQ(maximum.double_argmaxes, n);
}

// An example of weight k is k times the same example.
TEST(Certificate, AWeightIsANumberOfCopies) {
  auto weighted = test_support::random_data(11);
  test_support::MulticlassData copied;
  copied.attributes = weighted.attributes;
  copied.labels = weighted.labels;
  copied.costs = weighted.costs;
  for (std::size_t i = 0; i < weighted.gold.size(); ++i) {
    weighted.omega[i] = static_cast<double>(1 + i % 3);
    for (std::size_t copy = 0; copy < 1 + i % 3; ++copy) {
      const auto row = weighted.rows.row(i);
      for (std::size_t j = 0; j < row.ids.size(); ++j) copied.rows.add(row.ids[j], row.value(j));
      copied.rows.finish_row();
      copied.gold.push_back(weighted.gold[i]);
    }
  }
  const OwnedProblem one(weighted), many(copied);
  const Weights theta = test_support::random_weights(12, one.problem.weight_shape());
  for (const Loss loss : {Loss::crf(), Loss::svm(), Loss::softmax_margin(), Loss{0.3, 2}}) {
    const Objective few_examples{one.problem, loss, 2}, many_examples{many.problem, loss, 2};
    DualState few(one.problem), more(many.problem);
    few.start_near_gold(one.problem, 2);
    more.start_near_gold(many.problem, 2);
    const Certificate a = certify(few_examples, theta, few), b = certify(many_examples, theta, more);
    EXPECT_NEAR(a.primal, b.primal, 1e-12 * b.primal) << loss.name();
    EXPECT_NEAR(a.dual, b.dual, 1e-12 * b.primal) << loss.name();
    const Certificate c = certify_implied(few_examples, theta), d = certify_implied(many_examples, theta);
    EXPECT_NEAR(c.primal, d.primal, 1e-12 * d.primal) << loss.name();
    EXPECT_NEAR(c.dual, d.dual, 1e-12 * d.primal) << loss.name();
  }
}

// Martins et al. 2010, footnote 10, for the whole objective: at the same u the dual is a times as well.
RC_GTEST_PROP(Certificate, ScalesAsInMartinsFootnoteTen, ()) {
  const OwnedProblem owned(any_data());
  const Loss loss = any_loss();
  const double l2 = any_l2();
  const double a = *rc::gen::element(0.25, 0.5, 4.0);  // powers of two, so that a theta is exact
  const Weights theta = any_weights(owned.problem);
  Weights scaled_theta;
  scaled_theta.assign(theta, a);
  const DualState dual = any_dual(owned.problem);
  const Certificate certificate = certify({owned.problem, loss, l2}, theta, dual);
  const Certificate scaled =
      certify({owned.problem, {loss.beta / a, a * loss.gamma}, l2 / a}, scaled_theta, dual);
  RC_ASSERT(std::abs(scaled.primal - a * certificate.primal) <=
            a * rounding(certificate) + 1e-11 / loss.beta);
  RC_ASSERT(std::abs(scaled.dual - a * certificate.dual) <= a * rounding(certificate) + 1e-11 / loss.beta);
}

// 0 * (-infinity) is 0 in the entropy: a dual may exclude outputs.
TEST(Certificate, ImpossibleOutputsHaveNoShare) {
  const OwnedProblem owned(3);
  DualState dual(owned.problem);
  for (std::size_t i = 0; i < dual.size(); ++i) dual.s(i)[(owned.data.gold[i] + 1) % 4] = -INFINITY;
  Workspace ws;
  for (const Loss loss : {Loss::crf(), Loss::svm(), Loss::softmax_margin()}) {
    const Objective objective{owned.problem, loss, 1};
    const DualValue value = evaluate_dual(objective, dual);
    const auto expected =
        test_support::enumerate_dual(owned.problem, loss, 1, probabilities(owned.problem, dual));
    EXPECT_NEAR(value.value, expected.value, 1e-11 * std::abs(expected.value)) << loss.name();
  }
}

TEST(Certificate, RelativeGap) {
  EXPECT_EQ((Certificate{8, 6}).gap(), 2);
  EXPECT_EQ((Certificate{8, 6}).relative_gap(), 0.25);
  EXPECT_EQ((Certificate{0, 0}).relative_gap(), 0);
}

}  // namespace
}  // namespace espalier::certificate_test
