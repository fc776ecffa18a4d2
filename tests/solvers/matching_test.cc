// Solvers of the table on matchings: they reach one optimum, for maxima as exactly as the assignment, for
// finite beta that of the relaxed problem.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "solvers/training.h"
#include "support/all_matchings.h"
#include "support/enumerated_qp.h"
#include "support/history_checks.h"
#include "support/random_matching_problem.h"

namespace espalier::solvers_matching_test {
namespace {

using test_support::expect_gaps;
using test_support::OwnedMatchingProblem;

struct Case {
  std::string solver;
  Loss loss;
  double gap;  // that it gets to in no time
};

class SolversOnMatchings : public ::testing::TestWithParam<Case> {};

Progress last_of(const std::string& solver, const Objective& objective, double gap) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = 3000;
  Training training;
  const Summary summary = find_solver(solver, objective.loss).run(objective, settings, training, {});
  expect_gaps(summary, solver);
  EXPECT_EQ(summary.status, Status::converged) << solver << ": " << summary.message;
  return summary.history.back();
}

struct Interval {
  double low, high;
};

// Of maxima that of all matchings as constraints of a quadratic programme; else what L-BFGS finds.
Interval optimum_of(const OwnedMatchingProblem& owned, const Objective& objective) {
  if (objective.loss.smooth()) {
    const Progress last = last_of("lbfgs", objective, 1e-8);
    return {last.dual, last.primal};
  }
  const SimplexQp qp = test_support::enumerated_qp(owned.problem, objective.loss.gamma, 1);
  const test_support::QpMinimum minimum = test_support::minimise_by_projection(qp, 1e-9, 20000);
  return {-minimum.value, -minimum.value + minimum.gap};
}

TEST_P(SolversOnMatchings, ReachTheOptimum) {
  const Case& run = GetParam();
  for (const std::size_t most : {std::size_t{1}, std::size_t{2}}) {
    const OwnedMatchingProblem owned(7, {.longest = 3, .most = most, .maxima = !run.loss.smooth()});
    const Objective objective{owned.problem, run.loss, 1};
    const Progress reached = last_of(run.solver, objective, run.gap);
    EXPECT_EQ(reached.inference, run.loss.smooth() ? Inference::relaxed : Inference::exact);
    const Interval optimum = optimum_of(owned, objective);
    EXPECT_LE(reached.dual, optimum.high * (1 + 1e-8));
    EXPECT_GE(reached.primal, optimum.low * (1 - 1e-8));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Matchings, SolversOnMatchings,
    ::testing::Values(Case{"cutting-plane", Loss::svm(), 1e-4}, Case{"bmrm", Loss::svm(), 1e-4},
                      Case{"frank-wolfe", Loss::svm(), 1e-4}, Case{"eg", Loss::svm(), 1e-2},
                      Case{"excessive-gap", Loss::svm(), 3e-2}, Case{"eg", Loss::crf(), 1e-5},
                      Case{"eg", Loss::softmax_margin(), 1e-5}),
    [](const ::testing::TestParamInfo<Case>& info) {
      std::string name = info.param.solver + "_" + info.param.loss.name();
      std::replace_if(
          name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
      return name;
    });

}  // namespace
}  // namespace espalier::solvers_matching_test
