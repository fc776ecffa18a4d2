#include "solvers/crew.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/team.h"
#include "espalier/solvers/registry.h"
#include "solvers/training.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier::crew_test {
namespace {

// Enough sequences for batches of sixteen, with much in common, as words have.
test_support::RandomChainOptions many_sequences() {
  test_support::RandomChainOptions options;
  options.sequences = 200;
  options.longest = 40;
  options.labels = 8;
  options.attributes = 150;
  options.density = 0.05;
  options.unit_values = true;
  return options;
}

// Visits that move by what depends on the example and on what others had done when they looked.
class Fake : public Visitor {
 public:
  Fake(const Problem& problem, const Weights& w) : problem_(problem), w_(w), s_(0) {}

  BlockStep visit(const BlockVisit& at, Out delta) override {
    if (at.example == fail_at) throw std::runtime_error("no such visit");
    s_.resize(delta.size());
    problem_.score(at.example, w_, 1.0f, Out(s_), ws_);
    for (std::size_t k = 0; k < delta.size(); ++k)
      delta[k] = 1e-2f * static_cast<float>(k % 3) - 1e-3f * s_[k];
    return {1, at.crowding, 2, at.example % 5 != 0};
  }
  void prefetch(std::size_t, Prefetch) const override {}

  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t fail_at = kNone;

 private:
  const Problem& problem_;
  const Weights& w_;
  AlignedVector<float> s_;
};

// A round with every example, some of them several times in a row.
std::vector<std::uint32_t> round_of(const Problem& problem) {
  std::vector<std::uint32_t> round;
  for (std::uint32_t i = 0; i < problem.size(); ++i) round.insert(round.end(), 1 + i % 4 / 3 * 3, i);
  return round;
}

struct Visited {
  Weights w;
  std::vector<std::size_t> examples;
  std::vector<double> crowding;
};

Visited visit_all(const Problem& problem, std::size_t threads) {
  Visited result{Weights(problem.weight_shape()), {}, {}};
  Team team(threads);
  Crew crew(problem, result.w, team, true, [&] { return std::make_unique<Fake>(problem, result.w); });
  const auto round = round_of(problem);
  for (int r = 0; r < 2; ++r) {
    crew.visit(round, [&](std::size_t i, const BlockStep& step) {
      result.examples.push_back(i);
      result.crowding.push_back(step.gain);
      return false;
    });
  }
  return result;
}

TEST(CrewParallel, EveryVisitOfARoundIsMadeOnce) {
  const test_support::OwnedChainProblem owned(3, many_sequences());
  for (const std::size_t threads : {1, 2, 7}) {
    const Visited visited = visit_all(owned.problem, threads);
    std::map<std::size_t, std::size_t> counts;
    for (const std::size_t i : visited.examples) ++counts[i];
    for (const std::uint32_t i : round_of(owned.problem)) EXPECT_GT(counts[i], 0u);
    for (const auto& [i, count] : counts) EXPECT_EQ(count, i % 4 == 3 ? 8u : 2u) << threads;
  }
}

TEST(CrewParallel, OneThreadSeesEveryStepAndCountsNoOthers) {
  const test_support::OwnedChainProblem owned(4, many_sequences());
  const Problem& problem = owned.problem;
  const Visited visited = visit_all(problem, 1);
  Weights w(problem.weight_shape());
  Fake fake(problem, w);
  Workspace ws;
  AlignedVector<float> memory;
  for (int r = 0; r < 2; ++r) {
    for (const std::uint32_t i : round_of(problem)) {
      memory.resize(problem.num_statistics(i));
      if (fake.visit({i, 1, 0}, Out(memory)).moved) problem.accumulate(i, In(memory), w, ws);
    }
  }
  EXPECT_TRUE(std::ranges::equal(w.values(), visited.w.values()));
  EXPECT_TRUE(std::ranges::all_of(visited.crowding, [](double c) { return c == 1; }));
}

// Also where a batch has an example that its round has several times: those have to be in different batches.
TEST(CrewParallel, SeveralThreadsLeaveTheSameBitsHoweverManyTheyAre) {
  const test_support::OwnedChainProblem owned(5, many_sequences());
  const Visited two = visit_all(owned.problem, 2);
  EXPECT_TRUE(std::ranges::any_of(two.crowding, [](double c) { return c > 1; }));
  for (const std::size_t threads : {3, 5, 16}) {
    const Visited more = visit_all(owned.problem, threads);
    EXPECT_TRUE(std::ranges::equal(two.w.values(), more.w.values())) << threads;
    EXPECT_EQ(two.examples, more.examples) << threads;
    EXPECT_EQ(two.crowding, more.crowding) << threads;
  }
}

TEST(CrewParallel, WhatAVisitThrowsEndsTheRound) {
  const test_support::OwnedChainProblem owned(6, many_sequences());
  for (const std::size_t threads : {1, 2, 7}) {
    Weights w(owned.problem.weight_shape());
    Team team(threads);
    Crew crew(owned.problem, w, team, true, [&] {
      auto fake = std::make_unique<Fake>(owned.problem, w);
      fake->fail_at = 120;
      return fake;
    });
    std::size_t visits = 0;
    const auto round = round_of(owned.problem);
    EXPECT_THROW(crew.visit(round, [&](std::size_t, const BlockStep&) { return ++visits, false; }),
                 std::runtime_error);
    EXPECT_LT(visits, round.size()) << threads;
  }
}

TEST(CrewParallel, EndsWithTheBatchInWhichItIsToldTo) {
  const test_support::OwnedChainProblem owned(7, many_sequences());
  for (const std::size_t threads : {1, 2, 7}) {
    Weights w(owned.problem.weight_shape());
    Team team(threads);
    Crew crew(owned.problem, w, team, true, [&] { return std::make_unique<Fake>(owned.problem, w); });
    std::size_t visits = 0;
    crew.visit(round_of(owned.problem), [&](std::size_t, const BlockStep&) { return ++visits >= 50; });
    EXPECT_GE(visits, 50u);
    EXPECT_LE(visits, threads == 1 ? 50u : 50 + 2 * crew.batch()) << threads;
  }
}

Weights trained(const std::string& solver, const Objective& objective, Threads threads,
                Summary* summary = nullptr) {
  SolverSettings settings;
  settings.threads = threads;
  settings.stopping.gap = 1e-3;
  settings.stopping.passes = 12;
  settings.report_every = 2;
  Training training;
  const Summary result = find_solver(solver, objective.loss).run(objective, settings, training, {});
  test_support::expect_gaps(result, solver);
  if (summary) *summary = result;
  return training.theta;
}

// Every block solver, on structures that it is for, with examples large enough for several threads.
TEST(CrewParallel, SolversLeaveTheSameBitsWithTwoThreadsAndMore) {
  const test_support::OwnedChainProblem chains(8, many_sequences());
  test_support::RandomDependencyOptions of_trees;
  of_trees.sentences = 40;
  of_trees.longest = 24;  // long ones are scored by several threads
  of_trees.shape.num_labels = 2;
  const test_support::OwnedDependencyProblem trees(8, of_trees);
  struct Named {
    std::string name;
    const Problem& problem;
    double l2;
  };
  for (const auto& [name, problem, l2] :
       {Named{"chains", chains.problem, 4}, Named{"trees", trees.problem, 100}}) {
    for (const std::string solver : {"eg", "sdca", "frank-wolfe", "smo"}) {
      if ((solver == "sdca" || solver == "smo") && !problem.factored()) continue;
      const Loss loss = solver == "eg" || solver == "sdca" ? Loss::softmax_margin() : Loss::svm();
      const Objective objective{problem, loss, l2};
      const Weights one = trained(solver, objective, 1), two = trained(solver, objective, 2);
      // The engine did go in batches.
      EXPECT_FALSE(std::ranges::equal(one.values(), two.values())) << solver << ", " << name;
      // Unless it is told not to.
      EXPECT_TRUE(std::ranges::equal(one.values(), trained(solver, objective, {3, false}).values()))
          << solver << ", " << name;
      for (const std::size_t threads : {3, 16}) {
        const Weights more = trained(solver, objective, threads);
        EXPECT_TRUE(std::ranges::equal(two.values(), more.values()))
            << solver << ", " << name << ", " << threads << " threads";
      }
    }
  }
}

// Where examples are too small, visits are those of one thread, whoever computes certificates.
TEST(CrewParallel, SmallExamplesAreVisitedOneAfterTheOther) {
  const test_support::OwnedProblem owned(3, {.examples = 200, .attributes = 20, .labels = 4});
  Weights w(owned.problem.weight_shape());
  Team team(4);
  const Crew crew(owned.problem, w, team, true, [&] { return std::make_unique<Fake>(owned.problem, w); });
  EXPECT_TRUE(crew.alone());
  EXPECT_EQ(crew.threads(), 1u);
  for (const std::string solver : {"frank-wolfe", "smo"}) {
    const Objective objective{owned.problem, Loss::svm(), 1};
    const Weights one = trained(solver, objective, 1), many = trained(solver, objective, 5);
    EXPECT_TRUE(std::ranges::equal(one.values(), many.values())) << solver;
  }
}

// The optimum does not depend on them, and passes little.
TEST(CrewParallel, SolversReachTheOptimumOfOneThread) {
  test_support::RandomChainOptions rare = many_sequences();  // attributes about as rare as those of words
  rare.attributes = 2000;
  rare.density = 0.004;
  const test_support::OwnedChainProblem owned(9, rare);
  for (const std::string solver : {"eg", "sdca", "frank-wolfe", "smo"}) {
    const bool smooth = solver == "eg" || solver == "sdca";
    const Objective objective{owned.problem, smooth ? Loss::crf() : Loss::svm(), smooth ? 2.0 : 10.0};
    SolverSettings settings;
    settings.stopping.gap = smooth ? 1e-5 : 1e-2;
    const auto run = [&](std::size_t threads) {
      settings.threads = threads;
      Training training;
      return find_solver(solver, objective.loss).run(objective, settings, training, {}).history.back();
    };
    const Progress alone = run(1), together = run(5);
    EXPECT_LE(together.relative_gap(), settings.stopping.gap) << solver;
    EXPECT_LE(together.dual, alone.primal) << solver;
    EXPECT_LE(alone.dual, together.primal) << solver;
    EXPECT_LE(together.passes, 1.6 * alone.passes) << solver;
  }
}

}  // namespace
}  // namespace espalier::crew_test
