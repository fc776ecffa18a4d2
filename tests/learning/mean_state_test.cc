#include "learning/mean_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "support/random_objective.h"

namespace espalier::mean_state_test {
namespace {

TEST(MeanState, BeginsAtTheGoldOutputs) {
  const test_support::OwnedProblem owned(1);
  const MeanState means(owned.problem);
  DualValue value;
  Sweep sweep;
  evaluate_dual({owned.problem, Loss::svm(), 2.0}, means, value, sweep);
  EXPECT_LE(value.value, 0);
  EXPECT_GT(value.value, -1e-12);
  EXPECT_EQ(owned.problem.squared_norm(value.w), 0);
}

// For beta = infinity the dual of scores depends on their marginals alone.
RC_GTEST_PROP(MeanState, HasTheDualOfTheDistributionThatItIsTheMeanOf, ()) {
  const test_support::OwnedProblem owned(test_support::any_data());
  const Objective objective{owned.problem, test_support::any_maximum_loss(), test_support::any_l2()};
  const DualState dual = test_support::any_dual(owned.problem);
  MeanState means(owned.problem);
  Workspace ws;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const std::vector<double> s(dual.s(i).begin(), dual.s(i).end());
    owned.problem.log_partition(i, DoubleIn(s), means.mu(i), ws);
  }
  const DualValue expected = evaluate_dual(objective, dual);
  DualValue value;
  Sweep sweep;
  evaluate_dual(objective, means, value, sweep);
  const double size =
      std::abs(expected.value) + owned.problem.squared_norm(expected.w) / objective.regularizer.l2 + 1;
  RC_ASSERT(std::abs(value.value - expected.value) <= 1e-10 * size);
}

}  // namespace
}  // namespace espalier::mean_state_test
