#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

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

}  // namespace
}  // namespace espalier::list_changes_test
