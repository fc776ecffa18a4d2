#include "solvers/sgd.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "espalier/learning/certificate.h"
#include "solvers/lbfgs.h"
#include "support/random_problem.h"

namespace espalier::sgd_test {
namespace {

using test_support::MulticlassData;
using test_support::OwnedProblem;
using test_support::random_data;
using test_support::random_weights;
using test_support::RandomDataOptions;

constexpr double kRates[] = {1, 0.1, 0.01, 0.001, 0.0001};
const std::vector<Loss> kLosses{Loss::crf(),        Loss::svm(), Loss::softmax_margin(),
                                Loss::perceptron(), {4, 1},      {0.5, 2}};

SgdOptions passes(double count, std::uint64_t seed = 1) {
  SgdOptions options;
  options.stopping.passes = count;
  options.stopping.gap = 0;
  options.seed = seed;
  return options;
}

bool equal(const Weights& a, const Weights& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
}

// One pass as the formula says: theta <- theta - eta( l2/n theta + omega_i F_i(pi_i - z_i) ), in double
// precision.
void naive_pass(const Objective& objective, double eta_0, double k, std::span<const std::size_t> order,
                DoubleWeights& theta) {
  const Problem& problem = objective.problem;
  const double n = static_cast<double>(problem.size());
  Workspace ws;
  for (const std::size_t i : order) {
    const double eta = eta_0 / (1 + k++ / n);
    std::vector<double> s(problem.num_statistics(i)), pi(s.size());
    example_loss(objective, i, theta, s, pi, ws);
    problem.add_gold(i, -1.0, pi);
    for (double& p : pi) p *= -eta * problem.weight(i);
    for (double& v : theta.values()) v *= 1 - eta * objective.regularizer.l2 / n;
    problem.accumulate(i, pi, theta, ws);
  }
}

std::function<double(const DoubleWeights&)> by_primal(const Objective& objective) {
  return [&objective](const DoubleWeights& theta) {
    Weights rounded;
    rounded.assign(theta);
    Workspace ws;
    return evaluate_primal(objective, rounded);
  };
}

// The `dev_error` of each rate's weights after one pass decides which one goes on.
DoubleWeights naive_sgd(const Objective& objective, std::uint64_t seed, const Weights& from, int epochs,
                        const std::function<double(const DoubleWeights&)>& dev_error) {
  std::vector<std::size_t> order(objective.problem.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  random.shuffle(std::span(order));
  DoubleWeights start, best;
  start.assign(from);
  double least = std::numeric_limits<double>::infinity(), best_rate = 0;
  for (const double eta_0 : kRates) {
    DoubleWeights theta = start;
    naive_pass(objective, eta_0, 0, order, theta);
    const double value = dev_error(theta);
    if (value < least) {
      least = value;
      best_rate = eta_0;
      best = theta;
    }
  }
  for (int epoch = 1; epoch < epochs; ++epoch) {
    random.shuffle(std::span(order));
    naive_pass(objective, best_rate, static_cast<double>(epoch * order.size()), order, best);
  }
  return best;
}

RC_GTEST_PROP(Sgd, AgreesWithTheUpdateInFull, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const OwnedProblem owned(seed);
  const Loss loss = *rc::gen::element(Loss::crf(), Loss::softmax_margin(), Loss{4, 1}, Loss{0.5, 2});
  // Small, usual, and so large that the shrink of one step is nearly everything, or everything and more (n =
  // 30).
  const double l2 = *rc::gen::element(0.01, 1.0, 29.9, 30.0, 100.0);
  const Objective objective{owned.problem, loss, l2};
  Weights theta = random_weights(seed + 1, owned.problem.weight_shape(), 0.5);
  const DoubleWeights expected = naive_sgd(objective, seed, theta, 4, by_primal(objective));
  sgd(objective, passes(8, seed), theta);
  for (std::size_t j = 0; j < theta.values().size(); ++j) {
    RC_ASSERT(std::abs(theta.values()[j] - expected.values()[j]) < 1e-4);
  }
}

TEST(Sgd, ShrinksByAnyFactor) {
  // At eta_0 = 1 and n = 30 the first step keeps 7 % of theta, nothing, or turns it round: the scale is
  // folded into the weights every few steps.
  const OwnedProblem owned(8);
  for (const double l2 : {28.0, 30.0, 45.0}) {
    const Objective objective{owned.problem, Loss::crf(), l2};
    Weights theta = random_weights(2, owned.problem.weight_shape());
    int naive_tried = 0, tried = 0;
    const DoubleWeights expected =
        naive_sgd(objective, 1, theta, 20, [&](const DoubleWeights&) { return naive_tried++; });
    SgdOptions options = passes(24);
    options.dev_error = [&](const Weights&) { return tried++; };
    sgd(objective, options, theta);
    for (std::size_t j = 0; j < theta.values().size(); ++j) {
      EXPECT_NEAR(theta.values()[j], expected.values()[j], 1e-5) << "l2 " << l2 << ", weight " << j;
    }
  }
}

TEST(Sgd, SubgradientStepsOfMarginLosses) {
  // Costs and features are irrational enough that no two outputs tie beyond the first step.
  const OwnedProblem owned(9);
  for (const Loss& loss : {Loss::svm(), Loss::perceptron()}) {
    const Objective objective{owned.problem, loss, 0.5};
    Weights theta = random_weights(2, owned.problem.weight_shape(), 0.5);
    const DoubleWeights expected = naive_sgd(objective, 1, theta, 4, by_primal(objective));
    sgd(objective, passes(8), theta);
    for (std::size_t j = 0; j < theta.values().size(); ++j) {
      EXPECT_NEAR(theta.values()[j], expected.values()[j], 1e-4) << loss.name();
    }
  }
}

RC_GTEST_PROP(Sgd, ReportsAreTrueCertificates, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const OwnedProblem owned(seed);
  const Objective objective{owned.problem, *rc::gen::elementOf(kLosses), *rc::gen::element(0.1, 1.0, 10.0)};
  Weights theta(owned.problem.weight_shape());
  double best_dual = 0;  // that of the gold outputs
  const Summary summary = sgd(objective, passes(9), theta, [&](const Progress& now, const Weights& weights) {
    const Certificate truth = certify_implied(objective, weights);
    best_dual = std::max(best_dual, truth.dual);
    RC_ASSERT(now.primal == truth.primal);
    RC_ASSERT(now.dual == best_dual);
    RC_ASSERT(now.gap() >= -1e-12 * now.primal);
    return Control::go_on;
  });
  RC_ASSERT(summary.status == Status::out_of_passes);
  RC_ASSERT(summary.history.size() == 5u);
  // Five passes to choose eta_0, then one a report.
  for (std::size_t t = 0; t < 5; ++t) RC_ASSERT(summary.history[t].passes == 5.0 + static_cast<double>(t));
  Workspace ws;
  RC_ASSERT(evaluate_primal(objective, theta) == summary.history.back().primal);
}

TEST(Sgd, ComesCloseToTheOptimum) {
  RandomDataOptions shape;
  shape.examples = 500;
  shape.noise = 0.05;
  const OwnedProblem owned(21, shape);
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{4, 1}}) {
    const Objective objective{owned.problem, loss, 1};
    Weights best(owned.problem.weight_shape()), theta(owned.problem.weight_shape());
    LbfgsOptions options;
    options.stopping.gap = 1e-8;
    const double optimum = lbfgs(objective, options, best).history.back().primal;
    const double reached = sgd(objective, passes(30), theta).history.back().primal;
    EXPECT_GE(reached, optimum * (1 - 1e-8));
    EXPECT_LE(reached, 1.05 * optimum) << loss.name();
  }
}

TEST(Sgd, ConvergesByItsCertificate) {
  RandomDataOptions shape;
  shape.examples = 200;
  const OwnedProblem owned(22, shape);
  const Objective objective{owned.problem, Loss::crf(), 20};
  SgdOptions options = passes(200);
  options.stopping.gap = 1e-3;
  Weights theta(owned.problem.weight_shape());
  const Summary summary = sgd(objective, options, theta);
  EXPECT_EQ(summary.status, Status::converged) << summary.message;
  EXPECT_LE(certify_implied(objective, theta).primal - summary.history.back().dual,
            1e-3 * summary.history.back().primal);
}

TEST(Sgd, SeedDecidesTheBits) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::softmax_margin(), 0.3};
  Weights a(owned.problem.weight_shape()), b = a, c = a;
  sgd(objective, passes(8, 1), a);
  sgd(objective, passes(8, 1), b);
  sgd(objective, passes(8, 2), c);
  EXPECT_TRUE(equal(a, b));
  EXPECT_FALSE(equal(a, c));
}

TEST(Sgd, DevErrorChoosesTheRate) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::crf(), 0.3};
  const Weights start = random_weights(3, owned.problem.weight_shape());
  for (std::size_t wanted = 0; wanted < 5; ++wanted) {
    std::vector<Weights> tried;
    SgdOptions options = passes(5);
    options.dev_error = [&](const Weights& weights) {
      tried.push_back(weights);
      return tried.size() == wanted + 1 ? 0.25 : 0.5;
    };
    Weights theta = start;
    const Summary summary = sgd(objective, options, theta);
    ASSERT_EQ(tried.size(), 5u);
    EXPECT_TRUE(equal(theta, tried[wanted]));
    EXPECT_EQ(summary.history.back().passes, 5);
  }
}

TEST(Sgd, PassesAreNeverExceeded) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  for (const double count : {0.0, 0.5, 1.0, 2.5, 5.0, 5.5, 7.0}) {
    Weights theta = random_weights(3, owned.problem.weight_shape());
    const Weights start = theta;
    const Summary summary = sgd(objective, passes(count), theta);
    EXPECT_EQ(summary.status, Status::out_of_passes);
    EXPECT_EQ(summary.history.back().passes, count);
    EXPECT_EQ(summary.history.back().primal, certify_implied(objective, theta).primal);
    // A rate is only chosen once its pass is complete.
    EXPECT_EQ(equal(theta, start), count < 1);
  }
}

TEST(Sgd, InterruptedBeforeTheStart) {
  const OwnedProblem owned(6);
  const std::atomic<bool> stop = true;
  SgdOptions options = passes(10);
  options.stopping.stop = &stop;
  Weights theta = random_weights(3, owned.problem.weight_shape());
  const Weights start = theta;
  const Objective objective{owned.problem, Loss::crf(), 1};
  const Summary summary = sgd(objective, options, theta);
  EXPECT_EQ(summary.status, Status::stopped);
  ASSERT_EQ(summary.history.size(), 1u);
  EXPECT_EQ(summary.history[0].passes, 0);
  EXPECT_EQ(summary.history[0].primal, certify_implied(objective, start).primal);
  EXPECT_TRUE(equal(theta, start));
}

TEST(Sgd, InterruptedWhileChoosing) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::crf(), 1};
  std::atomic<bool> stop = false;
  SgdOptions options = passes(10);
  options.stopping.stop = &stop;
  std::vector<Weights> tried;
  options.dev_error = [&](const Weights& weights) {
    tried.push_back(weights);
    stop = tried.size() == 2;
    return tried.size() == 2 ? 0.1 : 0.2;
  };
  Weights theta(owned.problem.weight_shape());
  const Summary summary = sgd(objective, options, theta);
  EXPECT_EQ(summary.status, Status::stopped);
  ASSERT_EQ(tried.size(), 2u);
  EXPECT_TRUE(equal(theta, tried[1]));
  EXPECT_EQ(summary.history.back().passes, 2);
}

TEST(Sgd, ObserverStops) {
  const OwnedProblem owned(6);
  Weights theta(owned.problem.weight_shape());
  const Summary summary = sgd(
      {owned.problem, Loss::crf(), 1}, passes(100), theta,
      [](const Progress& now, const Weights&) { return now.epoch == 3 ? Control::stop : Control::go_on; });
  EXPECT_EQ(summary.status, Status::stopped);
  EXPECT_EQ(summary.history.size(), 3u);
  EXPECT_EQ(summary.history.back().passes, 7);
}

TEST(Sgd, OutOfTime) {
  const OwnedProblem owned(6);
  SgdOptions options = passes(10);
  options.stopping.seconds = 0;
  Weights theta(owned.problem.weight_shape());
  const Summary summary = sgd({owned.problem, Loss::crf(), 1}, options, theta);
  EXPECT_EQ(summary.status, Status::out_of_time);
  EXPECT_EQ(summary.history.back().passes, 0);
}

TEST(Sgd, RatesThatDivergeAreOut) {
  // With these weights a step of eta_0 = 1 leaves the range of floats, and one of 0.0001 does not.
  RandomDataOptions shape;
  shape.cost_matrix = false;
  MulticlassData data = random_data(7, shape);
  for (double& omega : data.omega) omega *= 1e41;
  const OwnedProblem owned(data);
  Weights theta(owned.problem.weight_shape());
  const Summary summary = sgd({owned.problem, Loss::crf(), 1}, passes(5), theta);
  EXPECT_EQ(summary.status, Status::out_of_passes) << summary.message;
  EXPECT_TRUE(std::isfinite(summary.history.back().primal));
  EXPECT_LT(summary.history.front().passes, 5) << "a pass that diverges ends there";
}

TEST(Sgd, FailsIfAllRatesDiverge) {
  MulticlassData data = random_data(7);
  for (double& omega : data.omega) omega *= 1e60;
  const OwnedProblem owned(data);
  Weights theta(owned.problem.weight_shape());
  const Summary summary = sgd({owned.problem, Loss::crf(), 1}, passes(20), theta);
  EXPECT_EQ(summary.status, Status::failed);
  ASSERT_EQ(summary.history.size(), 1u);
  EXPECT_EQ(summary.history[0].primal, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace espalier::sgd_test
