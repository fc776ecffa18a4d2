// What every solver of the table owes to whoever runs it, whatever its method: bits that the seed decides,
// reports that are true, an end as soon as it is asked for. A new solver is covered by its row in the table.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/training.h"
#include "support/allocations.h"
#include "support/history_checks.h"
#include "support/interrupting_problem.h"
#include "support/problems_of_all_kinds.h"
#include "support/weighted_twice.h"

namespace espalier::conduct_test {
namespace {

using test_support::expect_gaps;
using test_support::InterruptingProblem;
using test_support::MulticlassData;
using test_support::OwnedProblem;
using test_support::ProblemsOfAllKinds;
using test_support::random_data;
using test_support::WeightedTwice;

// Those whose visits are not one inference of the scores of one example: eg tries several steps, smo also
// looks for the lowest output, cutting planes improve their multipliers without inference, and the first pass
// of dca scores as certificates do.
const std::set<std::string_view> kOtherVisits{"eg", "smo", "cutting-plane", "dca"};

const std::vector<Loss> kLosses{Loss::softmax_margin(), Loss::svm()};

// The same for every case, so built once.
const std::vector<ProblemsOfAllKinds::Named>& problems() {
  static const ProblemsOfAllKinds owned(8);
  static const std::vector<ProblemsOfAllKinds::Named> all = owned.all();
  return all;
}

struct Case {
  std::size_t solver, loss, kind;
  bool keep_marginals;
};

const SolverEntry& entry_of(const Case& run) { return solver_table()[run.solver]; }
const Loss& loss_of(const Case& run) { return kLosses[run.loss]; }

std::vector<Case> cases_of(const std::function<bool(const SolverEntry&)>& chosen) {
  std::vector<Case> all;
  for (std::size_t s = 0; s < solver_table().size(); ++s) {
    const SolverEntry& entry = solver_table()[s];
    if (!chosen(entry)) continue;
    for (std::size_t l = 0; l < kLosses.size(); ++l) {
      if (!is_for(entry, kLosses[l])) continue;
      for (std::size_t k = 0; k < problems().size(); ++k) {
        if (entry.needs_cliques && !problems()[k].problem.factored()) continue;
        all.push_back({s, l, k, true});
        if (entry.duals == Duals::scores) all.push_back({s, l, k, false});
      }
    }
  }
  return all;
}

std::string name_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

bool same_bits(const Weights& a, const Weights& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.values(), b.values());
}

bool finite(const Weights& theta) {
  return std::ranges::all_of(theta.values(), [](float x) { return std::isfinite(x); });
}

struct Outcome {
  Outcome(const SolverEntry& entry, const Objective& objective, const SolverSettings& settings,
          const Observer& observer = {})
      : solver(entry.name),
        summary(entry.run(objective, settings, training, [&](const Progress& now, const Weights& theta) {
          last_seen = theta;
          return observer ? observer(now, theta) : Control::go_on;
        })) {}
  const Weights& theta() const { return training.theta; }
  const Progress& last() const { return summary.history.back(); }

  std::string solver;
  Training training;
  Weights last_seen;
  Summary summary;
};

// At the duals that a run leaves, if any. Those of eg-batch are floats of what it reports: eg_batch_test.cc
// compares them.
std::optional<double> dual_of(const Objective& objective, const Outcome& outcome) {
  const Training& training = outcome.training;
  Sweep sweep;
  DualValue value;
  if (outcome.solver == "eg-batch") return {};
  if (training.dual) {
    evaluate_dual(objective, *training.dual, value, sweep);
  } else if (training.means) {
    evaluate_dual(objective, *training.means, value, sweep);
  } else if (training.cliques) {
    evaluate_dual(objective, *training.cliques, value, sweep);
  } else {
    return {};
  }
  return value.value;
}

// The last report is of the weights and duals that the run leaves.
void expect_certified(const Objective& objective, const Outcome& outcome, const std::string& where) {
  ASSERT_FALSE(outcome.summary.history.empty()) << where;
  ASSERT_EQ(outcome.theta().shape(), objective.problem.weight_shape()) << where;
  EXPECT_TRUE(finite(outcome.theta())) << where;
  EXPECT_TRUE(same_bits(outcome.last_seen, outcome.theta())) << where;
  EXPECT_EQ(outcome.last().primal, evaluate_primal(objective, outcome.theta())) << where;
  if (const auto dual = dual_of(objective, outcome)) {
    EXPECT_EQ(outcome.last().dual, *dual) << where;
  }
  expect_gaps(outcome.summary, where);
}

class ConductTest : public ::testing::TestWithParam<Case> {
 protected:
  static const SolverEntry& entry() { return entry_of(GetParam()); }
  static Objective objective() {
    const ProblemsOfAllKinds::Named& named = problems()[GetParam().kind];
    return {named.problem, loss_of(GetParam()), named.l2};
  }
  // Runs out of passes, whatever its gap.
  static SolverSettings for_passes(double passes) {
    SolverSettings settings;
    settings.stopping.gap = -1;
    settings.stopping.passes = passes;
    settings.report_every = 1;
    settings.eg.recompute = settings.eg_batch.recompute = !GetParam().keep_marginals;
    return settings;
  }
  static Outcome run(const SolverSettings& settings, const Observer& observer = {}) {
    return Outcome(entry(), objective(), settings, observer);
  }
  // At most.
  static double inferences_of_a_visit() { return entry().name == "eg" ? 40 : entry().name == "smo" ? 2 : 1; }
  // At its end lbfgs certifies anew what it has reported, as floats.
  static std::size_t reports_when_stopped_at(std::size_t report) {
    return entry().name == "lbfgs" ? report + 1 : report;
  }
};

TEST_P(ConductTest, SeedDecidesTheBits) {
  SolverSettings settings = for_passes(7);
  const Outcome one = run(settings), again = run(settings);
  EXPECT_TRUE(same_bits(one.theta(), again.theta()));
  EXPECT_EQ(one.last().primal, again.last().primal);
  EXPECT_EQ(one.last().dual, again.last().dual);
  EXPECT_EQ(one.last().passes, again.last().passes);
  settings.seed = 2;
  EXPECT_EQ(same_bits(one.theta(), run(settings).theta()), entry().batch);
}

// Steps are those of one thread: what several do besides changes nothing.
TEST_P(ConductTest, ThreadsThatShareNoVisitsDoNotChangeABit) {
  SolverSettings settings = for_passes(12);
  const Outcome one = run(settings);
  for (const std::size_t threads : {2, 5}) {
    settings.threads = {threads, false};
    const Outcome many = run(settings);
    EXPECT_TRUE(same_bits(one.theta(), many.theta())) << threads;
    EXPECT_EQ(one.last().primal, many.last().primal) << threads;
    EXPECT_EQ(one.last().dual, many.last().dual) << threads;
  }
}

// Those that make no visits one after the other share everything.
class ThreadsTest : public ConductTest {};

TEST_P(ThreadsTest, ThreadsDoNotChangeABit) {
  SolverSettings settings = for_passes(25);
  const Outcome one = run(settings);
  for (const std::size_t threads : {2, 5}) {
    settings.threads = threads;
    const Outcome many = run(settings);
    EXPECT_TRUE(same_bits(one.theta(), many.theta())) << threads;
    EXPECT_EQ(one.last().primal, many.last().primal) << threads;
    EXPECT_EQ(one.last().dual, many.last().dual) << threads;
  }
}

TEST_P(ConductTest, EveryReportIsATrueCertificate) {
  // Between its start and its end, lbfgs reports weights in double precision, and shows them as floats.
  const double rounding = entry().name == "lbfgs" ? 1e-8 : 0;
  std::vector<double> primals;
  const Outcome outcome = run(for_passes(12), [&](const Progress& now, const Weights& theta) {
    EXPECT_EQ(theta.shape(), objective().problem.weight_shape());
    EXPECT_TRUE(finite(theta)) << "report " << now.epoch;
    const double primal = evaluate_primal(objective(), theta);
    EXPECT_NEAR(now.primal, primal, rounding * primal) << "report " << now.epoch;
    primals.push_back(now.primal);
    return Control::go_on;
  });
  expect_certified(objective(), outcome, "the end");
  ASSERT_EQ(primals.size(), outcome.summary.history.size());
  for (std::size_t t = 0; t < primals.size(); ++t) EXPECT_EQ(primals[t], outcome.summary.history[t].primal);
}

TEST_P(ConductTest, KeepsToItsPasses) {
  const auto size = static_cast<double>(objective().problem.size());
  for (const double passes : {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 8.0}) {
    const Outcome outcome = run(for_passes(passes));
    EXPECT_EQ(outcome.summary.status, Status::out_of_passes) << passes;
    EXPECT_GE(outcome.last().passes, passes);
    EXPECT_LT(outcome.last().passes, passes + inferences_of_a_visit() / size) << passes;
    expect_certified(objective(), outcome, std::to_string(passes) + " passes");
  }
}

// Visits of bmrm score as certificates do.
class InterruptedTest : public ConductTest {};

TEST_P(InterruptedTest, InTheMiddleOfAPass) {
  const auto size = static_cast<int>(objective().problem.size());
  for (const int visit : {1, size / 2, size, size + 1, 2 * size, 2 * size + 1, 5 * size + size / 2}) {
    const Objective inner = objective();
    const InterruptingProblem problem(inner.problem, visit);
    SolverSettings settings = for_passes(1000);
    settings.stopping.stop = &problem.stop;
    const Outcome outcome(entry(), {problem, inner.loss, inner.regularizer}, settings);
    EXPECT_EQ(outcome.summary.status, Status::stopped) << visit;
    EXPECT_EQ(problem.scored_after_stop, 0) << "the flag is looked at after every example";
    if (!kOtherVisits.contains(entry().name)) {
      EXPECT_EQ(outcome.last().passes, static_cast<double>(visit) / size);
    }
    expect_certified(inner, outcome, "visit " + std::to_string(visit));
  }
}

TEST_P(ConductTest, InterruptedAtAReport) {
  std::atomic<bool> stop = false;
  SolverSettings settings = for_passes(1000);
  settings.stopping.stop = &stop;
  const Outcome outcome = run(settings, [&](const Progress& now, const Weights&) {
    if (now.epoch == 3) stop = true;
    return Control::go_on;
  });
  EXPECT_EQ(outcome.summary.status, Status::stopped);
  EXPECT_EQ(outcome.summary.history.size(), reports_when_stopped_at(3));
  expect_certified(objective(), outcome, "interrupted");
}

TEST_P(ConductTest, InterruptedBeforeTheStart) {
  const std::atomic<bool> stop = true;
  SolverSettings settings = for_passes(1000);
  settings.stopping.stop = &stop;
  const Outcome outcome = run(settings);
  EXPECT_EQ(outcome.summary.status, Status::stopped);
  ASSERT_EQ(outcome.summary.history.size(), 1u);
  // eg looks at the flag after an example.
  const auto size = static_cast<double>(objective().problem.size());
  EXPECT_LE(outcome.last().passes, entry().name == "eg" ? inferences_of_a_visit() / size : 0);
  expect_certified(objective(), outcome, "early");
}

TEST_P(ConductTest, ObserverAndClockStop) {
  SolverSettings settings = for_passes(1000);
  const Outcome stopped = run(settings, [](const Progress& now, const Weights&) {
    return now.epoch == 3 ? Control::stop : Control::go_on;
  });
  EXPECT_EQ(stopped.summary.status, Status::stopped);
  EXPECT_EQ(stopped.summary.history.size(), reports_when_stopped_at(3));
  expect_certified(objective(), stopped, "stopped");
  settings.stopping.seconds = 0;
  const Outcome late = run(settings);
  EXPECT_EQ(late.summary.status, Status::out_of_time);
  EXPECT_EQ(late.summary.history.size(), 1u);
  expect_certified(objective(), late, "late");
}

// Allocations of a run that reports once, at its end. The program's allocator counts (eg_allocation_test.cc).
class AllocationTest : public ConductTest {
 protected:
  static std::size_t allocations_of(double passes) {
    SolverSettings settings = for_passes(passes);
    settings.report_every = std::numeric_limits<double>::infinity();
    Training training;
    const std::size_t before = test_support::allocations;
    const Summary summary = entry().run(objective(), settings, training, {});
    EXPECT_EQ(summary.history.size(), 1u);
    return test_support::allocations - before;
  }
};

TEST_P(AllocationTest, NoneInsideAnEpoch) {
  allocations_of(5);  // sizes that a problem finds when it is first asked
  const std::size_t few = allocations_of(5);
  EXPECT_GT(few, 0u) << "the counter does not count";
  EXPECT_EQ(allocations_of(50), few);
}

// The search for the best tree of second order asks for memory itself.
std::vector<Case> cases_that_allocate_nothing() {
  std::vector<Case> all = cases_of([](const SolverEntry& entry) { return !entry.allocates; });
  std::erase_if(all, [](const Case& run) {
    return problems()[run.kind].name == "projective trees, second order, labelled";
  });
  return all;
}

const auto kDescribe = [](const auto& info) {
  return name_of(entry_of(info.param).name + "_" + loss_of(info.param).name() + "_" +
                 problems()[info.param.kind].name + (info.param.keep_marginals ? "" : "_not_kept"));
};
INSTANTIATE_TEST_SUITE_P(EverySolver, ConductTest,
                         ::testing::ValuesIn(cases_of([](const SolverEntry&) { return true; })), kDescribe);
INSTANTIATE_TEST_SUITE_P(
    WhereOneThreadTakesTheSameSteps, ThreadsTest,
    ::testing::ValuesIn(cases_of([](const SolverEntry& entry) { return !entry.one_by_one; })), kDescribe);
INSTANTIATE_TEST_SUITE_P(
    AllButBmrm, InterruptedTest,
    ::testing::ValuesIn(cases_of([](const SolverEntry& entry) { return entry.name != "bmrm"; })), kDescribe);
INSTANTIATE_TEST_SUITE_P(OneExampleAtATime, AllocationTest,
                         ::testing::ValuesIn(cases_that_allocate_nothing()), kDescribe);

// To an optimum, with every loss that the solver is for.
class SmallDataTest : public ::testing::TestWithParam<SolverEntry> {
 protected:
  static bool online() { return !GetParam().converges; }
  static std::vector<Loss> losses() {
    std::vector<Loss> all{Loss::crf(), Loss::softmax_margin(), {0.3, 0.5}, {5, 2}, {20, 1},
                          Loss::svm(), {Loss::svm().beta, 2.5}};
    std::erase_if(all, [](const Loss& loss) { return !is_for(GetParam(), loss); });
    return all;
  }
  static Progress solve(const Objective& objective, double gap, bool keep_marginals = true) {
    SolverSettings settings;
    settings.stopping.gap = gap;
    settings.stopping.passes = online() ? 50 : 20000;
    settings.eg.recompute = settings.eg_batch.recompute = !keep_marginals;
    const Outcome outcome(GetParam(), objective, settings);
    if (!online()) {
      EXPECT_EQ(outcome.summary.status, Status::converged)
          << objective.loss.name() << ": " << outcome.summary.message;
    }
    expect_certified(objective, outcome, objective.loss.name());
    return outcome.last();
  }
  static void expect_solved(const MulticlassData& data) {
    const OwnedProblem owned(data);
    for (const Loss& loss : losses()) {
      for (const bool keep_marginals : {true, false}) {
        if (!keep_marginals && GetParam().duals != Duals::scores) continue;
        solve({owned.problem, loss, 1}, loss.smooth() ? 1e-5 : 1e-4, keep_marginals);
      }
    }
  }
};

TEST_P(SmallDataTest, OneExample) { expect_solved(random_data(1, {.examples = 1, .density = 1})); }

TEST_P(SmallDataTest, OneAttribute) { expect_solved(random_data(2, {.attributes = 1, .density = 1})); }

TEST_P(SmallDataTest, OneLabel) { expect_solved(random_data(5, {.labels = 1})); }

TEST_P(SmallDataTest, NoAttributesAtAll) {
  MulticlassData data;
  data.attributes = 2;
  data.labels = 3;
  for (std::uint32_t i = 0; i < 5; ++i) {
    data.rows.finish_row();
    data.gold.push_back(i % 3);
  }
  expect_solved(data);
}

// Each optimum lies between dual and primal of its run.
TEST_P(SmallDataTest, ExampleOfWeightTwoIsTheExampleTwice) {
  const WeightedTwice data(11);
  const OwnedProblem weighted(data.weighted), repeated(data.repeated);
  for (const Loss& loss : losses()) {
    const double gap = loss.smooth() ? 1e-7 : 1e-4;
    const Progress a = solve({weighted.problem, loss, 0.5}, gap),
                   b = solve({repeated.problem, loss, 0.5}, gap);
    EXPECT_LE(a.dual, b.primal) << loss.name();
    EXPECT_LE(b.dual, a.primal) << loss.name();
  }
}

INSTANTIATE_TEST_SUITE_P(EverySolver, SmallDataTest,
                         ::testing::ValuesIn(solver_table().begin(), solver_table().end()),
                         [](const auto& info) { return name_of(info.param.name); });

}  // namespace
}  // namespace espalier::conduct_test
