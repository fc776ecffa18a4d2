#include "solvers/stoppable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <vector>

#include "learning/sweep.h"
#include "solvers/training.h"
#include "support/interrupting_problem.h"
#include "support/problems_of_all_kinds.h"

namespace espalier::stoppable_test {
namespace {

using test_support::InterruptingProblem;
using test_support::ProblemsOfAllKinds;

constexpr double kForEver = std::numeric_limits<double>::infinity();

TEST(Deadline, EndsSweepsOfItsThreadOnceItIsOver) {
  std::atomic<bool> stop = false;
  Sweep before;
  {
    Deadline deadline(&stop, kForEver, 0);
    Sweep sweep(2);
    std::atomic<std::size_t> seen = 0;
    const auto value = [&](std::size_t i, Workspace&) {
      if (i == 500) stop = true;
      ++seen;
      return 1.0;
    };
    EXPECT_EQ(Sweep().sum(100, value), 100);
    EXPECT_FALSE(deadline.over());
    EXPECT_THROW(sweep.sum(100'000, value), SweepGivenUp);
    EXPECT_LT(seen, 100'000u);
    EXPECT_TRUE(deadline.over());
    EXPECT_EQ(before.sum(1000, value), 1000);  // nobody told it
    deadline.enable(false);
    EXPECT_EQ(sweep.sum(1000, value), 1000);
  }
  EXPECT_EQ(Sweep().sum(1000, [](std::size_t, Workspace&) { return 1.0; }), 1000);
}

TEST(Deadline, AnInnerOneHasNoEffect) {
  std::atomic<bool> stop = true;
  Deadline outer(nullptr, kForEver, 0);
  Deadline inner(&stop, kForEver, 0);
  EXPECT_EQ(Deadline::current(), &outer);
}

TEST(Deadline, TimeCountsWhileTheClockRuns) {
  const auto wait = [] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  Deadline deadline(nullptr, 1e-3, 0);
  deadline.pause();  // nothing was used up yet, or next to nothing
  wait();
  EXPECT_GT(deadline.seconds_paused(), 0);
  EXPECT_FALSE(deadline.over());
  deadline.resume();
  wait();
  EXPECT_TRUE(deadline.over());
  deadline.pause();  // what is certified now is what there was time for
  EXPECT_TRUE(deadline.over());
}

// A grace of nothing: every certificate takes too long.
TEST(Stoppable, EverySolverEndsWithTheWeightsOfItsLastReport) {
  static const ProblemsOfAllKinds owned(8);
  int fell_back = 0;
  for (const SolverEntry& entry : solver_table()) {
    for (const Loss& loss : {Loss::softmax_margin(), Loss::svm()}) {
      if (!is_for(entry, loss)) continue;
      for (const auto& named : owned.all()) {
        if (entry.needs_cliques && !named.problem.factored()) continue;
        SCOPED_TRACE(entry.name + " " + loss.name() + " " + named.name);
        const InterruptingProblem problem(named.problem, 400);
        SolverSettings settings;
        settings.stopping.stop = &problem.stop;
        settings.stopping.gap = 0;
        settings.stopping.passes = 1e6;
        settings.report_every = 1;
        Training training;
        std::vector<Weights> reported;
        std::vector<Progress> history;
        Summary summary;
        try {
          summary = stoppable(entry, 0).run({problem, loss, Regularizer(1)}, settings, training,
                                            [&](const Progress& progress, const Weights& theta) {
                                              reported.push_back(theta);
                                              history.push_back(progress);
                                              return Control::go_on;
                                            });
        } catch (const NothingCertified& nothing) {
          EXPECT_EQ(nothing.status, Status::stopped);
          EXPECT_TRUE(reported.empty());
          continue;
        }
        ASSERT_FALSE(summary.history.empty());
        EXPECT_EQ(summary.history.size(), reported.size());
        if (summary.status != Status::stopped) continue;  // at its optimum before
        ++fell_back;
        EXPECT_TRUE(std::ranges::equal(training.theta.values(), reported.back().values()));
        EXPECT_EQ(summary.history.back().primal, history.back().primal);
        EXPECT_TRUE(summary.message.starts_with("stopped: ")) << summary.message;
      }
    }
  }
  EXPECT_GT(fell_back, 20);
}

}  // namespace
}  // namespace espalier::stoppable_test
