#include "espalier/solvers/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>

#include "learning/certify.h"
#include "support/error_message.h"
#include "support/random_problem.h"

namespace espalier::run_test {
namespace {

// Inside of a test, Run is that of the test itself.
using SolverRun = Run;

// Of any problem: what matters are its sizes.
const Objective& objective() {
  static const test_support::OwnedProblem owned(1);
  static const Objective any{owned.problem, Loss::svm(), 1};
  return any;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void sleep_for_milliseconds(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// A run of one report.
Summary report_once(const StoppingRule& rule, const Certificate& certificate, const Observer& observer = {}) {
  SolverRun run(objective(), rule, observer);
  run.pause();
  const bool over = run.report(certificate, {});
  const Summary summary = run.finish();
  EXPECT_EQ(over, summary.status != Status::not_run);
  return summary;
}

TEST(Run, BeginsAsNotRun) {
  const StoppingRule rule;
  const Observer nobody;
  const Summary summary = SolverRun(objective(), rule, nobody).finish();
  EXPECT_EQ(summary.status, Status::not_run);
  EXPECT_EQ(summary.message, "not run");
  EXPECT_TRUE(summary.history.empty());
}

TEST(Run, Converges) {
  const Summary summary = report_once({.gap = 0.01}, {100, 99.5, 12.34});
  EXPECT_EQ(summary.status, Status::converged);
  EXPECT_EQ(summary.message, "converged: relative gap 0.005 after 12.3 passes");
}

TEST(Run, GoesOnWhileTheGapIsTooLarge) {
  EXPECT_EQ(report_once({.gap = 0.01}, {100, 98, 5}).status, Status::not_run);
}

TEST(Run, RunsOutOfPasses) {
  const Summary summary = report_once({.gap = 0.01, .passes = 5}, {100, 98, 5});
  EXPECT_EQ(summary.status, Status::out_of_passes);
  EXPECT_EQ(summary.message, "out of passes: relative gap 0.02 after 5.0 passes");
}

TEST(Run, RunsOutOfTime) {
  const Summary summary = report_once({.gap = 0.01, .seconds = 0}, {100, 98, 3});
  EXPECT_EQ(summary.status, Status::out_of_time);
  EXPECT_EQ(summary.message, "out of time: relative gap 0.02 after 3.0 passes");
}

TEST(Run, StopsByTheObserver) {
  const Summary summary =
      report_once({.gap = 0.01}, {100, 98, 3}, [](const Progress&, const Weights&) { return Control::stop; });
  EXPECT_EQ(summary.status, Status::stopped);
  EXPECT_EQ(summary.message, "stopped: relative gap 0.02 after 3.0 passes");
}

TEST(Run, StopsByTheFlag) {
  const std::atomic<bool> stop{true};
  const Summary summary = report_once({.gap = 0.01, .stop = &stop}, {100, 98, 3});
  EXPECT_EQ(summary.status, Status::stopped);
}

// What is reached counts for more than what ended the run.
TEST(Run, ConvergenceComesFirst) {
  const std::atomic<bool> stop{true};
  EXPECT_EQ(report_once({.gap = 0.1, .passes = 1, .seconds = 0, .stop = &stop}, {100, 98, 3}).status,
            Status::converged);
}

TEST(Run, FailsWhereANumberIsNotFinite) {
  for (const Certificate& bad : {Certificate{kInfinity, 1, 2}, Certificate{std::nan(""), 1, 2},
                                 Certificate{1, -kInfinity, 2}, Certificate{1, std::nan(""), 2}}) {
    const Summary summary = report_once({}, bad);
    EXPECT_EQ(summary.status, Status::failed);
    EXPECT_EQ(summary.message, "failed: the objective is not finite after 2.0 passes");
  }
}

TEST(Run, Stalls) {
  const StoppingRule rule;
  const Observer nobody;
  SolverRun run(objective(), rule, nobody);
  run.pause();
  EXPECT_FALSE(run.report({100, 98, 3}, {}));
  run.stall("no step helps");
  const Summary summary = run.finish();
  EXPECT_EQ(summary.status, Status::stalled);
  EXPECT_EQ(summary.message, "stalled (no step helps): relative gap 0.02 after 3.0 passes");
}

TEST(Run, ExhaustedByPassesTimeOrInterrupt) {
  const Observer nobody;
  std::atomic<bool> stop{false};
  const StoppingRule rule{.passes = 5, .stop = &stop};
  const SolverRun run(objective(), rule, nobody);
  EXPECT_FALSE(run.exhausted(4.9));
  EXPECT_TRUE(run.exhausted(5));
  stop = true;
  EXPECT_TRUE(run.exhausted(0));
  const StoppingRule no_time{.seconds = 0};
  EXPECT_TRUE(SolverRun(objective(), no_time, nobody).exhausted(0));
}

TEST(Run, CountsOnFromWhatWasBefore) {
  double ticked = 0;
  Progress before;
  before.passes = 7;
  before.seconds = 100;
  before.wall_seconds = 150;
  const StoppingRule rule{.passes = 5, .tick = [&](double passes) { ticked = passes; }, .before = before};
  const Observer nobody;
  SolverRun run(objective(), rule, nobody);
  EXPECT_FALSE(run.exhausted(4));  // limits are those of this run alone
  EXPECT_EQ(ticked, 11);
  run.pause();
  EXPECT_TRUE(run.report({10, 5, 5}, {}));
  const Summary summary = run.finish();
  EXPECT_EQ(summary.status, Status::out_of_passes);
  EXPECT_EQ(summary.message, "out of passes: relative gap 0.5 after 12.0 passes");
  EXPECT_EQ(summary.history.back().passes, 12);
  EXPECT_GE(summary.history.back().seconds, 100);
  EXPECT_LT(summary.history.back().seconds, 150);
  EXPECT_GE(summary.history.back().wall_seconds, 150);
}

TEST(Run, HistoryHasWhatTheObserverSaw) {
  const StoppingRule rule{.gap = 0};
  std::vector<Progress> seen;
  const Observer observer = [&](const Progress& now, const Weights&) {
    seen.push_back(now);
    return Control::go_on;
  };
  SolverRun run(objective(), rule, observer);
  run.pause();
  run.report({10, 5, 1}, {});
  run.report({9, 6, 2}, {});
  const Summary summary = run.finish();
  ASSERT_EQ(summary.history.size(), 2u);
  ASSERT_EQ(seen.size(), 2u);
  for (int t = 0; t < 2; ++t) {
    EXPECT_EQ(summary.history[t].epoch, t + 1);
    EXPECT_EQ(summary.history[t].passes, t + 1);
    EXPECT_EQ(summary.history[t].primal, 10 - t);
    EXPECT_EQ(summary.history[t].dual, 5 + t);
    EXPECT_EQ(seen[t].epoch, t + 1);
    EXPECT_EQ(seen[t].wall_seconds, summary.history[t].wall_seconds);
  }
}

TEST(Run, TheClockLeavesPausesOut) {
  const StoppingRule rule{.gap = 0};
  const Observer nobody;
  SolverRun run(objective(), rule, nobody);
  sleep_for_milliseconds(20);
  run.pause();
  const double trained = run.seconds();
  EXPECT_GE(trained, 0.02);
  sleep_for_milliseconds(60);
  EXPECT_EQ(run.seconds(), trained);
  run.report({10, 5, 1}, {});
  run.resume();
  sleep_for_milliseconds(10);
  EXPECT_GE(run.seconds(), trained + 0.01);
  const Progress& report = run.history().back();
  EXPECT_EQ(report.seconds, trained);
  EXPECT_GE(report.wall_seconds, trained + 0.06);
}

#ifdef ESPALIER_CHECKED
TEST(RunDeathTest, ReportsAreMadeWithThePausedClock) {
  const StoppingRule rule;
  const Observer nobody;
  SolverRun run(objective(), rule, nobody);
  EXPECT_DEATH(run.report({10, 5, 1}, {}), "running_");
}
#endif

TEST(Run, RoundingOfTheSumsIsNoViolation) {
  const double above = rounding_bound(objective(), 10) / 2;
  const Summary summary = report_once({}, {10, 10 + above, 1});
  EXPECT_EQ(summary.status, Status::converged);
  EXPECT_EQ(summary.message, "converged: relative gap 0 after 1.0 passes");
  EXPECT_EQ(summary.history.back().gap(), 0);
  EXPECT_EQ(summary.history.back().dual, 10 + above) << "what was found is what is said";
}

TEST(Run, AGapOfRoundingAloneIsNone) {
  const double bound = rounding_bound(objective(), 10);
  EXPECT_EQ(report_once({.gap = 0}, {10, 10 - 1.9 * bound, 1}).message,
            "converged: relative gap 0 after 1.0 passes");
  EXPECT_GT(report_once({.gap = 0}, {10, 10 - 2.1 * bound, 1}).history.back().gap(), 0);
}

TEST(StoppingRule, TheRestIsWhatWasNotSpentSinceItBegan) {
  StoppingRule rule{.gap = 1e-4, .passes = 100, .seconds = 50};
  rule.before.passes = 7;
  rule.before.seconds = 3;
  Progress now;
  now.passes = 17;
  now.seconds = 5;
  const StoppingRule rest = rule.rest(now);
  EXPECT_EQ(rest.gap, 1e-4);
  EXPECT_EQ(rest.passes, 90);
  EXPECT_EQ(rest.seconds, 48);
  EXPECT_EQ(rest.before.passes, 17);
  EXPECT_EQ(rest.before.seconds, 5);
}

// In every build.
TEST(Run, AFalseCertificateIsAnError) {
  EXPECT_LT(rounding_bound(objective(), 10), 1e-11);
  const std::string message = testing::error_message([] { report_once({}, {10, 10 + 1e-9, 1}); });
  EXPECT_EQ(message.substr(0, 44), "the dual 10.000000001 exceeds the primal 10 ") << message;
  // Approximate inference promises nothing.
  EXPECT_LT(report_once({.gap = -1}, {10, 11, 1, Inference::approximate}).history.back().gap(), 0);
}

}  // namespace
}  // namespace espalier::run_test
