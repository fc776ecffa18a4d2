#include "learning/multiclass_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "learning/clique_state.h"
#include "support/random_objective.h"
#include "support/random_scores.h"

namespace espalier::multiclass_problem_test {
namespace {

using test_support::OwnedProblem;

TEST(MulticlassProblem, GoldCostAndWeight) {
  SparseRows rows;
  rows.finish_row();
  rows.finish_row();
  const std::vector<float> costs{0, 1, 2, 3, 0, 4, 5, 6, 0};
  const MulticlassProblem problem(MulticlassExamples(rows, 1, {2, 0}, 3, costs, {0.5, 4}));
  EXPECT_EQ(problem.size(), 2u);
  EXPECT_EQ(problem.num_statistics(1), 3u);
  EXPECT_EQ(problem.weight_shape(), (WeightShape{1, 3}));
  EXPECT_EQ(problem.weight(0), 0.5);
  EXPECT_EQ(problem.weight(1), 4);
  EXPECT_EQ(problem.cost_offset(0), 0);

  std::vector<double> out{1, 1, 1};
  problem.add_gold(0, 2.0, out);
  EXPECT_EQ(out, (std::vector<double>{1, 1, 3}));
  problem.add_cost(0, 10.0, out);
  EXPECT_EQ(out, (std::vector<double>{51, 61, 3}));
  std::vector<float> narrow{0, 0, 0};
  problem.add_cost(1, -1.0f, narrow);
  EXPECT_EQ(narrow, (std::vector<float>{0, -1, -2}));
}

TEST(MulticlassProblem, WithoutCostsEveryOtherLabelCostsOne) {
  SparseRows rows;
  rows.finish_row();
  const MulticlassProblem problem(MulticlassExamples(rows, 1, {1}, 3));
  EXPECT_EQ(problem.weight(0), 1);
  std::vector<float> out(3);
  problem.add_cost(0, 2.0f, out);
  EXPECT_EQ(out, (std::vector<float>{2, 0, 2}));
}

// The one clique of an example is its label.
RC_GTEST_PROP(MulticlassProblem, FactoredAgreesWithInference, ()) {
  const OwnedProblem owned(test_support::any_data());
  const Factored* factored = owned.problem.factored();
  RC_ASSERT(factored != nullptr);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto scores = *test_support::finite_scores(owned.problem.num_statistics(i));
    const std::vector<float> s(scores.begin(), scores.end());
    std::vector<float> mu(s.size()), cliques(factored->num_clique_marginals(i)), statistics(s.size(), -1);
    const double log_z = owned.problem.log_partition(i, std::span<const float>(s), std::span(mu), ws);
    RC_ASSERT(factored->clique_marginals(i, s, cliques, statistics, ws) == log_z);
    RC_ASSERT(cliques == mu);
    RC_ASSERT(statistics == mu);
  }
}

// A step from duals anywhere: the dual gains what it says and w(u) stays what it was, and there is nothing
// left to gain from this example. Of all distributions, since the conditions of optimality of a concave
// function on a simplex are sufficient: all mass is on labels of highest score.
RC_GTEST_PROP(MulticlassProblem, MaximiseBlockIsTheMaximumOfOneExample, ()) {
  test_support::RandomDataOptions shape;
  shape.examples = 6;
  shape.labels = *rc::gen::inRange<std::size_t>(2, 40);
  shape.cost_matrix = *rc::gen::arbitrary<bool>();
  shape.weighted = *rc::gen::arbitrary<bool>();
  const OwnedProblem owned(*rc::gen::arbitrary<std::uint64_t>(), shape);
  const Problem& problem = owned.problem;
  RC_ASSERT(problem.block_maximisation());
  const Objective objective{
      problem, {Loss::svm().beta, *rc::gen::element(0.5, 1.0, 3.0)}, *rc::gen::element(0.05, 1.0, 20.0)};
  Workspace ws;
  Sweep sweep;
  CliqueState state(problem);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<float> s(shape.labels);
    for (float& x : s) x = static_cast<float>(*rc::gen::inRange(-60, 60)) * 0.1f;
    state.set_scores(problem, i, s, ws);
  }
  DualValue before, after;
  evaluate_dual(objective, state, before, sweep);
  Weights w;
  w.assign(before.w);

  const auto i = *rc::gen::inRange<std::size_t>(0, problem.size());
  const auto scores_at = [&](const DoubleWeights& at) {
    std::vector<double> s(shape.labels);
    problem.score(i, at, 1 / objective.regularizer.l2, s, ws);
    problem.add_cost(i, objective.loss.gamma, s);
    return s;
  };
  const auto gap_at = [&](const DoubleWeights& at) {
    const std::vector<double> s = scores_at(at);
    const In mu = std::as_const(state).cliques(i);
    const double highest = *std::max_element(s.begin(), s.end());
    double gap = 0;
    for (std::size_t k = 0; k < s.size(); ++k) gap += mu[k] * (highest - s[k]);
    return problem.weight(i) * gap;
  };
  double size = 1;
  for (const double x : scores_at(before.w)) size = std::max(size, std::abs(x));
  const double gap = gap_at(before.w);
  const BlockMaximum step = problem.block_maximisation()->maximise_block(
      i, objective.loss.gamma, objective.regularizer.l2, state.cliques(i), w, ws);
  evaluate_dual(objective, state, after, sweep);
  const double rounding = 2e-5 * size * problem.weight(i);
  RC_ASSERT(std::abs(step.gap - gap) < rounding);
  RC_ASSERT(step.gain >= -rounding);
  RC_ASSERT(std::abs(after.value - before.value - step.gain) < rounding + 1e-6 * std::abs(before.value));
  RC_ASSERT(gap_at(after.w) < rounding);
  for (std::size_t r = 0; r < w.shape().rows; ++r) {
    for (std::size_t k = 0; k < w.shape().width; ++k) {
      RC_ASSERT(std::abs(w.row(r)[k] - after.w.row(r)[k]) < 1e-5 * (1 + std::abs(after.w.row(r)[k])));
    }
  }
}

}  // namespace
}  // namespace espalier::multiclass_problem_test
