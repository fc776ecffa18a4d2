// The loss of labels that are partly known, against sums over all label sequences.

#include "learning/chain_latent_gold.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/learning/dual_state.h"
#include "structures/chain.h"
#include "support/certificate_checks.h"
#include "support/partial_chain.h"
#include "support/random_objective.h"

namespace espalier {
namespace {

using test_support::any_chain_data;
using test_support::any_l2;
using test_support::any_loss;
using test_support::any_weights;
using test_support::ChainData;
using test_support::OwnedPartialChain;
using test_support::score_of;

OwnedPartialChain any_partial_chain() {
  ChainData data = any_chain_data();
  std::vector<float> costs;
  if (*rc::gen::arbitrary<bool>()) {
    const std::size_t labels = data.shape.num_labels;
    for (std::size_t k = 0; k < labels * labels; ++k) {
      costs.push_back(k % (labels + 1) == 0 ? 0 : static_cast<float>(*rc::gen::inRange(0, 9)) / 4);
    }
  }
  return {std::move(data), *rc::gen::element(0.3, 1.0), *rc::gen::arbitrary<std::uint64_t>(), costs};
}

// 1/beta log sum exp(beta x), or the largest x.
double soft_maximum(const std::vector<double>& x, const Loss& loss) {
  const double highest = *std::max_element(x.begin(), x.end());
  if (!loss.smooth()) return highest;
  double sum = 0;
  for (const double value : x) sum += std::exp(loss.beta * (value - highest));
  return highest + std::log(sum) / loss.beta;
}

// The cost of a sequence of labels against the most forgiving of those that are possible, token by token.
double cost_of(const OwnedPartialChain& owned, std::size_t i, const Chain::Output& y) {
  const std::size_t labels = owned.data.shape.num_labels;
  const PartialGold::Sequence* sequence = std::as_const(*owned.partial).find(i);
  double cost = 0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    double least = 1e9;
    for (std::uint32_t gold = 0; gold < labels; ++gold) {
      const bool possible = sequence ? sequence->allowed[t * labels + gold] != 0
                                     : gold == owned.data.gold[owned.data.sequences.offsets[i] + t];
      if (!possible) continue;
      const double pair = owned.costs.empty() ? 1 : owned.costs[gold * labels + y[t]];
      least = std::min(least, gold == y[t] ? 0 : pair);
    }
    cost += least;
  }
  return cost;
}

std::vector<double> chi_of(const Chain& chain, const Chain::Output& y) {
  std::vector<double> chi(chain.num_statistics());
  chain.indicator(y, std::span(chi));
  return chi;
}

// T(theta), by enumeration.
double true_objective(const OwnedPartialChain& owned, const Loss& loss, double l2, const Weights& theta) {
  double value = l2 / 2 * euclidean_squared_norm(theta);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Chain chain = owned.problem.examples().structure(i);
    std::vector<double> s(chain.num_statistics()), all, possible;
    owned.problem.score(i, theta, 1.0, s, ws);
    for (const auto& y : all_outputs(chain)) {
      all.push_back(score_of(std::span<const double>(s), chi_of(chain, y)) +
                    loss.gamma * cost_of(owned, i, y));
    }
    for (const auto& y : owned.allowed_outputs(i)) {
      possible.push_back(score_of(std::span<const double>(s), chi_of(chain, y)));
    }
    value += owned.problem.weight(i) * (soft_maximum(all, loss) - soft_maximum(possible, loss));
  }
  return value;
}

double by_inference(const OwnedPartialChain& owned, const Loss& loss, double l2, const Weights& theta) {
  Workspace ws;
  return evaluate_primal({owned.problem, loss, l2}, theta) - owned.latent.surplus(theta, loss);
}

RC_GTEST_PROP(ChainLatentGold, ThePrimalLessTheSurplusIsTheTrueObjective, ()) {
  OwnedPartialChain owned = any_partial_chain();
  const Loss loss = any_loss();
  const double l2 = any_l2();
  const Weights theta = any_weights(owned.problem), other = any_weights(owned.problem);
  const double expected = true_objective(owned, loss, l2, theta);
  // Whatever the gold statistics are.
  RC_ASSERT(std::abs(by_inference(owned, loss, l2, theta) - expected) <= 1e-10 * (1 + expected));
  owned.latent.complete(other, loss);
  RC_ASSERT(std::abs(by_inference(owned, loss, l2, theta) - expected) <= 1e-10 * (1 + expected));
}

RC_GTEST_PROP(ChainLatentGold, CompletesByTheMeanOverWhatIsPossible, ()) {
  OwnedPartialChain owned = any_partial_chain();
  const Loss loss = any_loss();
  const Weights theta = any_weights(owned.problem);
  owned.latent.complete(theta, loss);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Chain chain = owned.problem.examples().structure(i);
    std::vector<double> s(chain.num_statistics()), z(s.size()), scores, expected(s.size());
    owned.problem.score(i, theta, 1.0, s, ws);
    owned.problem.add_gold(i, 1.0, z);
    const auto outputs = owned.allowed_outputs(i);
    for (const auto& y : outputs) scores.push_back(score_of(std::span<const double>(s), chi_of(chain, y)));
    const double highest = *std::max_element(scores.begin(), scores.end());
    if (!loss.smooth()) {
      // One of the best: its statistics, and none but whole ones.
      RC_ASSERT(std::abs(score_of(std::span<const double>(s), z) - highest) <=
                1e-10 * (1 + std::abs(highest)));
      bool possible = false;
      for (const auto& y : outputs) possible = possible || chi_of(chain, y) == z;
      RC_ASSERT(possible);
      continue;
    }
    double sum = 0;
    for (const double score : scores) sum += std::exp(loss.beta * (score - highest));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::vector<double> chi = chi_of(chain, outputs[k]);
      for (std::size_t j = 0; j < z.size(); ++j) {
        expected[j] += std::exp(loss.beta * (scores[k] - highest)) / sum * chi[j];
      }
    }
    for (std::size_t j = 0; j < z.size(); ++j) RC_ASSERT(std::abs(z[j] - expected[j]) <= 1e-10);
  }
}

// What CCCP rests on: the convex objective with the statistics of theta lies above the true one everywhere,
// but for a constant, and touches it at theta.
RC_GTEST_PROP(ChainLatentGold, TheConvexObjectiveIsABoundThatIsTight, ()) {
  OwnedPartialChain owned = any_partial_chain();
  const Loss loss = any_loss();
  const double l2 = any_l2();
  const Weights theta = any_weights(owned.problem), other = any_weights(owned.problem);
  owned.latent.complete(theta, loss);
  Workspace ws;
  const Objective objective{owned.problem, loss, l2};
  const double constant = owned.latent.surplus(theta, loss);
  const double bound = evaluate_primal(objective, other) - constant;
  const double truth = true_objective(owned, loss, l2, other);
  RC_ASSERT(bound >= truth - 1e-10 * (1 + truth + std::abs(constant)));
}

// l2 theta + sum_i omega_i F_i(pi_i - z_i), with the statistics of theta itself, against differences of the
// true objective.
RC_GTEST_PROP(ChainLatentGold, TheGradientOfTheTrueObjective, ()) {
  OwnedPartialChain owned = any_partial_chain();
  const Loss loss = test_support::any_smooth_loss();
  const double l2 = 0.5;
  const Weights theta =
      test_support::random_weights(*rc::gen::arbitrary<std::uint64_t>(), owned.problem.weight_shape(), 1.0);
  owned.latent.complete(theta, loss);
  const Objective objective{owned.problem, loss, l2};
  DoubleWeights gradient(owned.problem.weight_shape());
  gradient.assign(theta, l2);
  Workspace ws;
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    std::vector<double> s(owned.problem.num_statistics(i)), pi(s.size());
    example_loss(objective, i, theta, s, pi, ws);
    const double omega = owned.problem.weight(i);
    for (double& p : pi) p *= omega;
    owned.problem.add_gold(i, -omega, pi);
    owned.problem.accumulate(i, std::span<const double>(pi), gradient, ws);
  }
  const std::size_t row = *rc::gen::inRange<std::size_t>(0, theta.shape().rows);
  const std::size_t label = *rc::gen::inRange<std::size_t>(0, theta.shape().width);
  Weights up = theta, down = theta;
  constexpr float kStep = 0x1p-10f;
  up.row(row)[label] += kStep;
  down.row(row)[label] -= kStep;
  const double width = static_cast<double>(up.row(row)[label]) - down.row(row)[label];
  const double slope = (true_objective(owned, loss, l2, up) - true_objective(owned, loss, l2, down)) / width;
  RC_ASSERT(std::abs(slope - gradient.row(row)[label]) <= 2e-4 * (1 + std::abs(slope)));
}

// Weak duality and everything about certificates holds for gold statistics that are no indicator.
RC_GTEST_PROP(ChainLatentGold, DualsBoundTheConvexObjective, ()) {
  OwnedPartialChain owned = any_partial_chain();
  const Loss loss = any_loss();
  const Objective objective{owned.problem, loss, any_l2()};
  owned.latent.complete(any_weights(owned.problem), loss);
  const Certificate certificate =
      certify(objective, any_weights(owned.problem), test_support::any_dual(owned.problem));
  RC_ASSERT(certificate.gap() >= -1e-9 * (1 + std::abs(certificate.primal) + std::abs(certificate.dual)));
}

// theta = 0 says that all that is possible is equally likely, whatever the loss.
TEST(ChainLatentGold, StartsWithTheMeanOfWhatIsPossible) {
  const OwnedPartialChain owned(test_support::random_chain_data(3), 0.7, 4);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const Chain chain = owned.problem.examples().structure(i);
    std::vector<double> z(chain.num_statistics()), mean(z.size());
    owned.problem.add_gold(i, 1.0, z);
    const auto outputs = owned.allowed_outputs(i);
    for (const auto& y : outputs) {
      const std::vector<double> chi = chi_of(chain, y);
      for (std::size_t k = 0; k < z.size(); ++k) mean[k] += chi[k] / static_cast<double>(outputs.size());
    }
    for (std::size_t k = 0; k < z.size(); ++k) EXPECT_NEAR(z[k], mean[k], 1e-14) << i << ' ' << k;
  }
}

// The start near gold has their marginals, or those of the gold labels, whatever mistakes cost.
TEST(ChainLatentGold, DualsStartNearTheGoldStatistics) {
  test_support::RandomChainOptions options;
  options.transitions = test_support::Transitions::different;
  std::vector<float> costs(9, 0.0f);
  costs[1] = 1000;
  OwnedPartialChain owned(test_support::random_chain_data(5, options), 0.7, 6, costs);
  owned.latent.complete(test_support::random_weights(7, owned.problem.weight_shape(), 1.0), Loss::svm());
  DualState dual(owned.problem);
  dual.start_near_gold(owned.problem, 12);
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    std::vector<float> z(owned.problem.num_statistics(i));
    owned.problem.add_gold(i, 1.0f, z);
    for (std::size_t k = 0; k < z.size(); ++k) EXPECT_NEAR(dual.mu(i)[k], z[k], 5 * 3 * std::exp(-12.0));
  }
}

}  // namespace
}  // namespace espalier
