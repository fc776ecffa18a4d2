#include "espalier/selection/cccp.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "selection/cccp_run.h"
#include "solvers/training.h"
#include "support/partial_chain.h"

namespace espalier::cccp_test {
namespace {

using test_support::OwnedPartialChain;
using test_support::RandomChainOptions;

RandomChainOptions some_sequences(bool constrained = false) {
  RandomChainOptions options;
  options.sequences = 40;
  options.longest = 8;
  options.labels = 4;
  options.constrained = constrained;
  return options;
}

SolverSettings to_the_gap(double gap) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  return settings;
}

struct Case {
  std::string solver;
  Loss loss;
  double gap;
};

class CccpTest : public ::testing::TestWithParam<Case> {};

TEST_P(CccpTest, TheTrueObjectiveGoesDown) {
  const Case& run = GetParam();
  for (const bool constrained : {false, true}) {
    OwnedPartialChain owned(test_support::random_chain_data(11, some_sequences(constrained)), 0.5, 12);
    const Objective objective{owned.problem, run.loss, 0.5};
    Training training;
    const CccpOptions options{1e-4, 15};
    std::vector<int> reported;
    std::vector<double> finished;
    double passes = 0;
    const Cccp loop = cccp(
        objective, owned.latent, options, find_solver(run.solver, run.loss), to_the_gap(run.gap), training,
        [&](int round, const Progress& progress, const Weights&) {
          EXPECT_GE(progress.passes, passes) << "they run on";
          passes = progress.passes;
          reported.push_back(round);
          return Control::go_on;
        },
        [&](const CccpRound& round) { finished.push_back(round.objective); });
    ASSERT_GE(loop.rounds.size(), 3u);
    EXPECT_EQ(reported.front(), 1);
    EXPECT_EQ(reported.back(), static_cast<int>(loop.rounds.size()));
    EXPECT_EQ(finished.size(), loop.rounds.size());
    for (std::size_t r = 0; r < loop.rounds.size(); ++r) {
      const CccpRound& round = loop.rounds[r];
      EXPECT_EQ(round.round, static_cast<int>(r) + 1);
      EXPECT_EQ(round.status, Status::converged);
      EXPECT_LE(round.certificate.relative_gap(), run.gap);
      EXPECT_EQ(finished[r], round.objective);
      if (r > 0) {
        EXPECT_LE(round.objective, loop.rounds[r - 1].objective + round.certificate.gap());
      }
    }
    EXPECT_LT(loop.rounds.back().objective, 0.97 * loop.rounds.front().objective);
    // The certificate is that of the problem as the loop leaves it, at the weights that it leaves.
    Workspace ws;
    const CccpRound& last = loop.rounds.back();
    EXPECT_EQ(evaluate_primal(objective, training.theta), last.certificate.primal);
    EXPECT_EQ(last.certificate.passes, passes);
    EXPECT_EQ(last.objective, last.certificate.primal - owned.latent.surplus(training.theta, run.loss));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CccpTest,
                         ::testing::Values(Case{"eg", Loss::crf(), 1e-5},
                                           Case{"eg", Loss::softmax_margin(), 1e-5},
                                           Case{"eg", Loss{3, 1}, 1e-4}, Case{"lbfgs", Loss::crf(), 1e-5},
                                           Case{"lbfgs", Loss{0.5, 0}, 1e-5}),
                         [](const auto& info) { return info.param.solver + std::to_string(info.index); });

// Yu & Joachims: the best completion, then a max-margin problem. Few rounds change it at all.
TEST(Cccp, AMaximumGoesDownToo) {
  OwnedPartialChain owned(test_support::random_chain_data(21, some_sequences()), 0.5, 22);
  const Objective objective{owned.problem, Loss::svm(), 0.5};
  Training training;
  const Cccp loop =
      cccp(objective, owned.latent, {0, 10}, find_solver("eg", Loss::svm()), to_the_gap(0.01), training);
  ASSERT_GE(loop.rounds.size(), 2u);
  for (std::size_t r = 1; r < loop.rounds.size(); ++r) {
    EXPECT_LE(loop.rounds[r].objective, loop.rounds[r - 1].objective + loop.rounds[r].certificate.gap());
  }
  EXPECT_LT(loop.rounds.back().objective, loop.rounds.front().objective);
}

TEST(Cccp, SolversAgree) {
  std::vector<double> found;
  for (const char* solver : {"eg", "lbfgs"}) {
    OwnedPartialChain owned(test_support::random_chain_data(31, some_sequences()), 0.3, 32);
    Training training;
    const Cccp loop = cccp({owned.problem, Loss::crf(), 1.0}, owned.latent, {1e-7, 100},
                           find_solver(solver, Loss::crf()), to_the_gap(1e-7), training);
    EXPECT_EQ(loop.status, Status::converged) << loop.message;
    found.push_back(loop.rounds.back().objective);
  }
  EXPECT_NEAR(found[0], found[1], 1e-4 * found[0]);
}

TEST(Cccp, StopsWhereItIsTold) {
  OwnedPartialChain owned(test_support::random_chain_data(41, some_sequences()), 0.5, 42);
  const Loss loss = Loss::crf();
  const Objective objective{owned.problem, loss, 0.5};
  const SolverEntry& eg = find_solver("eg", loss);
  Training training;
  const Cccp few = cccp(objective, owned.latent, {0, 2}, eg, to_the_gap(1e-4), training);
  EXPECT_EQ(few.status, Status::out_of_rounds);
  EXPECT_EQ(few.rounds.size(), 2u);
  EXPECT_TRUE(few.message.starts_with("out of rounds: objective ")) << few.message;
  EXPECT_NE(few.message.find(" after 2 rounds; the last one has relative gap "), std::string::npos);
  // From where it was, with weights: the next round is better than the first one.
  const Cccp more = cccp(objective, owned.latent, {1e-3, 20}, eg, to_the_gap(1e-4), training);
  EXPECT_EQ(more.status, Status::converged);
  EXPECT_LT(more.rounds.front().objective, few.rounds.back().objective);
  const auto& rounds = more.rounds;
  ASSERT_GE(rounds.size(), 2u);
  for (std::size_t r = 1; r < rounds.size(); ++r) {
    const bool little = rounds[r - 1].objective - rounds[r].objective <= 1e-3 * rounds[r - 1].objective;
    EXPECT_EQ(little, r + 1 == rounds.size()) << r;
  }
}

TEST(Cccp, PassesAreForAllRoundsTogether) {
  OwnedPartialChain owned(test_support::random_chain_data(51, some_sequences()), 0.5, 52);
  Training training;
  SolverSettings settings = to_the_gap(1e-5);
  settings.stopping.passes = 40;
  const Cccp loop = cccp({owned.problem, Loss::crf(), 0.1}, owned.latent, {0, 1000},
                         find_solver("eg", Loss::crf()), settings, training);
  EXPECT_EQ(loop.status, Status::out_of_passes);
  EXPECT_GE(loop.rounds.back().certificate.passes, 40);
  EXPECT_LE(loop.rounds.back().certificate.passes, 42);
}

TEST(Cccp, AStopEndsTheRoundAtHand) {
  OwnedPartialChain owned(test_support::random_chain_data(61, some_sequences()), 0.5, 62);
  const Objective objective{owned.problem, Loss::crf(), 0.5};
  std::atomic<bool> stop{false};
  SolverSettings settings = to_the_gap(1e-6);
  settings.stopping.stop = &stop;
  settings.report_every = 1;
  Training training;
  const Cccp loop = cccp(objective, owned.latent, {0, 20}, find_solver("eg", Loss::crf()), settings, training,
                         [&](int round, const Progress&, const Weights&) {
                           if (round == 2) stop = true;
                           return Control::go_on;
                         });
  EXPECT_EQ(loop.status, Status::stopped);
  ASSERT_EQ(loop.rounds.size(), 2u);
  Workspace ws;
  EXPECT_EQ(evaluate_primal(objective, training.theta), loop.rounds.back().certificate.primal);
}

}  // namespace
}  // namespace espalier::cccp_test
