#include "solvers/lbfgs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "support/random_problem.h"
#include "support/weighted_twice.h"

namespace espalier::lbfgs_test {
namespace {

using test_support::OwnedProblem;
using test_support::random_weights;
using test_support::RandomDataOptions;
using test_support::WeightedTwice;

const std::vector<Loss> kSmoothLosses{Loss::crf(), Loss::softmax_margin(), {4, 1}, {0.5, 2}, {10, 0}};

LbfgsOptions tight(double gap = 1e-10) {
  LbfgsOptions options;
  options.stopping.gap = gap;
  return options;
}

// grad P = l2 theta + sum_i omega_i F_i(pi_i - z_i), as the solver has it.
DoubleWeights gradient(const Objective& objective, const Weights& theta) {
  const Problem& problem = objective.problem;
  Workspace ws;
  DoubleWeights g;
  g.assign(theta, objective.regularizer.l2);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> s(problem.num_statistics(i)), pi(s.size());
    example_loss(objective, i, theta, s, pi, ws);
    problem.add_gold(i, -1.0, pi);
    for (double& p : pi) p *= problem.weight(i);
    problem.accumulate(i, pi, g, ws);
  }
  return g;
}

RC_GTEST_PROP(Lbfgs, GradientIsTheDerivativeOfThePrimal, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const OwnedProblem owned(seed, {.examples = 6, .attributes = 4, .labels = 3});
  const Objective objective{owned.problem, *rc::gen::elementOf(kSmoothLosses), 0.7};
  // Multiples of 2^-8 and steps of 2^-12: sums are exact in float, so that the primal is evaluated where we
  // think it is.
  Weights theta = random_weights(seed + 1, owned.problem.weight_shape());
  for (float& v : theta.values()) v = std::round(v * 256) / 256;
  const float h = 0x1p-12f;
  const DoubleWeights g = gradient(objective, theta);
  Workspace ws;
  for (std::size_t r = 0; r < theta.shape().rows; ++r) {
    for (std::size_t k = 0; k < theta.shape().width; ++k) {
      Weights up = theta, down = theta;
      up.row(r)[k] += h;
      down.row(r)[k] -= h;
      const double slope = (evaluate_primal(objective, up) - evaluate_primal(objective, down)) / (2.0 * h);
      // The third derivative of a loss grows with beta^2: 100 h^2/6 is about 1e-6.
      RC_ASSERT(std::abs(slope - g.row(r)[k]) < 1e-5 * (1 + std::abs(slope)));
    }
  }
}

RC_GTEST_PROP(Lbfgs, ReachesTheOptimumOfSmoothLosses, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  RandomDataOptions shape;
  shape.labels = *rc::gen::inRange<std::size_t>(2, 12);
  shape.unit_values = *rc::gen::arbitrary<bool>();
  shape.cost_matrix = *rc::gen::arbitrary<bool>();
  shape.weighted = *rc::gen::arbitrary<bool>();
  const OwnedProblem owned(seed, shape);
  const double l2 = *rc::gen::element(0.05, 1.0, 20.0);
  const Objective objective{owned.problem, *rc::gen::elementOf(kSmoothLosses), l2};

  Weights theta(owned.problem.weight_shape());
  const Summary summary = lbfgs(objective, tight(), theta);
  RC_ASSERT(summary.status == Status::converged);
  RC_ASSERT(summary.history.back().relative_gap() <= 1e-10);
  for (std::size_t t = 0; t < summary.history.size(); ++t) {
    const Progress& now = summary.history[t];
    // Weak duality and descent, up to the rounding of sums and, in the last report, of weights.
    RC_ASSERT(now.gap() >= -1e-13 * now.primal);
    if (t == 0) continue;
    const Progress& before = summary.history[t - 1];
    RC_ASSERT(now.primal <= before.primal * (1 + 1e-12));
    RC_ASSERT(now.dual >= before.dual);
    RC_ASSERT(now.passes >= before.passes + 1);
  }
  // Independent of the solver's own numbers: P - P* <= |grad P|^2/(2 l2).
  Workspace ws;
  const double primal = evaluate_primal(objective, theta);
  RC_ASSERT(primal == summary.history.back().primal);
  RC_ASSERT(euclidean_squared_norm(gradient(objective, theta)) / (2 * l2) <= 1e-8 * primal);
  for (std::size_t r = 0; r < theta.shape().rows; ++r) {
    for (std::size_t k = theta.shape().width; k < theta.stride(); ++k) RC_ASSERT(theta.row(r)[k] == 0.0f);
  }
}

TEST(Lbfgs, AgreesWithPlainGradientDescent) {
  const OwnedProblem owned(5, {.examples = 12, .attributes = 3, .labels = 3});
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{3, 0.5}}) {
    const Objective objective{owned.problem, loss, 1.5};
    Weights theta(owned.problem.weight_shape());
    ASSERT_EQ(lbfgs(objective, tight(1e-12), theta).status, Status::converged);

    // Steps of 1/(l2 + sum_i omega_i beta |F|^2/4 ...) would do; this bound on the curvature is cruder.
    double curvature = objective.regularizer.l2;
    for (std::size_t i = 0; i < owned.problem.size(); ++i) {
      curvature += owned.problem.weight(i) * loss.beta * owned.problem.squared_diameter(i);
    }
    Weights slow(owned.problem.weight_shape());
    DoubleWeights exact(owned.problem.weight_shape());
    for (int t = 0; t < 3000; ++t) {
      slow.assign(exact);
      const DoubleWeights g = gradient(objective, slow);
      for (std::size_t j = 0; j < g.values().size(); ++j) exact.values()[j] -= g.values()[j] / curvature;
    }
    for (std::size_t j = 0; j < theta.values().size(); ++j) {
      EXPECT_NEAR(theta.values()[j], exact.values()[j], 2e-6) << loss.name() << ", weight " << j;
    }
  }
}

TEST(Lbfgs, ExampleOfWeightTwoIsTheExampleTwice) {
  const WeightedTwice data(11);
  const OwnedProblem weighted(data.weighted), doubled(data.repeated);
  Weights a(weighted.problem.weight_shape()), b(doubled.problem.weight_shape());
  const Summary of_a = lbfgs({weighted.problem, Loss::softmax_margin(), 0.5}, tight(1e-12), a);
  const Summary of_b = lbfgs({doubled.problem, Loss::softmax_margin(), 0.5}, tight(1e-12), b);
  EXPECT_NEAR(of_a.history.back().primal, of_b.history.back().primal, 1e-11 * of_a.history.back().primal);
  for (std::size_t j = 0; j < a.values().size(); ++j) EXPECT_NEAR(a.values()[j], b.values()[j], 1e-5);
}

TEST(Lbfgs, ReportsTheStartAndCertifiesTheEndExactly) {
  const OwnedProblem owned(3);
  const Objective objective{owned.problem, Loss::crf(), 1};
  Weights theta(owned.problem.weight_shape());
  std::vector<Weights> seen;
  const Summary summary = lbfgs(objective, tight(1e-6), theta, [&](const Progress&, const Weights& now) {
    seen.push_back(now);
    return Control::go_on;
  });
  ASSERT_EQ(seen.size(), summary.history.size());
  // At zero every output is as likely as any other.
  double total = 0;
  for (const double omega : owned.data.omega) total += omega;
  EXPECT_NEAR(summary.history.front().primal, total * std::log(4.0), 1e-12 * total);
  EXPECT_EQ(summary.history.front().passes, 1);

  for (std::size_t t = 0; t < seen.size(); ++t) {
    const Certificate truth = certify_implied(objective, seen[t]);
    EXPECT_NEAR(summary.history[t].primal, truth.primal, 1e-9 * truth.primal);
    EXPECT_GE(summary.history[t].dual, truth.dual - 1e-6 * truth.primal);
  }
  const Certificate last = certify_implied(objective, theta);
  EXPECT_EQ(summary.history.back().primal, last.primal);
  EXPECT_GE(summary.history.back().dual, last.dual);
}

TEST(Lbfgs, GoodStartIsLeftAsItIs) {
  const OwnedProblem owned(3);
  const Objective objective{owned.problem, Loss::crf(), 1};
  Weights theta(owned.problem.weight_shape());
  lbfgs(objective, tight(1e-9), theta);
  Weights again = theta;
  const Summary summary = lbfgs(objective, tight(1e-8), again);
  EXPECT_EQ(summary.status, Status::converged);
  ASSERT_EQ(summary.history.size(), 1u);
  EXPECT_EQ(summary.history[0].passes, 1);
  EXPECT_TRUE(std::equal(theta.values().begin(), theta.values().end(), again.values().begin()));
}

TEST(Lbfgs, PassesAreNeverExceeded) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::crf(), 0.01};
  double primal = std::numeric_limits<double>::infinity();
  for (const double passes : {0.0, 0.5, 1.0, 2.0, 3.0, 4.5, 8.0}) {
    LbfgsOptions options = tight();
    options.stopping.passes = passes;
    Weights theta(owned.problem.weight_shape());
    const Summary summary = lbfgs(objective, options, theta);
    EXPECT_EQ(summary.status, Status::out_of_passes);
    EXPECT_EQ(summary.history.back().passes, passes);
    const Certificate truth = certify_implied(objective, theta);
    EXPECT_EQ(summary.history.back().primal, truth.primal);
    EXPECT_LE(truth.primal, primal);
    primal = truth.primal;
  }
}

TEST(Lbfgs, OutOfTime) {
  const OwnedProblem owned(4);
  LbfgsOptions options;
  options.stopping.seconds = 0;
  Weights theta = random_weights(1, owned.problem.weight_shape());
  const Weights start = theta;
  const Objective objective{owned.problem, Loss::crf(), 1};
  const Summary summary = lbfgs(objective, options, theta);
  EXPECT_EQ(summary.status, Status::out_of_time);
  EXPECT_EQ(summary.history.back().passes, 0);
  EXPECT_EQ(summary.history.back().primal, certify_implied(objective, start).primal);
}

TEST(Lbfgs, InterruptedBeforeTheStart) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::crf(), 1};
  const std::atomic<bool> stop = true;
  LbfgsOptions options;
  options.stopping.stop = &stop;
  Weights theta = random_weights(1, owned.problem.weight_shape());
  const Weights start = theta;
  const Summary summary = lbfgs(objective, options, theta);
  EXPECT_EQ(summary.status, Status::stopped);
  ASSERT_EQ(summary.history.size(), 1u);
  EXPECT_EQ(summary.history[0].passes, 0);
  EXPECT_EQ(summary.history[0].primal, certify_implied(objective, start).primal);
  EXPECT_TRUE(std::equal(start.values().begin(), start.values().end(), theta.values().begin()));
}

TEST(Lbfgs, ObserverStopsWithAnExactCertificate) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::crf(), 0.1};
  Weights theta(owned.problem.weight_shape());
  const Summary summary = lbfgs(objective, tight(), theta, [](const Progress& progress, const Weights&) {
    return progress.epoch >= 3 ? Control::stop : Control::go_on;
  });
  EXPECT_EQ(summary.status, Status::stopped);
  ASSERT_EQ(summary.history.size(), 4u) << "the third report, and the same weights certified exactly";
  EXPECT_EQ(summary.history[2].passes, summary.history[3].passes);
  EXPECT_EQ(summary.history.back().primal, certify_implied(objective, theta).primal);
}

TEST(Lbfgs, ExceptionsOfTheObserverArrive) {
  const OwnedProblem owned(4);
  for (const int epoch : {1, 3}) {
    Weights theta(owned.problem.weight_shape());
    int calls = 0;
    const Observer observer = [&](const Progress& progress, const Weights&) {
      ++calls;
      if (progress.epoch == epoch) throw std::runtime_error("disk full");
      return Control::go_on;
    };
    try {
      lbfgs({owned.problem, Loss::crf(), 0.1}, tight(), theta, observer);
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "disk full");
    }
    EXPECT_EQ(calls, epoch);
  }
}

TEST(Lbfgs, StallsWhereDoublePrecisionEnds) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::crf(), 0.1};
  Weights theta(owned.problem.weight_shape());
  const Summary summary = lbfgs(objective, tight(-1), theta);
  EXPECT_EQ(summary.status, Status::stalled);
  EXPECT_TRUE(
      summary.message.starts_with("stalled (rounding in double precision hides what is left): relative gap "))
      << summary.message;
  EXPECT_LT(summary.history.back().relative_gap(), 1e-12);
}

TEST(Lbfgs, WeightsThatAreNotFiniteFail) {
  const OwnedProblem owned(4);
  Weights theta(owned.problem.weight_shape());
  theta.row(0)[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(lbfgs({owned.problem, Loss::crf(), 1}, {}, theta).status, Status::failed);
}

TEST(Lbfgs, RefusesInfiniteBeta) {
  const OwnedProblem owned(4);
  Weights theta(owned.problem.weight_shape());
  try {
    lbfgs({owned.problem, Loss::svm(), 1}, {}, theta);
    ADD_FAILURE() << "no exception";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "lbfgs: the loss svm is not smooth; expected one with finite beta");
  }
}

}  // namespace
}  // namespace espalier::lbfgs_test
