#include "learning/matching_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "support/all_matchings.h"
#include "support/certificate_checks.h"
#include "support/feature_checks.h"
#include "support/random_matching_problem.h"
#include "support/random_objective.h"

namespace espalier::matching_problem_test {
namespace {

using test_support::any_dual;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_weights;
using test_support::OwnedMatchingProblem;
using test_support::RandomMatchingOptions;

RandomMatchingOptions any_matchings(bool maxima = false) {
  RandomMatchingOptions options;
  options.pairs = *rc::gen::inRange<std::size_t>(1, 5);
  options.longest = *rc::gen::inRange<std::size_t>(1, 5);
  options.most = *rc::gen::inRange<std::size_t>(1, 3);
  options.maxima = maxima;
  return options;
}

RC_GTEST_PROP(MatchingProblem, FeaturesAreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  const OwnedMatchingProblem owned(seed, any_matchings());
  Random random(seed + 1);
  RC_ASSERT(test_support::check_features(owned.problem, random) == "");
}

RC_GTEST_PROP(MatchingProblem, SharesOfRowsAddUpToAllOfThem, (std::uint64_t seed)) {
  const OwnedMatchingProblem owned(seed, any_matchings());
  Random random(seed);
  RC_ASSERT(test_support::check_shares(owned.problem, random) == "");
}

// Marginals are the gradient of the bound, so the primal has the gradient that accumulates.
RC_GTEST_PROP(MatchingProblem, PrimalHasTheGradientThatAccumulates, (std::uint64_t seed)) {
  const OwnedMatchingProblem owned(seed, any_matchings());
  Random random(seed + 1);
  RC_ASSERT(test_support::check_gradient(owned.problem, random) == "");
}

RC_GTEST_PROP(MatchingProblem, CostCountsMissingAndWrongLinks, (std::uint64_t seed)) {
  const OwnedMatchingProblem owned(seed, any_matchings());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const MatchingExample& example = owned.data.examples[i];
    const std::size_t length = example.structure.num_statistics();
    const auto has = [](const std::vector<std::uint32_t>& list, std::uint32_t e) {
      return std::find(list.begin(), list.end(), e) != list.end();
    };
    std::vector<double> z(length, 0.25), p(length), chi(length);
    std::vector<float> near(length);
    owned.problem.add_gold(i, 2.0, z);
    owned.problem.add_cost(i, 1.0, p);
    owned.problem.add_near_gold(i, 4.0f, near);
    for (std::uint32_t e = 0; e < length; ++e) RC_ASSERT(z[e] == (has(example.gold, e) ? 2.25 : 0.25));
    for (const auto& y : all_outputs(example.structure)) {
      double cost = 0, differs = 0;
      for (std::uint32_t e = 0; e < length; ++e) {
        if (has(y, e) == has(example.gold, e)) continue;
        differs += 1;
        cost += has(example.free, e) ? 0 : has(example.gold, e) ? example.missing : 1;
      }
      example.structure.indicator(y, std::span(chi));
      RC_ASSERT(test_support::score_of(std::span<const double>(p), chi) + owned.problem.cost_offset(i) ==
                cost);
      RC_ASSERT(test_support::score_of(std::span<const float>(near), chi) ==
                4 * (static_cast<double>(example.gold.size()) - differs));
    }
  }
}

RC_GTEST_PROP(MatchingProblem, SquaredDiameterBoundsTheDistanceFromGold, (std::uint64_t seed)) {
  const OwnedMatchingProblem owned(seed, any_matchings());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const MatchingExample& example = owned.data.examples[i];
    for (const auto& y : all_outputs(example.structure)) {
      RC_ASSERT(test_support::squared_distance(owned.problem, i, example.gold, y) <=
                owned.problem.squared_diameter(i) * (1 + 1e-6));
    }
  }
}

// Of maxima, the primal is that of enumeration; of others, above it.
RC_GTEST_PROP(MatchingProblem, PrimalIsThatOfEnumerationOrAboveIt, (std::uint64_t seed)) {
  const Loss loss = any_loss();
  const OwnedMatchingProblem owned(seed, any_matchings(!loss.smooth()));
  const double l2 = any_l2();
  const Weights theta = any_weights(owned.problem);
  const double expected = test_support::enumerate_primal(owned.problem, loss, l2, theta);
  const double primal = evaluate_primal({owned.problem, loss, l2}, theta);
  const double tolerance = 1e-12 * (1 + expected + 1 / loss.beta);
  RC_ASSERT(primal >= expected - tolerance);
  if (!loss.smooth()) RC_ASSERT(primal <= expected + tolerance);
  RC_ASSERT(owned.problem.inference() == (loss.smooth() ? Inference::relaxed : Inference::exact));
}

// Of any weights and any dual, and for maxima of the problem itself.
RC_GTEST_PROP(MatchingProblem, DualIsBelowPrimal, (std::uint64_t seed)) {
  const Loss loss = any_loss();
  RandomMatchingOptions options = any_matchings(!loss.smooth());
  options.longest = std::min<std::size_t>(options.longest, 3);
  const OwnedMatchingProblem owned(seed, options);
  const double l2 = any_l2();
  const Weights theta = any_weights(owned.problem);
  const Certificate certificate = certify({owned.problem, loss, l2}, theta, any_dual(owned.problem));
  RC_ASSERT(certificate.dual <=
            certificate.primal + 1e-9 * (1 + std::abs(certificate.primal) + std::abs(certificate.dual)));
  if (!loss.smooth()) {
    RC_ASSERT(certificate.dual <=
              test_support::enumerate_primal(owned.problem, loss, l2, theta) + 1e-9 * certificate.primal);
  }
}

}  // namespace
}  // namespace espalier::matching_problem_test
