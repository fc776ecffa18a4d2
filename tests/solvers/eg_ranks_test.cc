// Several ranks, each with a share of the examples, as threads of this process.

#include "solvers/eg_ranks.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "fleet/threads.h"
#include "learning/rank_problem.h"
#include "solvers/training.h"
#include "support/error_message.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier::eg_ranks_test {
namespace {

using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;

struct Outcome {
  Summary summary;
  Weights theta;
  std::vector<Communicator::Round> rounds;
};

SolverSettings settings_to(double gap) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = 2000;
  return settings;
}

// What each rank ends with.
std::vector<Outcome> train_on_ranks(const Problem& whole, const Loss& loss, const Regularizer& regularizer,
                                    std::size_t ranks, const SolverSettings& settings,
                                    const std::string& solver = "auto") {
  std::vector<Outcome> outcomes(ranks);
  run_ranks(ranks, [&](Communicator& fleet) {
    Outcome& own = outcomes[fleet.rank()];
    fleet.on_round = [&](const Communicator::Round& round) { own.rounds.push_back(round); };
    const RankProblem problem = RankProblem::share_of(whole, fleet);
    Training training;
    own.summary =
        find_solver_of_ranks(solver, loss).run({problem, loss, regularizer}, settings, training, {});
    own.theta = training.theta;
  });
  return outcomes;
}

bool same_bits(const Weights& a, const Weights& b) { return std::ranges::equal(a.values(), b.values()); }

// All ranks end with the same weights and the same certificate, and one process that knows all examples
// agrees with that.
void expect_certified(const Problem& whole, const Loss& loss, const Regularizer& regularizer, double gap,
                      const std::vector<Outcome>& outcomes) {
  const Progress& last = outcomes.front().summary.history.back();
  EXPECT_EQ(outcomes.front().summary.status, Status::converged) << outcomes.front().summary.message;
  EXPECT_LE(last.relative_gap(), gap);
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(same_bits(outcome.theta, outcomes.front().theta));
    EXPECT_EQ(outcome.summary.history.back().primal, last.primal);
    EXPECT_EQ(outcome.summary.history.back().dual, last.dual);
    EXPECT_EQ(outcome.summary.history.back().passes, last.passes);
  }
  const Objective objective{whole, loss, regularizer};
  EXPECT_NEAR(evaluate_primal(objective, outcomes.front().theta), last.primal, 1e-9 * last.primal);
  // Any dual bounds any primal: what one process finds has to be above what the ranks say is below.
  Training alone;
  find_solver("eg", loss).run(objective, settings_to(gap / 10), alone, {});
  EXPECT_LE(last.dual, evaluate_primal(objective, alone.theta) * (1 + 1e-9));
}

const std::vector<Loss>& losses() {
  static const std::vector<Loss> all{Loss::crf(), Loss::svm(), Loss::softmax_margin(), Loss{2, 0.5}};
  return all;
}

TEST(EgRanks, ClassesOfEveryLoss) {
  const OwnedProblem owned(5);
  for (const Loss& loss : losses()) {
    for (const std::size_t ranks : {1, 2, 4, 7}) {
      SCOPED_TRACE(loss.name() + " on " + std::to_string(ranks));
      const double gap = loss.smooth() ? 1e-4 : 1e-2;
      expect_certified(owned.problem, loss, 0.5, gap,
                       train_on_ranks(owned.problem, loss, 0.5, ranks, settings_to(gap)));
    }
  }
}

TEST(EgRanks, ChainsOfEveryLoss) {
  test_support::RandomChainOptions options;
  options.sequences = 40;
  const OwnedChainProblem owned(3, options);
  for (const Loss& loss : losses()) {
    for (const std::size_t ranks : {2, 7}) {
      SCOPED_TRACE(loss.name() + " on " + std::to_string(ranks));
      const double gap = loss.smooth() ? 1e-4 : 2e-2;
      expect_certified(owned.problem, loss, 1, gap,
                       train_on_ranks(owned.problem, loss, 1, ranks, settings_to(gap)));
    }
  }
}

TEST(EgRanks, Trees) {
  const OwnedDependencyProblem owned(4);
  for (const std::size_t ranks : {2, 4}) {
    SCOPED_TRACE(ranks);
    expect_certified(owned.problem, Loss::crf(), 0.5, 1e-4,
                     train_on_ranks(owned.problem, Loss::crf(), 0.5, ranks, settings_to(1e-4)));
  }
}

// Ranks without an example of their own wait for the others, and have the weights all the same.
TEST(EgRanks, MoreThanExamples) {
  test_support::RandomDataOptions options;
  options.examples = 3;
  const OwnedProblem owned(6, options);
  expect_certified(owned.problem, Loss::crf(), 0.5, 1e-4,
                   train_on_ranks(owned.problem, Loss::crf(), 0.5, 8, settings_to(1e-4)));
}

TEST(EgRanks, ElasticNet) {
  const OwnedProblem owned(7);
  const Regularizer regularizer(0.5, {0.2});
  expect_certified(owned.problem, Loss::crf(), regularizer, 1e-4,
                   train_on_ranks(owned.problem, Loss::crf(), regularizer, 4, settings_to(1e-4)));
}

TEST(EgRanks, BatchSolversWorkToo) {
  const OwnedProblem owned(8);
  for (const char* solver : {"lbfgs", "eg-batch", "bmrm"}) {
    SCOPED_TRACE(solver);
    expect_certified(owned.problem, Loss::crf(), 0.5, 1e-3,
                     train_on_ranks(owned.problem, Loss::crf(), 0.5, 3, settings_to(1e-3), solver));
  }
}

// What rounds are said to gain is what the dual gains, and none of them loses: with several threads in a
// rank, whose visits do not see each other's changes either, and with l1, too.
TEST(EgRanks, RoundsKnowWhatTheyGain) {
  test_support::RandomChainOptions of_data;  // examples that are worth a thread each
  of_data.sequences = 60;
  of_data.longest = 20;
  of_data.labels = 8;
  of_data.attributes = 60;
  of_data.density = 0.1;
  const OwnedChainProblem owned(9, of_data);
  for (const std::size_t threads : {1, 2}) {
    for (const double l1 : {0.0, 0.1}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, l1 " + std::to_string(l1));
      SolverSettings settings = settings_to(1e-3);
      settings.threads = threads;
      settings.eg.anneal = EgAnneal::none;
      settings.report_every = 1;
      const std::vector<Outcome> outcomes =
          train_on_ranks(owned.problem, Loss::crf(), Regularizer(0.5, {l1}), 3, settings, "eg");
      const Outcome& first = outcomes.front();
      double gained = 0, since = 0;
      const Progress& start = first.summary.history.front();
      for (const Communicator::Round& round : first.rounds) {
        EXPECT_GE(round.gain, 0);
        EXPECT_GE(round.sigma, 1);
        EXPECT_LE(round.sigma, 3);
        EXPECT_LE(round.rho, 3 + 1e-3);
        // A round ends with each report.
        if (round.passes > start.passes) gained += round.gain;
        since = round.passes;
      }
      EXPECT_GT(since, start.passes);
      const double expected = first.summary.history.back().dual - start.dual;
      EXPECT_NEAR(gained, expected, 1e-3 * expected + 1e-5 * start.primal);
    }
  }
}

// What the examples of one rank alone have is not exchanged before a certificate, and what several have is
// exchanged as often as their examples change it.
TEST(EgRanks, RoundsSendWhatSeveralRanksHave) {
  const auto bytes_of_rounds = [](std::size_t often, std::size_t seldom) {
    // Examples of the first half have even attributes, and others odd ones; all have the first few, and some
    // examples of both halves one of the second few.
    test_support::MulticlassData data;
    constexpr std::size_t kExamples = 512, kAttributes = 4000;
    data.attributes = kAttributes;
    data.labels = 16;
    for (std::size_t i = 0; i < kExamples; ++i) {
      for (std::uint32_t a = 0; a < often; ++a) data.rows.add(a, 1);
      if (i % 64 < seldom) data.rows.add(static_cast<std::uint32_t>(20 + i % 64), 1);
      for (std::size_t k = 0; k < 5; ++k)
        data.rows.add(static_cast<std::uint32_t>(100 + 2 * (i * 5 % 1900 + k) + (i < kExamples / 2 ? 0 : 1)),
                      1);
      data.rows.finish_row();
      data.gold.push_back(static_cast<std::uint32_t>(i % data.labels));
    }
    const OwnedProblem owned(std::move(data));
    std::uint64_t bytes = 0;
    run_ranks(2, [&](Communicator& fleet) {
      const RankProblem problem = RankProblem::share_of(owned.problem, fleet);
      std::uint64_t before = 0;
      SolverSettings settings = settings_to(0);
      settings.stopping.passes = 5;
      settings.eg.anneal = EgAnneal::none;
      settings.report_every = 100;
      fleet.on_round = [&](const Communicator::Round&) {  // of the second pass and those that follow
        if (fleet.rank() == 0 && before > 0) bytes += fleet.traffic().bytes - before;
        before = fleet.traffic().bytes;
      };
      Training training;
      find_solver_of_ranks("eg", Loss::crf()).run({problem, Loss::crf(), 1}, settings, training, {});
    });
    return static_cast<double>(bytes);
  };
  constexpr double kOfRow = 16 * sizeof(float), kMeetings = 32, kPasses = 4;  // at most
  const double none = bytes_of_rounds(0, 0), often = bytes_of_rounds(10, 0), seldom = bytes_of_rounds(0, 10);
  EXPECT_LT(none, kPasses * kMeetings * 100);  // what ranks tell of themselves
  // A row that each rank changes 256 times in a pass is exchanged 16 times or more, one that it changes 4
  // times once, or twice where the pass ends with a report.
  EXPECT_GT(often, none + kPasses * 16 * 10 * kOfRow / 2);
  EXPECT_LT(often, none + kPasses * kMeetings * 10 * kOfRow + kPasses * kMeetings * 8);
  EXPECT_GT(seldom, none + 10 * kOfRow);
  EXPECT_LT(seldom, none + 2 * kPasses * 10 * kOfRow + kPasses * kMeetings * 8);
}

// Steps that go too far make the dual fall, and the round is taken back half way until it does not: what it
// gains is known all the same.
TEST(EgRanks, RoundsThatLoseAreTakenBack) {
  test_support::RandomChainOptions of_data;
  of_data.sequences = 40;
  const OwnedChainProblem owned(12, of_data);
  SolverSettings settings = settings_to(1e-9);
  settings.stopping.passes = 20;
  settings.eg.anneal = EgAnneal::none;
  settings.report_every = 5;
  int halves = 0;
  double gained_so = 0;
  for (const std::size_t ranks : {2, 3}) {
    for (const double eta : {0.05, 0.1, 0.2, 0.4}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(eta));
      settings.eg.eta = eta;
      const std::vector<Outcome> outcomes =
          train_on_ranks(owned.problem, Loss::crf(), 0.1, ranks, settings, "eg");
      const Outcome& first = outcomes.front();
      const Progress &start = first.summary.history.front(), &last = first.summary.history.back();
      double gained = 0;
      for (const Communicator::Round& round : first.rounds) {
        EXPECT_GE(round.gain, 0);
        halves += round.halves;
        if (round.halves > 0) gained_so += round.gain;
        if (round.passes > start.passes) gained += round.gain;
      }
      EXPECT_NEAR(gained, last.dual - start.dual, 1e-3 * gained + 1e-5 * start.primal);
      for (const Outcome& outcome : outcomes) EXPECT_TRUE(same_bits(outcome.theta, first.theta));
    }
  }
  EXPECT_GT(halves, 0);
  EXPECT_GT(gained_so, 0);
}

// The same seed gives the same bits, however the threads that stand for ranks take turns.
TEST(EgRanks, AreReproducible) {
  const OwnedProblem owned(10);
  const auto run = [&] {
    return train_on_ranks(owned.problem, Loss::crf(), 0.5, 3, settings_to(1e-3)).front().theta;
  };
  EXPECT_TRUE(same_bits(run(), run()));
}

TEST(EgRanks, OtherSolversAreRefused) {
  EXPECT_EQ(testing::error_message([] { find_solver_of_ranks("frank-wolfe", Loss::svm()); }),
            "solver frank-wolfe: not on several ranks; expected one of auto, eg, eg-batch, bmrm");
}

TEST(RankProblem, SharesAreConsecutiveAndComplete) {
  const OwnedProblem owned(11);
  std::mutex mutex;
  std::vector<std::size_t> firsts(4), sizes(4);
  run_ranks(4, [&](Communicator& fleet) {
    const RankProblem share = RankProblem::share_of(owned.problem, fleet);
    const std::lock_guard lock(mutex);
    firsts[fleet.rank()] = share.first();
    sizes[fleet.rank()] = share.size();
    EXPECT_EQ(share.total_size(), owned.problem.size());
  });
  std::size_t next = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(firsts[r], next);
    next += sizes[r];
  }
  EXPECT_EQ(next, owned.problem.size());
}

}  // namespace
}  // namespace espalier::eg_ranks_test
