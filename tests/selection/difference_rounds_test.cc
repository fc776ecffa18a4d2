// Training with differences of losses, round by round.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "learning/difference_problem.h"
#include "selection/cccp_run.h"
#include "solvers/training.h"
#include "support/problems_of_all_kinds.h"

namespace espalier::difference_rounds_test {
namespace {

SolverSettings to_the_gap(double gap) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = 20000;
  return settings;
}

// With the two losses that it is of.
double objective_of(const Problem& inner, const Loss& loss, double l2, const Weights& theta) {
  const double norm = l2 / 2 * inner.squared_norm(theta);
  return norm + evaluate_primal({inner, loss.convex(), l2}, theta) -
         evaluate_primal({inner, {loss.beta, 0}, l2}, theta);
}

TEST(DifferenceRounds, TheObjectiveNeverRisesBeyondTheGap) {
  const test_support::ProblemsOfAllKinds problems(3);
  for (const auto& named : problems.all()) {
    const Problem& inner = named.problem;
    const double l2 = named.l2;
    for (const Loss& loss : {Loss::ramp(), Loss::risk(), Loss{2, 1.5, true}}) {
      SCOPED_TRACE(named.name + ' ' + loss.name());
      DifferenceProblem problem(inner);
      const Objective objective{problem, loss.convex(), l2};
      Training training;
      std::vector<double> objectives;
      const double gap = loss.smooth() ? 1e-4 : 2e-3;
      Weights theta;
      const Cccp loop = cccp(
          objective, problem, {0, 4}, find_solver("auto", loss), to_the_gap(gap), training,
          [&](int, const Progress&, const Weights& now) {
            theta = now;
            return Control::go_on;
          },
          [&](const CccpRound& round) {
            objectives.push_back(objective_of(inner, loss, l2, theta));
            EXPECT_NEAR(round.objective, objectives.back(), 1e-9 * (1 + round.certificate.primal));
          });
      ASSERT_GE(loop.rounds.size(), 2u);
      for (std::size_t r = 0; r < loop.rounds.size(); ++r) {
        const CccpRound& round = loop.rounds[r];
        EXPECT_EQ(round.status, Status::converged) << r;
        if (r == 0) {
          EXPECT_LE(round.objective, round.certificate.primal * (1 + 1e-12)) << "the loss is above";
        } else {
          EXPECT_LE(round.objective, loop.rounds[r - 1].objective + round.certificate.gap());
        }
      }
      // The certificate is that of the problem as the loop leaves it, at the weights that it leaves.
      const Certificate& last = loop.rounds.back().certificate;
      EXPECT_EQ(evaluate_primal(objective, training.theta), last.primal);
      Random random(5);
      for (const float size : {0.001f, 0.03f, 1.0f}) {
        for (int k = 0; k < 5; ++k) {
          Weights other = training.theta;
          for (float& weight : other.values())
            weight *= 1 + size * static_cast<float>(random.uniform() - 0.5);
          EXPECT_GE(evaluate_primal(objective, other), last.dual);
        }
      }
    }
  }
}

// Each round has one optimum, whoever finds it: so do two rounds.
TEST(DifferenceRounds, SolversAgree) {
  const test_support::OwnedProblem classes(11, {.examples = 60, .attributes = 8, .labels = 3});
  const test_support::OwnedChainProblem chains(12, {.sequences = 12, .longest = 4});
  const Problem* problems[] = {&classes.problem, &chains.problem};
  for (const Loss& loss : {Loss::risk(), Loss::ramp()}) {
    for (const Problem* inner : problems) {
      const double gap = loss.smooth() ? 1e-7 : 1e-5;
      std::vector<double> found;
      for (const SolverEntry& solver : solver_table()) {
        if (!is_for(solver, loss) || !solver.converges) continue;
        // slow to a gap as small as this
        if (solver.name == "eg-batch" || solver.name == "excessive-gap" || solver.name == "extragradient")
          continue;
        if (!loss.smooth() && solver.name == "eg") continue;
        DifferenceProblem problem(*inner);
        Training training;
        const Cccp loop =
            cccp({problem, loss.convex(), 1.0}, problem, {0, 2}, solver, to_the_gap(gap), training);
        EXPECT_EQ(loop.rounds.size(), 2u) << solver.name << ' ' << loop.message;
        found.push_back(objective_of(*inner, loss, 1.0, training.theta));
        EXPECT_NEAR(found.back(), found.front(), 0.01 * std::sqrt(gap / 1e-5) * found.front())
            << solver.name << ' ' << loss.name();
      }
      EXPECT_GE(found.size(), 3u);
    }
  }
}

// Ten examples with the attribute 0 and the label 0, and an outlier with 9.9 of it and the label 1. With the
// margin m they have a hinge loss of 10 (1 - m) + 1 + 9.9 m, next to which l2 m^2/4 makes m small. The ramp
// loss of the outlier is 1 for any m > 0.
TEST(DifferenceRounds, AnOutlierCostsARampNoMoreThanItsCost) {
  SparseRows rows;
  std::vector<std::uint32_t> gold;
  for (int k = 0; k < 11; ++k) {
    rows.add(0, k < 10 ? 1.0f : 9.9f);
    rows.finish_row();
    gold.push_back(k < 10 ? 0 : 1);
  }
  const MulticlassProblem inner(MulticlassExamples(rows, 1, gold, 2));
  const auto margin = [&](int rounds) {
    DifferenceProblem problem(inner);
    Training training;
    cccp({problem, Loss::svm(), 0.5}, problem, {0, rounds}, find_solver("auto", Loss::svm()),
         to_the_gap(1e-6), training);
    return training.theta.row(0)[0] - training.theta.row(0)[1];
  };
  EXPECT_NEAR(margin(1), 0.4, 0.02) << "an SVM";
  EXPECT_NEAR(margin(3), 1, 0.02);
}

}  // namespace
}  // namespace espalier::difference_rounds_test
