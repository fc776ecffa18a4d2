#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/team.h"
#include "features/owned_rows.h"
#include "support/feature_checks.h"
#include "support/random_chain.h"
#include "support/random_problem.h"

namespace espalier::list_changes_test {
namespace {

using test_support::check_shares;

RC_GTEST_PROP(ListChanges, OfClassesAreThoseOfAccumulate, (std::uint64_t seed)) {
  test_support::RandomDataOptions options;
  options.labels = *rc::gen::inRange<std::size_t>(2, 70);
  options.unit_values = *rc::gen::arbitrary<bool>();
  Random random(seed);
  RC_ASSERT(check_shares(test_support::OwnedProblem(seed, options).problem, random) == "");
}

// All features and observed ones, by pairs and by rows; steps with and without input, and n-grams.
RC_GTEST_PROP(ListChanges, OfChainsAreThoseOfAccumulate, (std::uint64_t seed)) {
  test_support::RandomChainOptions options;
  options.sequences = 5;
  options.longest = 12;
  options.labels = *rc::gen::inRange<std::size_t>(2, 40);
  options.density = 0.3;
  options.unit_values = *rc::gen::arbitrary<bool>();
  options.observed = *rc::gen::arbitrary<bool>();
  options.transitions = *rc::gen::element(test_support::Transitions::tied, test_support::Transitions::few);
  options.order = *rc::gen::inRange<std::size_t>(1, 3);
  test_support::ChainData data = test_support::random_chain_data(seed, options);
  Random random(seed);
  RC_ASSERT(check_shares(test_support::OwnedChainProblem(data).problem, random) == "");
  if (!options.observed || data.shape.steps || !rows_may_be_observed(options.labels)) return;
  data.shape.by_rows = true;
  RC_ASSERT(check_shares(test_support::OwnedChainProblem(data).problem, random) == "");
}

// Every row is given to one owner, in the order of tokens.
TEST(ListChanges, RowsOfChainsAreFoundBefore) {
  test_support::RandomChainOptions options;
  options.unit_values = true;
  Team team(2);
  const test_support::ChainData data = test_support::random_chain_data(1, options);
  const test_support::OwnedChainProblem plain(data);
  const auto owned = plain.problem.sharing()->owned_rows(3, team);
  ASSERT_TRUE(owned);
  const Sequences& sequences = data.sequences;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    std::size_t found = 0, expected = 0;
    for (std::size_t share = 0; share < 3; ++share) {
      const kernels::OwnedTokens rows = owned->of(i, share);
      found += rows.size;
      EXPECT_TRUE(std::is_sorted(rows.tokens, rows.tokens + rows.size));
      const RowBlock& block = owned->block();
      for (std::size_t j = 0; j < rows.size; ++j)
        EXPECT_EQ(RowChanges<float>::owner(block.first + rows.ids[j] * block.stride, 3), share);
    }
    for (std::size_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; ++t)
      expected += sequences.tokens.row(t).ids.size();
    EXPECT_EQ(found, expected) << "sequence " << i;
  }
  // Numbers would have to be multiplied.
  options.unit_values = false;
  const test_support::ChainData numbers = test_support::random_chain_data(1, options);
  EXPECT_FALSE(test_support::OwnedChainProblem(numbers).problem.sharing()->owned_rows(3, team));
}

}  // namespace
}  // namespace espalier::list_changes_test
