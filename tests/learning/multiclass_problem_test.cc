#include "espalier/learning/multiclass_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/random_objective.h"
#include "support/random_scores.h"

namespace espalier {
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

// Clique marginals add up to the statistics, and their entropy is log Z - s.mu.
RC_GTEST_PROP(MulticlassProblem, FactoredAgreesWithInference, ()) {
  const OwnedProblem owned(test_support::any_data());
  const Factored* factored = owned.problem.factored();
  RC_ASSERT(factored != nullptr);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto s = *test_support::finite_scores(owned.problem.num_statistics(i));
    std::vector<double> mu(s.size()), cliques(factored->num_clique_marginals(i)), again(cliques.size());
    std::vector<double> statistics(s.size(), -1), clique_scores(cliques.size());
    const double log_z = owned.problem.log_partition(i, std::span<const double>(s), std::span(mu), ws);
    factored->clique_marginals(i, s, cliques, ws);
    factored->statistics(i, cliques, statistics);
    double mean = 0;
    for (std::size_t k = 0; k < s.size(); ++k) {
      RC_ASSERT(std::abs(statistics[k] - mu[k]) <= 1e-14);
      mean += s[k] * mu[k];
    }
    RC_ASSERT(std::abs(factored->clique_entropy(i, cliques) - (log_z - mean)) <=
              1e-14 * (10 + std::abs(log_z)));
    factored->log_conditionals(i, cliques, clique_scores);
    factored->clique_marginals(i, clique_scores, again, ws);
    for (std::size_t k = 0; k < cliques.size(); ++k) RC_ASSERT(std::abs(again[k] - cliques[k]) <= 1e-14);
  }
}

}  // namespace
}  // namespace espalier
