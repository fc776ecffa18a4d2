// Problem::ranking, for every structure.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "base/random.h"
#include "learning/subset_problem.h"
#include "support/enumerated_objective.h"
#include "support/random_objective.h"

namespace espalier::kbest_test {
namespace {

using test_support::any_chain_data_of_any_shape;
using test_support::any_data;
using test_support::any_dependencies;
using test_support::enumerate_example;
using test_support::EnumeratedExample;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::score_of;

// The scores of the k best outputs, best first, and no output twice.
template <class Examples>
void check_kbest(const StructuredProblem<Examples>& problem, std::size_t k) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> s(problem.num_statistics(i)), chis{-7}, scores;
    for (double& x : s) x = 2 * random.uniform() - 1;
    const EnumeratedExample e = enumerate_example(problem, i);
    for (const auto& chi : e.chi) scores.push_back(score_of<double>(s, chi));
    std::sort(scores.begin(), scores.end(), std::greater<>());

    const std::size_t found = problem.ranking()->kbest(i, s, k, chis, ws);
    RC_ASSERT(found == std::min(k, e.chi.size()));
    RC_ASSERT(chis.size() == found * s.size());
    std::set<std::vector<double>> seen;
    for (std::size_t r = 0; r < found; ++r) {
      const std::vector<double> chi(chis.begin() + static_cast<std::ptrdiff_t>(r * s.size()),
                                    chis.begin() + static_cast<std::ptrdiff_t>((r + 1) * s.size()));
      RC_ASSERT(std::find(e.chi.begin(), e.chi.end(), chi) != e.chi.end());
      RC_ASSERT(seen.insert(chi).second);
      RC_ASSERT(std::abs(score_of<double>(s, chi) - scores[r]) < 1e-9);
    }
  }
}

RC_GTEST_PROP(Kbest, Classes, ()) {
  const OwnedProblem owned(any_data());
  RC_ASSERT(owned.problem.ranking());
  check_kbest(owned.problem, *rc::gen::inRange<std::size_t>(1, 8));
}

RC_GTEST_PROP(Kbest, Chains, ()) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  RC_ASSERT(owned.problem.ranking());
  check_kbest(owned.problem, *rc::gen::inRange<std::size_t>(1, 8));
}

RC_GTEST_PROP(Kbest, Trees, ()) {
  auto data = any_dependencies();
  // Trees are ranked with their best labels: where there is but one, those are all outputs.
  RC_PRE(data.shape.num_labels == 1u);
  const OwnedDependencyProblem owned(std::move(data));
  if (owned.problem.ranking()) check_kbest(owned.problem, *rc::gen::inRange<std::size_t>(1, 8));
}

TEST(Kbest, SecondOrderHasNone) {
  test_support::RandomDependencyOptions options;
  options.second_order = true;
  const OwnedDependencyProblem owned(1, options);
  EXPECT_EQ(owned.problem.ranking(), nullptr);
  EXPECT_EQ(SubsetProblem(owned.problem, {0}).ranking(), nullptr);
}

TEST(Kbest, OfASubsetIsThatOfTheWhole) {
  const OwnedChainProblem owned(2);
  const SubsetProblem subset(owned.problem, {4, 1});
  ASSERT_TRUE(subset.ranking());
  const std::vector<double> s(owned.problem.num_statistics(1), 0.25);
  std::vector<double> chis, expected;
  Workspace ws;
  EXPECT_EQ(subset.ranking()->kbest(1, s, 3, chis, ws),
            owned.problem.ranking()->kbest(1, s, 3, expected, ws));
  EXPECT_EQ(chis, expected);
}

}  // namespace
}  // namespace espalier::kbest_test
