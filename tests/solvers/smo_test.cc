#include "solvers/smo.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/cutting_plane.h"
#include "solvers/frank_wolfe.h"
#include "structures/chain.h"
#include "support/all_outputs.h"
#include "support/eg_solution.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_objective.h"
#include "support/random_problem.h"
#include "support/until_gap.h"

namespace espalier::smo_test {
namespace {

using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::Transitions;
using testing::error_message;

const std::vector<Loss> kMaxima{Loss::svm(), {Loss::svm().beta, 2.5}};
const std::vector<Sampling> kOrders{Sampling::gap, Sampling::random, Sampling::shuffled, Sampling::cyclic};

CliqueState at_gold(const Problem& problem) {
  CliqueState state(problem);
  state.start_at_gold(problem);
  return state;
}

struct Solution {
  Solution(const Objective& objective, const SmoOptions& options)
      : state(at_gold(objective.problem)), summary(smo(objective, options, state, theta)) {}
  CliqueState state;
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

SmoOptions to_gap(double gap, double passes) { return test_support::until_gap<SmoOptions>(gap, passes); }
SmoOptions for_passes(double passes) { return to_gap(-1, passes); }

double dual_of(const Objective& objective, const CliqueState& state) {
  Sweep sweep;
  DualValue value;
  evaluate_dual(objective, state, value, sweep);
  return value.value;
}

// The certificate of the very weights and duals that a run leaves.
void expect_certified(const Objective& objective, const Solution& solution, const std::string& where) {
  EXPECT_EQ(dual_of(objective, solution.state), solution.last().dual) << where;
  EXPECT_EQ(evaluate_primal(objective, solution.theta), solution.last().primal) << where;
}

// In every order, to an optimum within EG's and Frank-Wolfe's bounds.
void expect_optimum(const Problem& problem, double l2, const std::string& name) {
  for (const Loss& loss : kMaxima) {
    const Objective objective{problem, loss, l2};
    EgOptions by_eg;
    by_eg.stopping = {1e-4, 5000};
    const test_support::EgSolution eg(objective, by_eg);
    ASSERT_EQ(eg.summary.status, Status::converged) << name << ": " << eg.summary.message;
    MeanState means(problem);
    Weights theta;
    FrankWolfeOptions by_frank_wolfe;
    by_frank_wolfe.stopping = {1e-4, 20000};
    const Summary frank_wolfes = frank_wolfe(objective, by_frank_wolfe, means, theta);
    ASSERT_EQ(frank_wolfes.status, Status::converged) << name << ": " << frank_wolfes.message;
    for (const Sampling order : kOrders) {
      SmoOptions options = to_gap(1e-4, 20000);
      options.sampling = order;
      const std::string where =
          name + ", " + loss.name() + ", order " + std::to_string(static_cast<int>(order));
      const Solution solution(objective, options);
      EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
      expect_gaps(solution.summary, where);
      expect_certified(objective, solution, where);
      for (const Progress& truth : {eg.last(), frank_wolfes.history.back()}) {
        EXPECT_LE(solution.last().dual, truth.primal) << where;
        EXPECT_GE(solution.last().primal, truth.dual) << where;
      }
    }
  }
}

TEST(Smo, ReachesTheOptimumOfClasses) {
  expect_optimum(OwnedProblem(1, {.examples = 20, .attributes = 8, .labels = 4}).problem, 2, "classes");
  expect_optimum(OwnedProblem(2, {.examples = 20, .attributes = 8, .labels = 4}).problem, 0.1,
                 "classes with little l2");
}

// Visits that maximise over all labels at once, against a solver that has nothing in common with them: the
// bounds on the optimum that both prove overlap.
RC_GTEST_PROP(SmoProperties, ClassesEndWhereCuttingPlanesDo, ()) {
  const OwnedProblem owned(*rc::gen::arbitrary<std::uint64_t>(),
                           {.examples = *rc::gen::inRange<std::size_t>(1, 25),
                            .labels = *rc::gen::inRange<std::size_t>(2, 20),
                            .cost_matrix = *rc::gen::arbitrary<bool>(),
                            .weighted = *rc::gen::arbitrary<bool>()});
  const Objective objective{owned.problem, Loss::svm(), *rc::gen::element(0.1, 1.0, 10.0)};
  Weights theta;
  CuttingPlaneOptions by_planes;
  by_planes.stopping = {1e-5, 5000};
  const Summary planes = cutting_plane(objective, by_planes, theta);
  RC_ASSERT(planes.status == Status::converged);
  // Weights are floats, and of two examples with little l2 the primal at them is not better than about 1e-5.
  const Solution solution(objective, to_gap(1e-4, 20000));
  RC_ASSERT(solution.summary.status == Status::converged);
  // Few examples are solved to the last digit, where sums in another order differ.
  constexpr double kRounded = 1 + 1e-12;
  RC_ASSERT(solution.last().dual <= planes.history.back().primal * kRounded);
  RC_ASSERT(solution.last().primal * kRounded >= planes.history.back().dual);
}

// What others take over from it.
TEST(Smo, LeavesStatisticsThatGoWithTheCliques) {
  const OwnedProblem classes(6);
  const OwnedChainProblem chains(6);
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    const Solution solution({*problem, Loss::svm(), 1}, for_passes(10));
    for (std::size_t i = 0; i < problem->size(); ++i) {
      std::vector<double> mu(problem->num_statistics(i));
      problem->factored()->rebuild(i, solution.state.cliques(i), mu);
      for (std::size_t k = 0; k < mu.size(); ++k) EXPECT_NEAR(solution.state.mu(i)[k], mu[k], 1e-5);
    }
  }
}

TEST(Smo, ReachesTheOptimumOfChains) {
  expect_optimum(OwnedChainProblem(1).problem, 2, "tied");
  expect_optimum(OwnedChainProblem(2, {.transitions = Transitions::few}).problem, 0.5, "few transitions");
  expect_optimum(OwnedChainProblem(3, {.labels = 4, .transitions = Transitions::different}).problem, 1,
                 "different transitions");
  expect_optimum(OwnedChainProblem(4, {.labels = 4, .constrained = true}).problem, 1, "constrained");
}

// Every visit is reported.
TEST(Smo, NeverLowersTheDual) {
  const OwnedProblem classes(2, {.examples = 8, .attributes = 5, .labels = 3});
  const OwnedChainProblem chains(2, {.sequences = 8});
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    for (const SmoMass mass : {SmoMass::cliques, SmoMass::factored}) {
      for (const double l2 : {0.05, 0.5, 20.0}) {
        SmoOptions options = for_passes(60);
        options.mass = mass;
        options.sampling = Sampling::random;
        options.report_every = 1e-9;
        const Summary summary = Solution({*problem, Loss::svm(), l2}, options).summary;
        ASSERT_GE(summary.history.size(), 25u);
        expect_gaps(summary, "l2 " + std::to_string(l2));
        expect_rising_dual(summary, "l2 " + std::to_string(l2));
      }
    }
  }
}

// One visit to a problem of one sequence, at clique marginals of random scores, against all pairs of
// sequences: the pair is the one that violates most, and no other mass moved between the two gives a better
// dual.
RC_GTEST_PROP(SmoProperties, AVisitIsTheBestMoveOfTheMostViolatingPair, ()) {
  test_support::RandomChainOptions shape = test_support::any_chain_options();
  shape.sequences = 1;
  shape.labels = *rc::gen::inRange<std::size_t>(2, 4);
  const OwnedChainProblem owned(*rc::gen::arbitrary<std::uint64_t>(), shape);
  const Problem& problem = owned.problem;
  const Factored& factored = *problem.factored();
  const Objective objective{problem, Loss::svm(), *rc::gen::element(0.1, 1.0, 30.0)};
  CliqueState state(problem);
  Workspace ws;
  const std::size_t length = problem.num_statistics(0);
  std::vector<float> random(length);
  for (float& s : random) s = static_cast<float>(*rc::gen::inRange(-20, 20)) * 0.1f;
  factored.clique_marginals(0, random, state.cliques(0), state.mu(0), ws);
  const CliqueState before = state;

  Sweep sweep;
  DualValue value;
  evaluate_dual(objective, state, value, sweep);
  Weights w;
  w.assign(value.w, 1);
  std::vector<double> s(length);
  problem.score(0, w, 1 / objective.regularizer.l2, std::span<double>(s), ws);
  problem.add_cost(0, 1.0, std::span<double>(s));
  double highest = -1e300, lowest = 1e300, runner_up = -1e300, runner_down = 1e300;
  std::vector<double> up, down;
  for (const Chain::Output& y : all_outputs(owned.problem.examples().structure(0))) {
    std::vector<double> chi(length);
    owned.problem.examples().structure(0).indicator(y, chi);
    double score = 0;
    for (std::size_t k = 0; k < length; ++k) score += s[k] * chi[k];
    if (score > highest) {
      runner_up = highest;
      highest = score;
      up = chi;
    } else {
      runner_up = std::max(runner_up, score);
    }
    if (score < lowest) {
      runner_down = lowest;
      lowest = score;
      down = chi;
    } else {
      runner_down = std::min(runner_down, score);
    }
  }
  RC_PRE(highest - lowest > 1e-4 && highest - runner_up > 1e-5 &&
         runner_down - lowest > 1e-5);  // else rounding decides

  for (const SmoMass mass : {SmoMass::cliques, SmoMass::factored}) {
    state = before;
    SmoOptions options = for_passes(1);
    options.mass = mass;
    Weights theta;
    const Summary summary = smo(objective, options, state, theta);
    RC_ASSERT(summary.history.size() == 1u);
    // mu moved along chi(y') - chi(y'') alone
    double step = 0, squared = 0;
    for (std::size_t k = 0; k < length; ++k) {
      const double d = up[k] - down[k];
      step += d * (static_cast<double>(state.mu(0)[k]) - before.mu(0)[k]);
      squared += d * d;
    }
    step /= squared;
    for (std::size_t k = 0; k < length; ++k) {
      RC_ASSERT(std::abs(state.mu(0)[k] - before.mu(0)[k] - step * (up[k] - down[k])) < 1e-5);
    }
    // D along it is a parabola; its top, or the end of the mass
    const auto dual_at = [&](double t) {
      std::vector<double> delta(length);
      problem.add_gold(0, problem.weight(0), std::span<double>(delta));
      double cost = problem.cost_offset(0);
      std::vector<double> p(length);
      problem.add_cost(0, 1.0, std::span<double>(p));
      for (std::size_t k = 0; k < length; ++k) {
        const double m = before.mu(0)[k] + t * (up[k] - down[k]);
        delta[k] -= problem.weight(0) * m;
        cost += p[k] * m;
      }
      return problem.weight(0) * cost -
             problem.squared_norm(0, std::span<const double>(delta), ws) / (2 * objective.regularizer.l2);
    };
    std::vector<float> up_chi(up.begin(), up.end()), down_chi(down.begin(), down.end());
    std::vector<std::uint32_t> up_cliques(factored.num_cliques(0)), down_cliques(up_cliques.size());
    factored.cliques_of(0, up_chi, up_cliques);
    factored.cliques_of(0, down_chi, down_cliques);
    double most = 1;
    for (std::size_t c = 0; c < up_cliques.size(); ++c) {
      if (up_cliques[c] != down_cliques[c]) most = std::min<double>(most, before.cliques(0)[down_cliques[c]]);
    }
    if (mass == SmoMass::factored) {
      const double u = factored.probability(0, before.cliques(0), down_cliques);
      RC_ASSERT(u <= most * (1 + 1e-5));
      most = u;
    }
    RC_ASSERT(step <= most + 1e-6);
    const double reached = dual_at(step);
    for (int t = 0; t <= 20; ++t)
      RC_ASSERT(reached >= dual_at(most * t / 20) - 1e-5 * (1 + std::abs(reached)));
  }
}

// What u(y) is, against the distribution that marginals come from.
RC_GTEST_PROP(SmoProperties, ProbabilitiesAreThoseOfTheDistribution, ()) {
  const OwnedChainProblem owned(test_support::any_chain_data());
  const Problem& problem = owned.problem;
  const DualState dual = test_support::any_dual(problem);
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const Factored& factored = *problem.factored();
    std::vector<float> cliques(factored.num_clique_marginals(i)), mu(problem.num_statistics(i));
    std::vector<std::uint32_t> output(factored.num_cliques(i));
    const double log_z = factored.clique_marginals(i, dual.s(i), cliques, mu, ws);
    for (const Chain::Output& y : all_outputs(owned.problem.examples().structure(i))) {
      std::vector<float> chi(mu.size()), again(mu.size());
      owned.problem.examples().structure(i).indicator(y, chi);
      factored.cliques_of(i, chi, output);
      factored.add_output(i, output, 1, again);
      RC_ASSERT(again == chi);
      double score = 0;
      for (std::size_t k = 0; k < mu.size(); ++k) score += static_cast<double>(dual.s(i)[k]) * chi[k];
      const double u = std::exp(score - log_z);
      if (u > 1e-4) RC_ASSERT(std::abs(factored.probability(i, cliques, output) - u) < 2e-3 * u);
    }
  }
}

// Of sequences all of whose pairs have mass, against all of them; and none where there is no mass.
RC_GTEST_PROP(SmoProperties, LowestLooksAtOutputsWithMassAlone, ()) {
  const OwnedChainProblem owned(test_support::any_chain_data());
  const Factored& factored = *owned.problem.factored();
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Chain& chain = owned.problem.examples().structure(i);
    std::vector<float> cliques(factored.num_clique_marginals(i)), s(owned.problem.num_statistics(i));
    for (float& c : cliques) c = *rc::gen::arbitrary<bool>() ? 0.25f : 0.0f;
    for (float& x : s) x = static_cast<float>(*rc::gen::inRange(-100, 100));
    std::vector<std::uint32_t> output(factored.num_cliques(i));
    double expected = std::numeric_limits<double>::infinity();
    const Chain unconstrained = Chain(chain.length(), chain.num_labels());
    for (const Chain::Output& y : all_outputs(unconstrained)) {
      std::vector<float> chi(s.size());
      chain.indicator(y, chi);
      factored.cliques_of(i, chi, output);
      if (!std::all_of(output.begin(), output.end(), [&](auto c) { return cliques[c] > 0; })) continue;
      double score = 0;
      for (std::size_t k = 0; k < s.size(); ++k) score += static_cast<double>(s[k]) * chi[k];
      expected = std::min(expected, score);
    }
    const bool found = factored.lowest(i, s, cliques, output, ws);
    RC_ASSERT(found == std::isfinite(expected));
    if (!found) continue;
    std::vector<float> chi(s.size());
    factored.add_output(i, output, 1, chi);
    double score = 0;
    for (std::size_t k = 0; k < s.size(); ++k) score += static_cast<double>(s[k]) * chi[k];
    RC_ASSERT(score == expected);
    for (const auto c : output) RC_ASSERT(cliques[c] > 0);
  }
}

TEST(Smo, BeginsAtTheGoldOutputs) {
  const OwnedProblem classes(3);
  const OwnedChainProblem chains(3);
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    const CliqueState state = at_gold(*problem);
    const MeanState gold(*problem);
    for (std::size_t i = 0; i < state.size(); ++i) EXPECT_TRUE(std::ranges::equal(state.mu(i), gold.mu(i)));
    EXPECT_EQ(dual_of({*problem, Loss::svm(), 1}, state), 0);
  }
}

// Taking no more than the factored distribution has is what makes it slow on chains.
TEST(Smo, MassOfCliquesNeedsFewerPasses) {
  const OwnedChainProblem owned(7, {.sequences = 40, .longest = 8, .attributes = 30});
  const Objective objective{owned.problem, Loss::svm(), 1};
  SmoOptions options = for_passes(60);
  const Solution cliques(objective, options);
  options.mass = SmoMass::factored;
  const Solution factored(objective, options);
  EXPECT_LT(2 * cliques.last().gap(), factored.last().gap());
}

TEST(Smo, GoesOnFromTheMarginalsThatItIsGiven) {
  const OwnedChainProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 1};
  Solution solution(objective, for_passes(10));
  const double before = solution.last().dual;
  const Summary more = smo(objective, for_passes(0.01), solution.state, solution.theta);
  EXPECT_GE(more.history.front().dual, before - 1e-6 * before);
}

TEST(Smo, RefusesWhatItIsNotFor) {
  const OwnedProblem owned(1);
  const auto message = [](const Problem& problem, const Loss& loss) {
    return error_message([&] { check_smo(problem, loss); });
  };
  EXPECT_EQ(message(owned.problem, Loss::crf()),
            "smo: the loss crf has a finite beta; expected svm, or another loss with infinite beta");
  EXPECT_EQ(message(owned.problem, Loss::perceptron()),
            "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) "
            "or a finite beta");
  const OwnedDependencyProblem trees(1, {.shape = {false, false, 1}});
  const OwnedChainProblem second_order(1, {.order = 2});
  for (const Problem* problem :
       {static_cast<const Problem*>(&trees.problem), static_cast<const Problem*>(&second_order.problem)}) {
    EXPECT_EQ(message(*problem, Loss::svm()),
              "smo: this structure has no clique marginals (Factored); expected classes, chains whose labels "
              "interact in pairs, first-order projective trees, grammars or graphs with exact inference, or "
              "frank-wolfe, which makes similar moves on every structure");
  }
}

}  // namespace
}  // namespace espalier::smo_test
