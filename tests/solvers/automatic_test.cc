#include "solvers/automatic.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "solvers/training.h"
#include "support/random_problem.h"

namespace espalier::automatic_test {
namespace {

using test_support::OwnedProblem;
using test_support::RandomDataOptions;

// All examples share a few dense attributes: at a small l2 block solvers crawl.
const RandomDataOptions kDense{.examples = 60, .attributes = 3, .labels = 3, .density = 1, .noise = 0.3};
// The same with more weights than L-BFGS is expected to learn at once.
const RandomDataOptions kWide{.examples = 40, .attributes = 800, .labels = 3, .density = 1, .noise = 0.3};

// The same with so many examples that they get in each other's way.
const RandomDataOptions kCrowded{
    .examples = 1500, .attributes = 700, .labels = 3, .density = 0.2, .noise = 0.3};

// An l2 at which eg begins, and crawls.
constexpr double kSmall = 2e-3;

struct Outcome {
  Summary summary;
  Training training;
  std::vector<std::string> notices;
};

Outcome solve(const Objective& objective, double gap = 1e-3, double passes = 20000) {
  Outcome outcome;
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = passes;
  settings.notice = [&](const std::string& text) { outcome.notices.push_back(text); };
  outcome.summary = find_solver("auto", objective.loss)
                        .run(objective, settings, outcome.training,
                             [](const auto&, const auto&) { return Control::go_on; });
  return outcome;
}

TEST(Automatic, StaysWithEgWhereThatIsHealthy) {
  const OwnedProblem owned(1);
  const Objective objective{owned.problem, Loss::crf(), 1};
  const Outcome outcome = solve(objective);
  Training eg;
  SolverSettings settings;
  const Summary alone = find_solver("eg", objective.loss).run(objective, settings, eg, {});
  ASSERT_EQ(outcome.summary.status, Status::converged);
  EXPECT_TRUE(outcome.notices.empty());
  EXPECT_EQ(outcome.summary.history.back().passes, alone.history.back().passes);
  EXPECT_TRUE(std::ranges::equal(outcome.training.theta.values(), eg.theta.values()));
}

TEST(Automatic, ChangesToLbfgsWhereEgIsSlow) {
  const OwnedProblem owned(3, kCrowded);
  const Objective objective{owned.problem, Loss::crf(), kSmall};
  const Outcome outcome = solve(objective, 1e-4);
  EXPECT_EQ(outcome.summary.status, Status::converged) << outcome.summary.message;
  ASSERT_FALSE(outcome.notices.empty());
  EXPECT_EQ(outcome.notices.front().rfind("from eg to lbfgs after ", 0), 0u) << outcome.notices.front();
  EXPECT_NE(outcome.summary.message.find("lbfgs"), std::string::npos) << outcome.summary.message;
}

// Weights that ran far ahead are a worse start than none: what is left then takes no longer than all of it.
TEST(Automatic, LbfgsStartsFromNothingWhereEgGotNowhere) {
  const OwnedProblem owned(3, kCrowded);
  const Objective objective{owned.problem, Loss::crf(), kSmall / 4};
  const Outcome outcome = solve(objective);
  ASSERT_EQ(outcome.notices.size(), 1u);
  const std::string& notice = outcome.notices.front();
  const std::string after = "from eg to lbfgs after ";
  ASSERT_EQ(notice.rfind(after, 0), 0u) << notice;
  const double before = std::stod(notice.substr(after.size()));
  Training weights;
  SolverSettings settings;
  const Summary alone = find_solver("lbfgs", objective.loss).run(objective, settings, weights, {});
  ASSERT_EQ(alone.status, Status::converged);
  EXPECT_LE(outcome.summary.history.back().passes - before, alone.history.back().passes + 0.1);
}

// The next l2 of a path is eg's again, whoever came to the end of this one.
TEST(Automatic, LeavesDualsForEgWhereLbfgsEnds) {
  const OwnedProblem owned(3, kWide);
  const Objective objective{owned.problem, Loss::crf(), kSmall};
  Outcome outcome = solve(objective, 1e-4);
  ASSERT_EQ(outcome.summary.status, Status::converged);
  ASSERT_TRUE(outcome.training.dual.has_value());
  // They are those of the weights: as good as what was certified.
  const double dual = evaluate_dual(objective, *outcome.training.dual).value;
  const Progress& last = outcome.summary.history.back();
  EXPECT_LE(last.primal - dual, 10 * last.gap());
}

// Where each block alone would drive the weights far beyond what they will be, eg does not even begin.
TEST(Automatic, BeginsWithLbfgsWhereL2IsNextToNothing) {
  const OwnedProblem owned(3, kWide);
  const Objective objective{owned.problem, Loss::crf(), kSmall / 1000};
  const Outcome outcome = solve(objective);
  Training weights;
  SolverSettings settings;
  const Summary alone = find_solver("lbfgs", objective.loss).run(objective, settings, weights, {});
  EXPECT_EQ(outcome.summary.status, Status::converged) << outcome.summary.message;
  EXPECT_TRUE(outcome.notices.empty());
  EXPECT_EQ(outcome.summary.history.back().passes, alone.history.back().passes);
}

TEST(Automatic, BeginsWithLbfgsWhereThereAreFewWeights) {
  const OwnedProblem owned(3, kDense);
  const Objective objective{owned.problem, Loss::crf(), 1e-6};
  const Outcome outcome = solve(objective, 1e-6);
  EXPECT_EQ(outcome.summary.status, Status::converged) << outcome.summary.message;
  EXPECT_FALSE(outcome.training.dual.has_value());
  EXPECT_LE(outcome.summary.history.back().passes, 100);
}

TEST(Automatic, ChangesToCuttingPlanesWhereBlocksAreSlow) {
  const OwnedProblem owned(3, kDense);
  const Objective objective{owned.problem, Loss::svm(), 0.02};
  const Outcome outcome = solve(objective, 1e-6);
  EXPECT_EQ(outcome.summary.status, Status::converged) << outcome.summary.message;
  ASSERT_FALSE(outcome.notices.empty());
  EXPECT_EQ(outcome.notices.front().rfind("from smo to cutting-plane after ", 0), 0u)
      << outcome.notices.front();
}

// Whoever found the weights and whoever the bound: the last report is the certificate of the weights that are
// left, no dual is above the optimum, and the bound never falls.
RC_GTEST_PROP(Automatic, LeavesTheBestWeightsWithTheBestBound, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const OwnedProblem owned(seed, *rc::gen::elementOf(std::vector<RandomDataOptions>{kDense, {}}));
  const Loss loss = *rc::gen::elementOf(std::vector<Loss>{Loss::crf(), Loss::softmax_margin(), Loss::svm()});
  const double l2 = *rc::gen::elementOf(std::vector<double>{1e-4, 1e-2, 1, 100});
  const Objective objective{owned.problem, loss, l2};
  const Outcome outcome = solve(objective, 1e-4, *rc::gen::elementOf(std::vector<double>{3, 40, 400}));
  const std::vector<Progress>& history = outcome.summary.history;
  RC_ASSERT(!history.empty());
  const double primal = evaluate_primal(objective, outcome.training.theta);
  RC_ASSERT(std::abs(primal - history.back().primal) <= 1e-12 * primal);
  for (std::size_t k = 0; k < history.size(); ++k) {
    // Reports on the way may be of weights that are not rounded yet.
    RC_ASSERT(history.back().primal <= history[k].primal * (1 + 1e-6));
    RC_ASSERT(history[k].dual <= primal * (1 + 1e-12));
    RC_ASSERT(k == 0 || history[k].dual >= history[k - 1].dual);
    RC_ASSERT(k == 0 || history[k].passes >= history[k - 1].passes);
  }
}

TEST(Automatic, TheSameSeedGivesTheSameBits) {
  const OwnedProblem owned(3, kDense);
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    const Objective objective{owned.problem, loss, 1e-4};
    const Outcome first = solve(objective), second = solve(objective);
    EXPECT_EQ(first.notices, second.notices);
    EXPECT_EQ(first.summary.message, second.summary.message);
    EXPECT_TRUE(std::ranges::equal(first.training.theta.values(), second.training.theta.values()));
  }
}

TEST(Automatic, EndsWhereItIsInterrupted) {
  const OwnedProblem owned(3, kWide);
  const Objective objective{owned.problem, Loss::crf(), kSmall};
  std::atomic<bool> stop = false;
  Training training;
  SolverSettings settings;
  settings.stopping.gap = 1e-9;
  settings.stopping.stop = &stop;
  bool changed = false;
  settings.notice = [&](const std::string&) { changed = true; };
  int after = 0;
  const Summary summary = find_solver("auto", objective.loss)
                              .run(objective, settings, training, [&](const Progress&, const Weights&) {
                                if (changed && ++after == 3) stop = true;
                                return Control::go_on;
                              });
  EXPECT_TRUE(changed);
  EXPECT_EQ(summary.status, Status::stopped);
  EXPECT_NEAR(evaluate_primal(objective, training.theta), summary.history.back().primal,
              1e-9 * summary.history.back().primal);
}

// What a run that was cut short leaves is what the next one continues from.
TEST(Automatic, GoesOnWithTheSolverOfTheWeightsAtHand) {
  const OwnedProblem owned(3, kDense);
  const Objective objective{owned.problem, Loss::crf(), 1e-6};
  Outcome outcome = solve(objective, 1e-6);
  ASSERT_FALSE(outcome.training.dual.has_value());
  SolverSettings settings;
  settings.stopping.gap = 1e-6;
  const Summary again = find_solver("auto", objective.loss).run(objective, settings, outcome.training, {});
  EXPECT_EQ(again.status, Status::converged);
  EXPECT_LE(again.history.back().passes, 5);
}

TEST(Automatic, IsThePerceptronForItsLoss) {
  EXPECT_EQ(find_solver("auto", Loss::perceptron()).name, "perceptron");
}

}  // namespace
}  // namespace espalier::automatic_test
