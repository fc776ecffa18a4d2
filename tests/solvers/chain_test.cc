// Every solver on problems of label sequences.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/selection/path.h"
#include "espalier/solvers/eg.h"
#include "espalier/solvers/registry.h"
#include "selection/path_run.h"
#include "solvers/lbfgs.h"
#include "solvers/sgd.h"
#include "structures/chain.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_problem.h"
#include "support/until_gap.h"

namespace espalier {
namespace {

using test_support::ChainData;
using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;
using test_support::random_chain_data;
using test_support::RandomChainOptions;
using test_support::Transitions;

const std::vector<Loss> kLosses{Loss::crf(), Loss::svm(), Loss::softmax_margin(), {0.5, 1}, {3, 0.5}};
const std::vector<Sampling> kOrders{Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic};
const std::vector<EgStep> kSteps{EgStep::automatic, EgStep::paper, EgStep::safe};
const std::vector<EgStart> kStarts{EgStart::gold, EgStart::uniform};

struct Kind {
  const char* name;
  RandomChainOptions options;
};
const std::vector<Kind> kKinds{
    {"tied", {}},
    {"few transitions", {.transitions = Transitions::few}},
    {"different transitions", {.transitions = Transitions::different, .unit_values = true}},
    {"tied, constrained", {.labels = 4, .constrained = true}},
    {"few transitions, constrained", {.labels = 4, .transitions = Transitions::few, .constrained = true}},
    {"observed", {.labels = 4, .observed = true}},
    {"few transitions, observed", {.transitions = Transitions::few, .observed = true}},
    {"order 2", {.order = 2}},
    {"order 3, observed, constrained", {.labels = 4, .constrained = true, .observed = true, .order = 3}},
};

std::string describe(const Kind& kind, const Loss& loss, const EgOptions& options) {
  const char* const orders[] = {"gap", "random", "shuffled", "cyclic"};
  const char* const steps[] = {"auto", "paper", "safe"};
  const char* const starts[] = {"gold", "uniform", "warm"};
  return std::string(kind.name) + ": " + loss.name() + " " + orders[static_cast<int>(options.sampling)] +
         " " + steps[static_cast<int>(options.step)] + " " + starts[static_cast<int>(options.start)];
}

struct Solution {
  DualState dual;
  Weights theta;
  Summary summary;

  const Progress& last() const { return summary.history.back(); }
};

Solution solve(const Objective& objective, const EgOptions& options) {
  Solution solution{DualState(objective.problem), {}, {}};
  solution.summary = eg(objective, options, solution.dual, solution.theta);
  return solution;
}

EgOptions to_gap(double gap, double passes) { return test_support::until_gap<EgOptions>(gap, passes); }

Certificate by_lbfgs(const Objective& objective, double gap = 1e-10) {
  LbfgsOptions options;
  options.stopping.gap = gap;
  Weights theta(objective.problem.weight_shape());
  const Summary summary = lbfgs(objective, options, theta);
  EXPECT_EQ(summary.status, Status::converged) << objective.loss.name() << ": " << summary.message;
  return {summary.history.back().primal, summary.history.back().dual};
}

TEST(EgOnChains, ReachesTheOptimumOfEveryLossInEveryWay) {
  const double l2 = 2;
  for (const Kind& kind : kKinds) {
    const OwnedChainProblem owned(1, kind.options);
    for (const Loss& loss : kLosses) {
      const Objective objective{owned.problem, loss, l2};
      // The optimum is in between. EG alone narrows it down for maxima: every run has to agree with every
      // other.
      Certificate bracket{HUGE_VAL, -HUGE_VAL};
      if (loss.smooth()) bracket = by_lbfgs(objective);
      for (const Sampling order : kOrders) {
        for (const EgStep step : kSteps) {
          for (const EgStart start : kStarts) {
            // On a maximum, safe steps come close like 1/T. From the gold outputs they are too small for the
            // gap order to see which examples have far to go.
            const bool slow = !loss.smooth() && step == EgStep::safe;
            if (slow && order == Sampling::gap && start == EgStart::gold) continue;
            const double tolerance = loss.smooth() ? 1e-6 : slow ? 1e-2 : 1e-3;
            EgOptions options = to_gap(tolerance, 5000);
            options.sampling = order;
            options.step = step;
            options.start = start;
            const std::string where = describe(kind, loss, options);
            const Solution solution = solve(objective, options);
            const Progress& last = solution.last();
            EXPECT_EQ(solution.summary.status, Status::converged)
                << where << ": " << solution.summary.message;
            expect_gaps(solution.summary, where);
            EXPECT_LE(last.dual, bracket.primal * (1 + 1e-12)) << where;
            EXPECT_GE(last.primal, bracket.dual * (1 - 1e-12)) << where;
            EXPECT_EQ(certify(objective, solution.theta, solution.dual).primal, last.primal) << where;
            bracket.primal = std::min(bracket.primal, last.primal);
            bracket.dual = std::max(bracket.dual, last.dual);
          }
        }
      }
    }
  }
}

// Every visit is reported: a step that its theorem or its own test vouches for never lowers the dual.
TEST(EgOnChains, SafeAndPaperStepsNeverLowerTheDual) {
  for (Kind kind : kKinds) {
    kind.options.sequences = 6;
    const OwnedChainProblem owned(2, kind.options);
    for (const Loss& loss : kLosses) {
      for (const EgStep step : {EgStep::safe, EgStep::paper}) {
        for (const EgStart start : kStarts) {
          EgOptions options = to_gap(-1, 20);
          options.sampling = Sampling::random;
          options.step = step;
          options.start = start;
          options.report_every = 1e-9;
          const Summary summary = solve({owned.problem, loss, 0.5}, options).summary;
          const std::string where = describe(kind, loss, options);
          ASSERT_GE(summary.history.size(), 15u) << where;
          expect_gaps(summary, where);
          expect_rising_dual(summary, where);
        }
      }
    }
  }
}

// All mass on one wrong sequence, 40 nats a label away from the rest: marginals do not move, so no proxy sees
// a gap.
TEST(EgOnChains, AutomaticStepsLeaveThePlateauOfWrongOutputs) {
  for (const Kind& kind : kKinds) {
    const OwnedChainProblem owned(8, kind.options);
    DualState wrong(owned.problem);
    Workspace ws;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      const Chain::Output gold = owned.gold(i);
      const std::size_t labels = owned.data.shape.num_labels;
      for (std::size_t t = 0; t < gold.size(); ++t) wrong.s(i)[t * labels + (gold[t] + 1) % labels] = 40;
      wrong.refresh(owned.problem, i, ws);
    }
    for (const Loss& loss : kLosses) {
      EgOptions options = to_gap(1e-3, 2000);
      options.start = EgStart::warm;
      Solution solution{wrong, {}, {}};
      solution.summary = eg({owned.problem, loss, 2}, options, solution.dual, solution.theta);
      const std::string where = describe(kind, loss, options);
      EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
      expect_gaps(solution.summary, where);
    }
  }
}

TEST(EgOnChains, SameSeedSameBits) {
  const auto same = [](const Solution& a, const Solution& b) {
    bool equal = std::ranges::equal(a.theta.values(), b.theta.values());
    for (std::size_t i = 0; i < a.dual.size(); ++i) {
      equal = equal && std::ranges::equal(a.dual.s(i), b.dual.s(i)) &&
              std::ranges::equal(a.dual.mu(i), b.dual.mu(i));
    }
    return equal;
  };
  for (const Kind& kind : kKinds) {
    const OwnedChainProblem owned(3, kind.options);
    for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
      for (const EgStep step : kSteps) {
        EgOptions options = to_gap(-1, 7);
        options.step = step;
        const Objective objective{owned.problem, loss, 1};
        const Solution one = solve(objective, options);
        EXPECT_TRUE(same(one, solve(objective, options))) << describe(kind, loss, options);
        options.seed = 2;
        EXPECT_FALSE(same(one, solve(objective, options))) << describe(kind, loss, options);
      }
    }
  }
}

TEST(EgOnChains, LongSequencesOfManyLabels) {
  for (const Transitions transitions : {Transitions::tied, Transitions::few}) {
    RandomChainOptions shape;
    shape.sequences = 20;
    shape.longest = 40;
    shape.labels = 11;
    shape.attributes = 60;
    shape.density = 0.1;
    shape.transitions = transitions;
    shape.unit_values = true;
    const OwnedChainProblem owned(4, shape);
    for (const Loss& loss : kLosses) {
      const Solution solution = solve({owned.problem, loss, 1}, to_gap(loss.smooth() ? 1e-5 : 5e-3, 2000));
      EXPECT_EQ(solution.summary.status, Status::converged)
          << loss.name() << ": " << solution.summary.message;
      expect_gaps(solution.summary, loss.name());
      if (!loss.smooth()) continue;
      const Certificate truth = by_lbfgs({owned.problem, loss, 1}, 1e-8);
      EXPECT_NEAR(solution.last().primal, truth.primal, 1.1e-5 * truth.primal) << loss.name();
    }
  }
}

TEST(SgdOnChains, ComesCloseToTheOptimum) {
  for (Kind kind : kKinds) {
    kind.options.sequences = 200;
    const OwnedChainProblem owned(5, kind.options);
    for (const Loss& loss : kLosses) {
      const Objective objective{owned.problem, loss, 1};
      // On a maximum with long n-grams EG does not get below 1.3e-3 here.
      const double tolerance = loss.smooth() ? 1e-6 : 2e-3;
      const Progress optimum = solve(objective, to_gap(tolerance, 2000)).last();
      ASSERT_LE(optimum.gap(), tolerance * optimum.primal) << kind.name << ": " << loss.name();
      SgdOptions options;
      options.stopping.gap = 0;
      options.stopping.passes = 30;
      Weights theta(owned.problem.weight_shape());
      const Summary summary = sgd(objective, options, theta);
      expect_gaps(summary, loss.name());
      EXPECT_GE(summary.history.back().primal, optimum.dual) << kind.name << ": " << loss.name();
      EXPECT_LE(summary.history.back().primal, 1.05 * optimum.primal) << kind.name << ": " << loss.name();
    }
  }
}

TEST(PathOnChains, EveryPointIsOptimalAndWarmStartsSave) {
  for (Kind kind : kKinds) {
    kind.options.sequences = 100;
    const OwnedChainProblem owned(6, kind.options);
    for (const Loss& loss : {Loss::crf(), Loss::svm(), Loss::softmax_margin()}) {
      const SolverEntry& solver = find_solver("eg", loss);
      const auto path_of = [&](const PathOptions& options) {
        return regularisation_path(owned.problem, loss, options, solver, {},
                                   [](const Weights& theta) { return euclidean_squared_norm(theta); });
      };
      // From saturated duals of a maximum, a way back may take longer than one from the start.
      const PathOptions options{10, loss.smooth() ? 1.0 : 5.0, 0.7};
      const Path path = path_of(options);
      const std::string where = std::string(kind.name) + ": " + loss.name();
      EXPECT_EQ(path.status, Status::converged) << where;
      ASSERT_EQ(path.points.size(), options.values().size()) << where;
      double cold = 0;
      for (std::size_t p = 0; p < path.points.size(); ++p) {
        const PathPoint& point = path.points[p];
        EXPECT_LE(point.certificate.relative_gap(), 1e-3) << where;
        const Path alone = path_of({point.l2, point.l2, 0.5});
        EXPECT_LE(point.certificate.dual, alone.points[0].certificate.primal) << where;
        EXPECT_LE(alone.points[0].certificate.dual, point.certificate.primal) << where;
        cold += alone.points[0].total_passes;
      }
      if (loss.smooth()) {
        EXPECT_LT(path.points.back().total_passes, 0.8 * cold) << where;
      }
    }
  }
}

// Sequences of one token are a multi-class problem, and nothing is learnt of transitions.
TEST(ChainsOfOneToken, HaveTheOptimumOfTheMulticlassProblem) {
  RandomChainOptions shape;
  shape.sequences = 30;
  shape.longest = 1;
  shape.labels = 4;
  const ChainData chains = random_chain_data(7, shape);
  test_support::MulticlassData classes;
  classes.rows = chains.sequences.tokens;
  classes.attributes = shape.attributes;
  classes.labels = shape.labels;
  classes.gold = chains.gold;
  classes.omega = chains.omega;
  const OwnedChainProblem as_chains(chains);
  const OwnedProblem as_classes(classes);
  for (const Loss& loss : kLosses) {
    const Objective of_chains{as_chains.problem, loss, 1}, of_classes{as_classes.problem, loss, 1};
    const EgOptions options = to_gap(loss.smooth() ? 1e-7 : 1e-4, 5000);
    const Solution a = solve(of_chains, options), b = solve(of_classes, options);
    ASSERT_EQ(a.summary.status, Status::converged) << loss.name() << ": " << a.summary.message;
    ASSERT_EQ(b.summary.status, Status::converged) << loss.name() << ": " << b.summary.message;
    EXPECT_LE(a.last().dual, b.last().primal) << loss.name();
    EXPECT_LE(b.last().dual, a.last().primal) << loss.name();
    if (loss.smooth()) {
      const double primal = by_lbfgs(of_classes).primal;
      EXPECT_NEAR(by_lbfgs(of_chains).primal, primal, 1e-9 * primal) << loss.name();
    }
    for (std::size_t r = shape.attributes; r < a.theta.shape().rows; ++r) {
      for (std::size_t k = 0; k < shape.labels; ++k) EXPECT_EQ(a.theta.row(r)[k], 0) << loss.name();
    }
    // The same weights have the same objective.
    Weights without_transitions(as_classes.problem.weight_shape());
    std::copy_n(a.theta.values().begin(), without_transitions.values().size(),
                without_transitions.values().begin());
    Workspace ws;
    EXPECT_NEAR(evaluate_primal(of_classes, without_transitions), a.last().primal, 1e-13 * a.last().primal)
        << loss.name();
  }
}

}  // namespace
}  // namespace espalier
