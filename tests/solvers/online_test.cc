// What the online solvers have in common.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "learning/forwarding_problem.h"
#include "solvers/dca.h"
#include "solvers/mira.h"
#include "solvers/perceptron.h"
#include "support/history_checks.h"
#include "support/naive_online.h"
#include "support/random_objective.h"

namespace espalier::online_test {
namespace {

using test_support::distance;
using test_support::expect_gaps;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::random_weights;

struct OnlineSolver {
  std::string name;
  bool smooth;  // takes losses of finite beta, too
  std::function<Summary(const Objective&, const OnlineOptions&, Weights&, const Observer&)> run;
};

OnlineSolver mira_as(const std::string& name, MiraUpdate update, std::size_t k) {
  return {name, false,
          [=](const Objective& objective, const OnlineOptions& options, Weights& theta,
              const Observer& observer) {
            MiraOptions all;
            static_cast<OnlineOptions&>(all) = options;
            all.update = update;
            all.k = k;
            return mira(objective, all, theta, observer);
          }};
}

const std::vector<OnlineSolver> kSolvers{
    {"dca", true, dca},
    {"perceptron", true, perceptron},
    mira_as("mira, max-loss", MiraUpdate::max_loss, 1),
    mira_as("mira, prediction", MiraUpdate::prediction, 1),
    mira_as("mira, 3 best", MiraUpdate::max_loss, 3),
};
const std::vector<Loss> kLosses{Loss::crf(),        Loss::svm(), Loss::softmax_margin(),
                                Loss::perceptron(), {4, 1},      {0.5, 2}};

OnlineOptions passes(double count, std::uint64_t seed = 1) {
  OnlineOptions options;
  options.stopping.passes = count;
  options.stopping.gap = -1;  // go on, whatever the gap
  options.report_every = 1;
  options.seed = seed;
  return options;
}

// The optimum, from below: a dual value.
double best_bound(const Objective& objective) {
  EgOptions options;
  options.stopping.gap = 1e-4;
  DualState dual(objective.problem);
  Weights theta;
  return eg(objective, options, dual, theta).history.back().dual;
}

void expect_true_reports(const Problem& problem, const std::string& kind) {
  for (const OnlineSolver& solver : kSolvers) {
    for (const Loss& loss : kLosses) {
      if (loss.smooth() && !solver.smooth) continue;
      const std::string where = solver.name + " " + kind + " " + loss.name();
      const Objective objective{problem, loss, 3};
      Weights theta(problem.weight_shape());
      double last_dual = 0;  // that of the gold outputs
      const Summary summary =
          solver.run(objective, passes(4), theta, [&](const Progress& now, const Weights& weights) {
            const Certificate truth = certify_implied(objective, weights);
            EXPECT_EQ(now.primal, truth.primal) << where;
            EXPECT_GE(now.dual, std::max(last_dual, truth.dual)) << where;
            // The perceptron has no first pass with a dual of its own.
            if (solver.name == "perceptron") {
              EXPECT_EQ(now.dual, std::max(last_dual, truth.dual)) << where;
            }
            last_dual = now.dual;
            return Control::go_on;
          });
      EXPECT_EQ(summary.status, Status::out_of_passes) << where;
      ASSERT_EQ(summary.history.size(), 4u) << where;
      for (std::size_t t = 0; t < 4; ++t)
        EXPECT_EQ(summary.history[t].passes, static_cast<double>(t + 1)) << where;
      expect_gaps(summary, where);
      EXPECT_EQ(evaluate_primal(objective, theta), summary.history.back().primal) << where;
      // EG comes near to the optimum from below: no weights of anyone's are better.
      if (loss != Loss::perceptron()) {
        EXPECT_GE(summary.history.back().primal, best_bound(objective)) << where;
      }
    }
  }
}

TEST(OnlineSolvers, ReportsAreTrueCertificates) {
  expect_true_reports(OwnedProblem(3).problem, "on classes");
  expect_true_reports(OwnedChainProblem(3).problem, "on chains");
  expect_true_reports(OwnedDependencyProblem(3).problem, "on trees");
}

TEST(OnlineSolvers, SeedDecidesTheBits) {
  const OwnedChainProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  for (const OnlineSolver& solver : kSolvers) {
    Weights a(owned.problem.weight_shape()), b = a, c = a;
    solver.run(objective, passes(3, 1), a, {});
    solver.run(objective, passes(3, 1), b, {});
    solver.run(objective, passes(3, 2), c, {});
    EXPECT_EQ(distance(a, b), 0) << solver.name;
    EXPECT_GT(distance(a, c), 0) << solver.name;
  }
}

TEST(OnlineSolvers, ReportsDoNotChangeTheRun) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  for (const OnlineSolver& solver : kSolvers) {
    Weights often(owned.problem.weight_shape()), once = often;
    OnlineOptions options = passes(3);
    options.report_every = 0.5;
    const Summary summary = solver.run(objective, options, often, {});
    EXPECT_EQ(summary.history.size(), 6u) << solver.name;
    options.report_every = 100;
    EXPECT_EQ(solver.run(objective, options, once, {}).history.size(), 1u) << solver.name;
    EXPECT_EQ(distance(often, once), 0) << solver.name;
  }
}

TEST(OnlineSolvers, PassesAreNeverExceeded) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  for (const OnlineSolver& solver : kSolvers) {
    for (const double count : {0.0, 0.5, 1.0, 2.5}) {
      Weights theta = random_weights(3, owned.problem.weight_shape());
      const Weights start = theta;
      const Summary summary = solver.run(objective, passes(count), theta, {});
      EXPECT_EQ(summary.status, Status::out_of_passes) << solver.name;
      EXPECT_EQ(summary.history.back().passes, count) << solver.name;
      EXPECT_EQ(distance(theta, start) == 0, count == 0) << solver.name;
    }
  }
}

// Ctrl-C while the given number of examples has been scored.
class InterruptedProblem final : public ForwardingProblem {
 public:
  InterruptedProblem(const Problem& inner, std::size_t after) : ForwardingProblem(inner), left_(after) {}

  using ForwardingProblem::score;
  void score(std::size_t i, const Weights& w, float scale, Out s, Workspace& ws) const override {
    count();
    inner_.score(i, w, scale, s, ws);
  }
  void score(std::size_t i, const Weights& w, double scale, DoubleOut s, Workspace& ws) const override {
    count();
    inner_.score(i, w, scale, s, ws);
  }

  mutable std::atomic<bool> stop = false;

 private:
  void count() const {
    if (left_ > 0 && --left_ == 0) stop = true;
  }
  mutable std::size_t left_;
};

TEST(OnlineSolvers, StopAfterTheExampleAtHand) {
  const OwnedProblem owned(6);
  for (const OnlineSolver& solver : kSolvers) {
    for (const std::size_t after : {1u, 17u, 40u}) {
      const InterruptedProblem problem(owned.problem, after);
      const Objective objective{problem, Loss::svm(), 0.3};
      OnlineOptions options = passes(10);
      options.report_every = 100;
      options.stopping.stop = &problem.stop;
      Weights theta(problem.weight_shape());
      const Summary summary = solver.run(objective, options, theta, {});
      EXPECT_EQ(summary.status, Status::stopped) << solver.name;
      ASSERT_EQ(summary.history.size(), 1u) << solver.name;
      EXPECT_EQ(summary.history[0].passes, static_cast<double>(after) / 30) << solver.name;
      EXPECT_EQ(summary.history[0].primal, evaluate_primal(objective, theta)) << solver.name;
    }
  }
}

TEST(OnlineSolvers, InterruptedBeforeTheStart) {
  const OwnedProblem owned(6);
  const std::atomic<bool> stop = true;
  for (const OnlineSolver& solver : kSolvers) {
    OnlineOptions options = passes(10);
    options.stopping.stop = &stop;
    Weights theta = random_weights(3, owned.problem.weight_shape());
    const Weights start = theta;
    const Summary summary = solver.run({owned.problem, Loss::svm(), 1}, options, theta, {});
    EXPECT_EQ(summary.status, Status::stopped) << solver.name;
    ASSERT_EQ(summary.history.size(), 1u) << solver.name;
    EXPECT_EQ(summary.history[0].passes, 0) << solver.name;
    EXPECT_EQ(distance(theta, start), 0) << solver.name;
  }
}

TEST(OnlineSolvers, ObserverTimeAndGapStop) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 1};
  for (const OnlineSolver& solver : kSolvers) {
    Weights theta(owned.problem.weight_shape());
    Summary summary = solver.run(objective, passes(100), theta, [](const Progress& now, const Weights&) {
      return now.epoch == 3 ? Control::stop : Control::go_on;
    });
    EXPECT_EQ(summary.status, Status::stopped) << solver.name;
    EXPECT_EQ(summary.history.back().passes, 3) << solver.name;

    OnlineOptions options = passes(10);
    options.stopping.seconds = 0;
    summary = solver.run(objective, options, theta, {});
    EXPECT_EQ(summary.status, Status::out_of_time) << solver.name;
    EXPECT_EQ(summary.history.back().passes, 0) << solver.name;

    options = passes(10);
    options.stopping.gap = 1;  // any weights are within that of the optimum
    summary = solver.run(objective, options, theta, {});
    EXPECT_EQ(summary.status, Status::converged) << solver.name;
    EXPECT_EQ(summary.history.back().passes, 1) << solver.name;
  }
}

}  // namespace
}  // namespace espalier::online_test
