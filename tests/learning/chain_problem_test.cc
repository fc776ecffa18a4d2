#include "learning/chain_problem.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "support/certificate_checks.h"
#include "support/feature_checks.h"
#include "support/log_conditionals.h"
#include "support/random_objective.h"
#include "support/random_scores.h"

namespace espalier::chain_problem_test {
namespace {

using test_support::any_chain_data;
using test_support::any_chain_data_of_any_shape;
using test_support::any_dual;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_weights;
using test_support::ChainData;
using test_support::check_features;
using test_support::check_gradient;
using test_support::OwnedChainProblem;
using test_support::squared_distance;

RC_GTEST_PROP(ChainProblem, FeaturesAreALinearOperatorAndItsAdjoint, (std::uint64_t seed)) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  Random random(seed);
  RC_ASSERT(check_features(owned.problem, random) == "");
}

// Wide rows of labels, which vectors do not divide, and more of them than can be enumerated.
RC_GTEST_PROP(ChainProblem, FeaturesOfManyLabels, (std::uint64_t seed)) {
  test_support::RandomChainOptions options;
  options.sequences = 3;
  options.longest = 20;
  options.labels = *rc::gen::inRange<std::size_t>(6, 40);
  options.attributes = 40;
  options.density = 0.1;
  options.transitions = *rc::gen::element(test_support::Transitions::tied, test_support::Transitions::few,
                                          test_support::Transitions::different);
  options.unit_values = *rc::gen::arbitrary<bool>();
  options.observed = *rc::gen::arbitrary<bool>();
  options.order = *rc::gen::inRange<std::size_t>(1, 4);
  const OwnedChainProblem owned(seed, options);
  Random random(seed + 1);
  RC_ASSERT(check_features(owned.problem, random) == "");
}

// Weights of observed features that lie by rows are those by pairs, and zeros that stay zero.
RC_GTEST_PROP(ChainProblem, ObservedFeaturesByRowsAreThoseByPairs, (std::uint64_t seed)) {
  test_support::RandomChainOptions options;
  options.sequences = 4;
  options.longest = 12;
  options.labels = *rc::gen::inRange<std::size_t>(5, 65);
  options.attributes = 30;
  options.density = 0.15;
  options.unit_values = *rc::gen::arbitrary<bool>();
  options.observed = true;
  options.order = *rc::gen::inRange<std::size_t>(1, 3);
  ChainData data = test_support::random_chain_data(seed, options);
  const OwnedChainProblem pairs(data);
  data.shape.by_rows = true;
  const OwnedChainProblem rows(data);
  RC_ASSERT(data.shape.num_weights() == pairs.problem.weight_shape().rows);

  Random random(seed + 1);
  const DoubleWeights by_pairs = test_support::random_double_weights(random, pairs.problem.weight_shape());
  const auto spread = [&](const DoubleWeights& from) {
    DoubleWeights to(rows.problem.weight_shape());
    for (std::size_t a = 0; a < data.shape.num_attributes; ++a) {
      for (std::size_t label = 0; label < data.shape.num_labels; ++label) {
        const auto place = pairs.data.shape.token_weight(a, label), here = data.shape.token_weight(a, label);
        RC_ASSERT(place.has_value() == here.has_value());
        if (here) to.row(here->row)[here->column] = from.row(place->row)[place->column];
      }
    }
    for (std::size_t k = 0; k < data.shape.num_ngrams(); ++k) {
      const WeightPlace here = data.shape.ngram_weight(k), place = pairs.data.shape.ngram_weight(k);
      to.row(here.row)[here.column] = from.row(place.row)[place.column];
    }
    return to;
  };
  const DoubleWeights by_rows = spread(by_pairs);
  DoubleWeights sum_of_pairs = by_pairs, sum_of_rows = by_rows;
  Weights in_float(rows.problem.weight_shape());
  in_float.assign(by_rows);
  Workspace ws;
  for (std::size_t i = 0; i < rows.problem.size(); ++i) {
    const std::size_t length = rows.problem.num_statistics(i);
    RC_ASSERT(length == pairs.problem.num_statistics(i));
    std::vector<double> s(length), expected(length), delta(length);
    rows.problem.score(i, by_rows, 0.5, s, ws);
    pairs.problem.score(i, by_pairs, 0.5, expected, ws);
    for (std::size_t k = 0; k < length; ++k) {
      RC_ASSERT(std::abs(s[k] - expected[k]) <= 1e-12 * (1 + std::abs(expected[k])));
      delta[k] = random.uniform() - 0.5;
    }
    rows.problem.accumulate(i, DoubleIn(delta), sum_of_rows, ws);
    pairs.problem.accumulate(i, DoubleIn(delta), sum_of_pairs, ws);
    const std::vector<float> rough(delta.begin(), delta.end());
    rows.problem.accumulate(i, In(rough), in_float, ws);
    const double norm = pairs.problem.squared_norm(i, DoubleIn(delta), ws);
    RC_ASSERT(std::abs(rows.problem.squared_norm(i, DoubleIn(delta), ws) - norm) <= 1e-12 * (1 + norm));
    RC_ASSERT(rows.problem.squared_diameter(i) == pairs.problem.squared_diameter(i));
  }
  const DoubleWeights sum = spread(sum_of_pairs);
  for (std::size_t j = 0; j < sum.values().size(); ++j) {
    RC_ASSERT(std::abs(sum_of_rows.values()[j] - sum.values()[j]) <= 1e-12 * (1 + std::abs(sum.values()[j])));
    RC_ASSERT(std::abs(in_float.values()[j] - sum.values()[j]) <= 1e-5 * (1 + std::abs(sum.values()[j])));
    if (sum.values()[j] == 0) {
      RC_ASSERT(sum_of_rows.values()[j] == 0);
      RC_ASSERT(in_float.values()[j] == 0);
    }
  }
}

RC_GTEST_PROP(ChainProblem, GoldIsTheGoldSequenceAndCostTheNumberOfWrongLabels, ()) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Chain chain = owned.problem.examples().structure(i);
    const Chain::Output gold = owned.gold(i);
    RC_ASSERT(owned.problem.num_statistics(i) == chain.num_statistics());
    RC_ASSERT(owned.problem.cost_offset(i) == 0);
    std::vector<double> z(chain.num_statistics(), 0.25), chi(z.size()), p(z.size(), 0.0);
    std::vector<float> float_z(z.size(), 0.25f), float_p(z.size(), 0.0f);
    owned.problem.add_gold(i, 2.0, z);
    owned.problem.add_gold(i, 2.0f, float_z);
    chain.indicator(gold, std::span(chi));
    for (std::size_t k = 0; k < z.size(); ++k) {
      RC_ASSERT(z[k] == 0.25 + 2 * chi[k]);
      RC_ASSERT(float_z[k] == z[k]);
    }
    owned.problem.add_cost(i, 0.5, p);
    owned.problem.add_cost(i, 0.5f, float_p);
    const auto outputs = all_outputs(chain);
    RC_ASSERT(std::count(outputs.begin(), outputs.end(), gold) == 1);
    for (const auto& y : outputs) {
      std::size_t wrong = 0;
      for (std::size_t t = 0; t < y.size(); ++t) wrong += y[t] != gold[t] ? 1 : 0;
      chain.indicator(y, std::span(chi));
      RC_ASSERT(test_support::score_of(std::span<const double>(p), chi) == 0.5 * static_cast<double>(wrong));
      RC_ASSERT(test_support::score_of(std::span<const float>(float_p), chi) ==
                0.5 * static_cast<double>(wrong));
    }
  }
}

TEST(ChainProblem, ShapeAndWeights) {
  ChainData data = test_support::random_chain_data(1);
  data.omega.assign(data.sequences.size(), 0.5);
  data.omega[1] = 4;
  const OwnedChainProblem weighted(data);
  EXPECT_EQ(weighted.problem.size(), 12u);
  EXPECT_EQ(weighted.problem.weight_shape(), (WeightShape{10 + 3 * 3, 3}));
  EXPECT_EQ(weighted.problem.weight(0), 0.5);
  EXPECT_EQ(weighted.problem.weight(1), 4);
  data.omega.clear();
  EXPECT_EQ(OwnedChainProblem(data).problem.weight(1), 1);
}

RC_GTEST_PROP(ChainProblem, InferenceObeysTheConstraints, ()) {
  ChainData data = any_chain_data_of_any_shape();
  RC_PRE(data.constraints.has_value());
  const OwnedChainProblem owned(data);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Chain chain = owned.problem.examples().structure(i);
    RC_ASSERT(chain.constraints() == &*owned.data.constraints);
    const auto s = *test_support::finite_scores(chain.num_statistics());
    const auto e = test_support::enumerate(chain, std::span<const double>(s));
    std::vector<double> mu(s.size()), best(s.size());
    const double log_z = owned.problem.log_partition(i, std::span<const double>(s), std::span(mu), ws);
    RC_ASSERT(std::abs(log_z - e.log_z) <= 1e-12 * (1 + e.largest));
    owned.problem.argmax(i, std::span<const double>(s), std::span(best), ws);
    RC_ASSERT(std::find(e.chi.begin(), e.chi.end(), best) != e.chi.end());
    for (std::size_t k = 0; k < mu.size(); ++k) {
      const bool possible =
          std::any_of(e.chi.begin(), e.chi.end(), [k](const std::vector<double>& chi) { return chi[k] > 0; });
      if (!possible) RC_ASSERT(mu[k] == 0);
    }
  }
}

// Clique marginals add up to the statistics, and their entropy is log Z - s.mu.
RC_GTEST_PROP(ChainProblem, FactoredAgreesWithInference, ()) {
  const OwnedChainProblem owned(any_chain_data());
  const Factored* factored = owned.problem.factored();
  RC_ASSERT(factored != nullptr);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto s = *test_support::finite_scores(owned.problem.num_statistics(i));
    const auto e = test_support::enumerate(owned.problem.examples().structure(i), std::span<const double>(s));
    const Chain chain = owned.problem.examples().structure(i);
    std::vector<double> mu(s.size()), cliques(factored->num_clique_marginals(i)), statistics(s.size(), -1);
    owned.problem.log_partition(i, std::span<const double>(s), std::span(mu), ws);
    chain.clique_marginals(s, cliques, ws);
    chain.statistics(cliques, statistics);
    for (std::size_t k = 0; k < s.size(); ++k) {
      RC_ASSERT(std::abs(statistics[k] - mu[k]) <= 1e-15 * (100 + e.largest));
    }
    RC_ASSERT(std::abs(chain.clique_entropy(cliques) - e.entropy) <= 1e-14 * (10 + e.largest));
  }
}

// The conditionals of clique marginals, multiplied along a sequence, are its probability.
RC_GTEST_PROP(ChainProblem, LogConditionalsAreTheLogarithmsOfTheDistribution, ()) {
  const OwnedChainProblem owned(any_chain_data());
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Chain chain = owned.problem.examples().structure(i);
    const std::size_t labels = chain.num_labels();
    const auto s = *test_support::finite_scores(chain.num_statistics());
    const auto e = test_support::enumerate(chain, std::span<const double>(s));
    std::vector<double> cliques(chain.num_clique_marginals()), conditionals(cliques.size());
    chain.clique_marginals(s, cliques, ws);
    test_support::log_conditionals(chain, cliques, conditionals);
    for (std::size_t y = 0; y < e.outputs.size(); ++y) {
      const Chain::Output& output = e.outputs[y];
      double sum = output.size() == 1 ? conditionals[output[0]] : 0;
      for (std::size_t t = 1; t < output.size(); ++t) {
        sum += conditionals[((t - 1) * labels + output[t - 1]) * labels + output[t]];
      }
      RC_ASSERT(std::abs(std::exp(sum) - e.probabilities[y]) <= 1e-14 * (10 + e.largest));
    }
  }
}

RC_GTEST_PROP(ChainProblem, PrimalHasTheGradientThatAccumulates, (std::uint64_t seed)) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  Random random(seed);
  RC_ASSERT(check_gradient(owned.problem, random) == "");
}

RC_GTEST_PROP(ChainProblem, SquaredDiameterBoundsTheDistanceOfAnyTwoOutputs, ()) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const auto outputs = all_outputs(owned.problem.examples().structure(i));
    const double diameter = owned.problem.squared_diameter(i);
    for (int pair = 0; pair < 500; ++pair) {
      const auto &a = outputs[random.below(outputs.size())], &b = outputs[random.below(outputs.size())];
      RC_ASSERT(squared_distance(owned.problem, i, a, b) <= diameter * (1 + 1e-13));
    }
  }
}

TEST(ChainProblem, NgramsHaveNoCliquesOfPairs) {
  EXPECT_NE(OwnedChainProblem(1).problem.factored(), nullptr);
  EXPECT_EQ(OwnedChainProblem(1, {.order = 2}).problem.factored(), nullptr);
  EXPECT_EQ(OwnedChainProblem(1, {.observed = true}).problem.factored(), nullptr);
  const OwnedChainProblem untied(1, {.transitions = test_support::Transitions::few, .observed = true});
  EXPECT_NE(untied.problem.factored(), nullptr) << "tables of pairs, as ever";
}

// With weights for all features and without constraints it is exact: the steps to and from a label meet in
// one table as often as they cancel there.
RC_GTEST_PROP(ChainProblem, SquaredChangeIsTheMeanOverOutputsThatDifferInOneLabel, ()) {
  ChainData data = any_chain_data();
  data.constraints = std::nullopt;
  RC_PRE(data.shape.num_labels > 1);
  const OwnedChainProblem owned(data);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    double sum = 0;
    std::size_t pairs = 0;
    for (const auto& y : all_outputs(owned.problem.examples().structure(i))) {
      for (std::size_t t = 0; t < y.size(); ++t) {
        Chain::Output other = y;
        for (other[t] = 0; other[t] < data.shape.num_labels; ++other[t]) {
          if (other[t] == y[t]) continue;
          sum += squared_distance(owned.problem, i, y, other);
          ++pairs;
        }
      }
    }
    const double mean = sum / static_cast<double>(pairs);
    RC_ASSERT(std::abs(owned.problem.squared_change(i) - mean) <= 1e-12 * mean);
  }
}

RC_GTEST_PROP(ChainProblem, DualIsThatOfEnumeration, ()) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  test_support::check_dual(owned.problem, any_loss(), any_l2(), any_dual(owned.problem));
}

RC_GTEST_PROP(ChainProblem, PrimalIsThatOfEnumeration, ()) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  test_support::check_primal(owned.problem, any_loss(), any_l2(), any_weights(owned.problem));
}

RC_GTEST_PROP(ChainProblem, GapIsTheSumOfItsParts, ()) {
  const OwnedChainProblem owned(any_chain_data_of_any_shape());
  test_support::check_gaps(owned.problem, any_loss(), any_l2(), any_weights(owned.problem),
                           any_dual(owned.problem));
}

}  // namespace
}  // namespace espalier::chain_problem_test
