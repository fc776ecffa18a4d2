#include "solvers/eg_smoothing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "support/random_objective.h"

namespace espalier::eg_smoothing_test {
namespace {

// P_inf - D_inf <= (P_beta - D_beta) + sum_i omega_i H(u_i)/beta, at any duals.
RC_GTEST_PROP(EgSmoothing, HidesNoMoreThanItsEntropies, ()) {
  const test_support::OwnedProblem owned(test_support::any_data());
  const double gamma = *rc::gen::inRange(1, 300) * 0.01, beta = *rc::gen::element(0.5, 3.0, 40.0);
  const double l2 = test_support::any_l2();
  const Objective smooth{owned.problem, Loss{beta, gamma}, l2};
  const Objective sharp{owned.problem, Loss{Loss::svm().beta, gamma}, l2};
  const DualState dual = test_support::any_dual(owned.problem);
  const DualValue value = evaluate_dual(smooth, dual);
  Weights theta(owned.problem.weight_shape());
  theta.assign(value.w, 1 / l2);
  const Certificate solved = certify(smooth, theta, dual), sought = certify(sharp, theta, dual);
  const double hidden = solved.dual - sought.dual;  // sum_i omega_i H(u_i)/beta
  const double size = 1 + std::abs(solved.dual) + std::abs(solved.primal);
  RC_ASSERT(hidden >= -1e-9 * size);
  RC_ASSERT(sought.gap() <= solved.gap() + hidden + 1e-9 * size);
}

TEST(EgSmoothing, BetaRisesWhereItHidesMoreThanIsLeft) {
  EgSmoothing smoothing(2, 1);
  smoothing.set_entropy(0, 3);
  smoothing.set_entropy(1, 1);
  const double before = smoothing.inverse_beta();
  EXPECT_DOUBLE_EQ(smoothing.hidden(), 4 * before);
  smoothing.cool(4 * before, 0);  // as much is left
  EXPECT_EQ(smoothing.inverse_beta(), before);
  smoothing.cool(2 * before, 16 * before);  // what it hides is good enough
  EXPECT_EQ(smoothing.inverse_beta(), before);
  smoothing.cool(2 * before, 0);
  EXPECT_LT(smoothing.inverse_beta(), before);
}

TEST(EgSmoothing, GoesOnAtTheBetaThatAGapSpeaksOf) {
  EgSmoothing smoothing(1, 1);
  smoothing.set_entropy(0, 5);
  smoothing.start_at_gap(0.1);
  EXPECT_FLOAT_EQ(static_cast<float>(smoothing.hidden()), 0.05f);
  smoothing.start_at_gap(1000);  // never below the first beta
  EXPECT_FLOAT_EQ(static_cast<float>(smoothing.hidden()), 0.05f);
}

}  // namespace
}  // namespace espalier::eg_smoothing_test
