#include "learning/cfg_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "support/certificate_checks.h"
#include "support/feature_checks.h"
#include "support/random_cfg_problem.h"
#include "support/random_objective.h"

namespace espalier::cfg_problem_test {
namespace {

using test_support::any_dual;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_weights;
using test_support::OwnedCfgProblem;
using test_support::RandomCfgOptions;
using test_support::squared_distance;

RandomCfgOptions any_options() {
  RandomCfgOptions options;
  options.sentences = *rc::gen::inRange<std::size_t>(1, 6);
  options.spans = *rc::gen::arbitrary<bool>();
  options.tags = *rc::gen::arbitrary<bool>();
  return options;
}
std::uint64_t any_seed() { return *rc::gen::arbitrary<std::uint64_t>(); }

// The bound on distances knows nothing of features that meet in one row: with so many rows they hardly do.
RandomCfgOptions any_options_with_many_rows() {
  RandomCfgOptions options = any_options();
  options.bits = 18;
  options.tag_bits = 16;
  return options;
}

RC_GTEST_PROP(CfgProblem, FeaturesAreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  const OwnedCfgProblem owned(seed, any_options_with_many_rows());
  Random random(seed);
  RC_ASSERT(test_support::check_double_features(owned.problem, random) == "");
}

RC_GTEST_PROP(CfgProblem, PrimalHasTheGradientThatAccumulates, (std::uint64_t seed)) {
  const OwnedCfgProblem owned(seed, any_options());
  Random random(seed);
  RC_ASSERT(test_support::check_gradient(owned.problem, random) == "");
}

// Labels over spans, counted from the rules of a derivation.
std::multiset<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> constituents(const Grammar& grammar,
                                                                                    const Derivation& y) {
  std::multiset<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> all;
  for (const Derivation::Node& node : y.nodes) {
    const auto add = [&](std::uint32_t symbol) {
      const std::uint32_t label = grammar.labels[symbol];
      if (label < grammar.num_constituents) all.emplace(label, node.begin, node.end);
    };
    if (node.end - node.begin > 1) add(grammar.binaries[node.rule].parent);
    if (node.unary == kNoRule) continue;
    add(grammar.unaries[node.unary].parent);
    for (const std::uint32_t symbol : grammar.unaries[node.unary].between) add(symbol);
  }
  return all;
}

RC_GTEST_PROP(CfgProblem, CostIsTheNumberOfConstituentsThatGoldHasNot, (std::uint64_t seed)) {
  const OwnedCfgProblem owned(seed, any_options());
  const Grammar& grammar = owned.index.grammar();
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Cfg& forest = owned.problem.examples().structure(i);
    const Derivation& gold = owned.sentences[i].gold;
    RC_ASSERT(owned.problem.cost_offset(i) == 0);
    std::vector<double> z(forest.num_statistics(), 0.25), chi(z.size()), p(z.size(), 0.0);
    std::vector<float> float_z(z.size(), 0.25f), float_p(z.size(), 0.0f), near(z.size(), 0.0f);
    owned.problem.add_gold(i, 2.0, z);
    owned.problem.add_gold(i, 2.0f, float_z);
    forest.indicator(gold, std::span(chi));
    for (std::size_t k = 0; k < z.size(); ++k) {
      RC_ASSERT(z[k] == 0.25 + 2 * chi[k]);
      RC_ASSERT(float_z[k] == z[k]);
    }
    owned.problem.add_cost(i, 0.5, p);
    owned.problem.add_cost(i, 0.5f, float_p);
    owned.problem.add_near_gold(i, 4.0f, near);
    const auto right = constituents(grammar, gold);
    for (const Derivation& y : all_outputs(forest)) {
      double wrong = 0;
      for (const auto& constituent : constituents(grammar, y)) wrong += right.count(constituent) == 0 ? 1 : 0;
      forest.indicator(y, std::span(chi));
      RC_ASSERT(test_support::score_of(std::span<const double>(p), chi) == 0.5 * wrong);
      RC_ASSERT(test_support::score_of(std::span<const float>(float_p), chi) == 0.5 * wrong);
      const double behind = -test_support::score_of(std::span<const float>(near), chi);
      const bool is_gold = y == gold;
      if (is_gold) RC_ASSERT(behind == 0);
      RC_ASSERT(behind >= 4 * wrong);
    }
  }
}

RC_GTEST_PROP(CfgProblem, SquaredDiameterBoundsTheDistanceOfAnyTwoDerivations, (std::uint64_t seed)) {
  const OwnedCfgProblem owned(seed, any_options_with_many_rows());
  Random random(seed);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto outputs = all_outputs(owned.problem.examples().structure(i));
    for (int pair = 0; pair < 30; ++pair) {
      const auto &a = outputs[random.below(outputs.size())], &b = outputs[random.below(outputs.size())];
      RC_ASSERT(squared_distance(owned.problem, i, a, b) <= owned.problem.squared_diameter(i));
    }
  }
}

RC_GTEST_PROP(CfgProblem, SharesAddUp, (std::uint64_t seed)) {
  const OwnedCfgProblem owned(seed, any_options());
  Random random(seed);
  RC_ASSERT(test_support::check_shares(owned.problem, random) == "");
}

// Steps in float may leave out what hardly moves, but nothing where all that moves moves alike: by a power of
// two, say.
RC_GTEST_PROP(CfgProblem, ChangesOfOneSizeAreAllTaken, (std::uint64_t seed)) {
  const OwnedCfgProblem owned(seed, any_options());
  Random random(seed);
  const float size = *rc::gen::element(1.0f, 0.5f, 0x1p-40f, 0x1p20f, 0.3f);
  RC_ASSERT(test_support::check_changes_of_one_size(owned.problem, size, random) == "");
}

RC_GTEST_PROP(CfgProblem, DualIsThatOfEnumeration, ()) {
  const OwnedCfgProblem owned(any_seed(), any_options());
  test_support::check_dual(owned.problem, any_loss(), any_l2(), any_dual(owned.problem));
}

RC_GTEST_PROP(CfgProblem, PrimalIsThatOfEnumeration, ()) {
  const OwnedCfgProblem owned(any_seed(), any_options());
  test_support::check_primal(owned.problem, any_loss(), any_l2(), any_weights(owned.problem));
}

RC_GTEST_PROP(CfgProblem, GapIsTheSumOfItsParts, ()) {
  const OwnedCfgProblem owned(any_seed(), any_options());
  test_support::check_gaps(owned.problem, any_loss(), any_l2(), any_weights(owned.problem),
                           any_dual(owned.problem));
}

TEST(CfgProblem, ShapeAndWeights) {
  const OwnedCfgProblem owned(2);
  const std::size_t rules = owned.index.num_rules();
  EXPECT_EQ(owned.problem.size(), 12u);
  // Rules fill whole cache lines; rows of 3 labels have 4 weights, those of 2 tags have 2.
  EXPECT_EQ(owned.problem.weight_shape(),
            (WeightShape{(rules + 15) / 16 * 16 + (1u << 8) * 4 + (1u << 6) * 2, 1}));
  EXPECT_EQ(owned.problem.weight(3), 1);
  EXPECT_NE(owned.problem.factored(), nullptr);
  EXPECT_TRUE(owned.problem.ranking());
  EXPECT_EQ(owned.problem.squared_change(0), 2 * owned.features.typical_size());
  EXPECT_EQ(owned.problem.sharing()->overlap(0), owned.features.common_share());
}

}  // namespace
}  // namespace espalier::cfg_problem_test
