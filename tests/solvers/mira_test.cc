#include "solvers/mira.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "espalier/learning/certificate.h"
#include "learning/forwarding_problem.h"
#include "solvers/dca.h"
#include "support/enumerated_objective.h"
#include "support/error_message.h"
#include "support/naive_online.h"
#include "support/random_objective.h"
#include "support/slack_qp.h"

namespace espalier::mira_test {
namespace {

using espalier::testing::error_message;
using test_support::any_chain_data;
using test_support::any_data;
using test_support::any_dependencies;
using test_support::any_l2;
using test_support::any_maximum_loss;
using test_support::distance;
using test_support::enumerate_example;
using test_support::enumerate_loss;
using test_support::EnumeratedExample;
using test_support::naive_online;
using test_support::NaiveOnline;
using test_support::online_order;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::random_weights;
using test_support::RandomDependencyOptions;
using test_support::score_of;
using test_support::slack_qp_optimum;

MiraOptions visits(std::size_t count, const Problem& problem, std::uint64_t seed, MiraUpdate update,
                   std::size_t k, bool average = false) {
  MiraOptions options;
  options.stopping.passes = static_cast<double>(count) / static_cast<double>(problem.size());
  options.stopping.gap = -1;  // go on, whatever the gap
  options.report_every = 1e9;
  options.seed = seed;
  options.average = average;
  options.update = update;
  options.k = k;
  return options;
}

MiraUpdate any_update() { return *rc::gen::element(MiraUpdate::max_loss, MiraUpdate::prediction); }

// Keeps what was last added to weights: trees leave out what hardly moves.
class WatchedProblem final : public ForwardingProblem {
 public:
  using ForwardingProblem::accumulate;
  using ForwardingProblem::ForwardingProblem;
  void accumulate(std::size_t i, In delta, Weights& w, Workspace& ws) const override {
    last.assign(delta.begin(), delta.end());
    all.emplace_back(i, last);
    inner_.accumulate(i, delta, w, ws);
  }
  mutable std::vector<double> last;
  mutable std::vector<std::pair<std::size_t, std::vector<double>>> all;
};

// What the first visit adds, against the problem that it solves, over the k best outputs by enumeration:
//   min l2/2 |theta' - theta|^2 + omega xi   such that   theta'.a_r >= gamma cost_r - xi,   xi >= 0.
// Its value there is the optimum, of the dual by enumeration of its active sets.
template <class Examples>
void check_first_visit(const StructuredProblem<Examples>& problem, std::size_t k) {
  const Loss loss = any_maximum_loss();
  const double l2 = any_l2();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const MiraUpdate update = any_update();
  // Not zero: of equal outputs, others than those of the enumeration might be chosen.
  const Weights start = random_weights(seed, problem.weight_shape(), *rc::gen::element(0.1, 1.0));
  const std::size_t i = online_order(problem.size(), seed, 1).front();
  const WatchedProblem watched(problem);
  Weights changed = start;
  mira({watched, loss, l2}, visits(1, problem, seed, update, k), changed);
  DoubleWeights theta, move(start.shape());
  theta.assign(start);
  Workspace ws;
  if (!watched.last.empty()) {
    problem.accumulate(i, std::span<const double>(watched.last), move, ws);
    problem.accumulate(i, std::span<const double>(watched.last), theta, ws);
  }

  const EnumeratedExample e = enumerate_example(problem, i);
  const auto before = enumerate_loss(problem, loss, i, start),
             after = enumerate_loss(problem, loss, i, theta);
  const auto ranked =
      enumerate_loss(problem, {loss.beta, update == MiraUpdate::max_loss ? loss.gamma : 0}, i, start);
  std::vector<std::size_t> outputs(e.chi.size());
  std::iota(outputs.begin(), outputs.end(), std::size_t{0});
  std::stable_sort(outputs.begin(), outputs.end(),
                   [&](std::size_t a, std::size_t b) { return ranked.margins[a] > ranked.margins[b]; });
  // Examples without features leave nothing but equal outputs: which of them come first is anyone's guess.
  const std::size_t rows = std::min(k, outputs.size());
  for (std::size_t r = 1; r < outputs.size() && r <= rows; ++r) {
    RC_PRE(ranked.margins[outputs[r - 1]] - ranked.margins[outputs[r]] > 1e-6);
  }
  outputs.resize(rows);

  std::vector<double> gram(rows * rows), b(rows);
  double slack = 0;
  std::vector<DoubleWeights> a(rows, DoubleWeights(problem.weight_shape()));
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<double> difference = e.z;
    for (std::size_t j = 0; j < difference.size(); ++j) difference[j] -= e.chi[outputs[r]][j];
    problem.accumulate(i, std::span<const double>(difference), a[r], ws);
    b[r] = before.margins[outputs[r]];
    slack = std::max(slack, after.margins[outputs[r]]);
    for (std::size_t t = 0; t <= r; ++t) {
      gram[r * rows + t] = gram[t * rows + r] =
          std::inner_product(a[r].values().begin(), a[r].values().end(), a[t].values().begin(), 0.0);
    }
  }
  const double cap = problem.weight(i) / l2;
  const double reached = euclidean_squared_norm(move) / 2 + cap * slack;
  const double optimum = slack_qp_optimum(gram, b, cap);
  // Scores are floats, and so is what is added.
  std::vector<double> s(e.z.size());
  problem.score(i, start, 1.0, s, ws);
  double scores = 1;
  for (const auto& chi : e.chi) scores = std::max(scores, std::abs(score_of<double>(s, chi)));
  double squared = 0;  // of the longest a_r, of which large multiples may cancel
  for (std::size_t r = 0; r < rows; ++r) squared = std::max(squared, gram[r * rows + r]);
  RC_ASSERT(std::abs(reached - optimum) <= 3e-6 * (optimum + cap * scores) + 2e-7 * cap * cap * squared);
}

RC_GTEST_PROP(Mira, FirstVisitOnClasses, ()) {
  const OwnedProblem owned(any_data());
  check_first_visit(owned.problem, *rc::gen::inRange<std::size_t>(1, 6));
}
RC_GTEST_PROP(Mira, FirstVisitOnChains, ()) {
  const OwnedChainProblem owned(any_chain_data());
  check_first_visit(owned.problem, *rc::gen::inRange<std::size_t>(1, 6));
}
RC_GTEST_PROP(Mira, FirstVisitOnTrees, ()) {
  // Trees are ranked with their best labels: without labels, those are all there are.
  auto data = any_dependencies();
  RC_PRE(data.shape.num_labels == 1u);
  const OwnedDependencyProblem owned(std::move(data));
  check_first_visit(owned.problem, owned.problem.ranking() ? *rc::gen::inRange<std::size_t>(1, 6) : 1);
}

// (15): eta(z_i - chi(y)), with the output that the problem chooses.
NaiveOnline naive_mira(const Objective& objective, MiraUpdate update, std::span<const std::size_t> order,
                       const Weights& start) {
  const Problem& problem = objective.problem;
  return naive_online(problem, order, start, [&](std::size_t i, const DoubleWeights& theta) {
    Workspace ws;
    std::vector<double> s(problem.num_statistics(i)), ranked, delta(s.size()), cost(s.size());
    problem.score(i, theta, 1.0, s, ws);
    problem.add_cost(i, objective.loss.gamma, cost);
    ranked = s;
    if (update == MiraUpdate::max_loss) problem.add_cost(i, objective.loss.gamma, ranked);
    problem.argmax(i, ranked, delta, ws);
    double loss = objective.loss.gamma * problem.cost_offset(i);
    for (std::size_t k = 0; k < s.size(); ++k) loss += (s[k] + cost[k]) * delta[k];
    for (double& d : delta) d = -d;
    problem.add_gold(i, 1.0, delta);
    std::vector<double> z(s.size());
    problem.add_gold(i, 1.0, z);
    loss -= std::inner_product(s.begin(), s.end(), z.begin(), 0.0);
    DoubleWeights gradient(problem.weight_shape());
    problem.accumulate(i, std::span<const double>(delta), gradient, ws);
    const double squared = euclidean_squared_norm(gradient);
    const double eta =
        squared > 0 ? std::min(problem.weight(i) / objective.regularizer.l2, loss / squared) : 0;
    for (double& d : delta) d *= eta;
    return delta;
  });
}

TEST(Mira, PassesInFull) {
  // Costs and features are irrational enough that no two outputs tie.
  const OwnedProblem owned(9);
  for (const double l2 : {0.3, 3.0, 100.0}) {
    for (const MiraUpdate update : {MiraUpdate::max_loss, MiraUpdate::prediction}) {
      const Objective objective{owned.problem, Loss::svm(), l2};
      const Weights start = random_weights(2, owned.problem.weight_shape(), 0.5);
      const std::size_t count = 4 * owned.problem.size() + 7;
      const auto expected =
          naive_mira(objective, update, online_order(owned.problem.size(), 5, count), start);
      Weights last = start, mean = start;
      mira(objective, visits(count, owned.problem, 5, update, 1), last);
      mira(objective, visits(count, owned.problem, 5, update, 1, true), mean);
      EXPECT_LT(distance(last, expected.last), 1e-5) << l2;
      EXPECT_LT(distance(mean, expected.mean), 1e-5) << l2;
    }
  }
}

// Martins et al. 2010: for the hinge loss dual coordinate ascent is 1-best MIRA with the max-loss update.
void expect_dca(const Problem& problem, std::uint64_t seed) {
  for (const double gamma : {1.0, 0.3}) {
    const Objective objective{problem, {Loss::svm().beta, gamma}, 2};
    const std::size_t count = 3 * problem.size();
    Weights by_mira = random_weights(seed, problem.weight_shape(), 0.5), by_dca = by_mira;
    const MiraOptions options = visits(count, problem, seed, MiraUpdate::max_loss, 1, true);
    mira(objective, options, by_mira);
    dca(objective, options, by_dca);
    EXPECT_LT(distance(by_mira, by_dca), 1e-5) << "seed " << seed << ", gamma " << gamma;
  }
}

TEST(Mira, IsDcaOfTheHingeLoss) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    expect_dca(OwnedProblem(seed).problem, seed);
    expect_dca(OwnedChainProblem(seed).problem, seed);
    expect_dca(OwnedDependencyProblem(seed).problem, seed);
  }
}

// Ranks, but knows the best output alone.
class OneBest final : public ForwardingProblem, private Ranking {
 public:
  using ForwardingProblem::ForwardingProblem;
  Capabilities capabilities() const override {
    Capabilities result = inner_.capabilities();
    result.ranking = this;
    return result;
  }

 private:
  std::size_t kbest(std::size_t i, DoubleIn s, std::size_t, std::vector<double>& chis,
                    Workspace& ws) const override {
    return inner_.ranking()->kbest(i, s, 1, chis, ws);
  }
};

TEST(Mira, BestOfOneIsTheBest) {
  for (const MiraUpdate update : {MiraUpdate::max_loss, MiraUpdate::prediction}) {
    const OwnedChainProblem owned(4);
    const OneBest problem(owned.problem);
    Weights one = random_weights(3, problem.weight_shape(), 0.5), several = one;
    const std::size_t count = 3 * problem.size();
    mira({problem, Loss::svm(), 2}, visits(count, problem, 1, update, 1, true), one);
    mira({problem, Loss::svm(), 2}, visits(count, problem, 1, update, 2, true), several);
    EXPECT_LT(distance(one, several), 1e-5);
  }
}

// Visits of a first pass that add delta_i move the duals from z_i to mu_i = z_i - l2/omega_i delta_i, so that
//   D = sum_i omega_i gamma(p_i.mu_i + q_i) - |w|^2/(2 l2)
//       = -l2 [ gamma sum_i p_i.delta_i + |sum_i F_i delta_i|^2/2 ].
RC_GTEST_PROP(Mira, FirstPassBoundsTheOptimum, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const OwnedChainProblem owned(seed);
  const WatchedProblem problem(owned.problem);
  const Objective objective{problem, Loss::svm(), *rc::gen::element(3.0, 30.0)};
  MiraOptions options =
      visits(problem.size(), problem, seed, any_update(), *rc::gen::element<std::size_t>(1, 3));
  Weights theta(problem.weight_shape());
  options.stopping.passes = 2;
  options.report_every = 1;
  double implied = 0, dual = 0;
  const Summary summary = mira(objective, options, theta, [&](const Progress& now, const Weights& weights) {
    implied = std::max(implied, certify_implied(objective, weights).dual);
    if (now.epoch == 1) {
      DoubleWeights w(problem.weight_shape());
      Workspace ws;
      for (const auto& [i, delta] : problem.all) {
        std::vector<double> p(delta.size());
        problem.add_cost(i, 1.0, p);
        dual -= objective.regularizer.l2 * std::inner_product(p.begin(), p.end(), delta.begin(), 0.0);
        problem.accumulate(i, std::span<const double>(delta), w, ws);
      }
      dual -= objective.regularizer.l2 / 2 * euclidean_squared_norm(w);
    }
    RC_ASSERT(std::abs(now.dual - std::max(dual, implied)) <= 1e-5 * now.dual);
    return Control::go_on;
  });
  RC_ASSERT(summary.history.size() == 2u);
  // A maximum from zero weights rises at every visit that is not prediction-based.
  if (options.update == MiraUpdate::max_loss) RC_ASSERT(dual > 0);
}

TEST(Mira, AllOutputsAreTheExactVisit) {
  // With every label a constraint, the visit minimises l2/2 |theta' - theta|^2 + omega_i L_i(theta'): no
  // theta' between the weights before and after it, nor one beyond, is better.
  const OwnedProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 1};
  const Weights start = random_weights(1, owned.problem.weight_shape(), 0.5);
  Weights theta = start;
  mira(objective, visits(1, owned.problem, 3, MiraUpdate::max_loss, owned.data.labels), theta);
  const std::size_t i = online_order(owned.problem.size(), 3, 1).front();
  const auto value_at = [&](double along) {
    Weights at = start;
    DoubleWeights move;
    move.assign(theta);
    for (std::size_t j = 0; j < at.values().size(); ++j) {
      move.values()[j] = along * (move.values()[j] - start.values()[j]);
      at.values()[j] += static_cast<float>(move.values()[j]);
    }
    return objective.regularizer.l2 / 2 * euclidean_squared_norm(move) +
           owned.problem.weight(i) * enumerate_loss(owned.problem, objective.loss, i, at).value;
  };
  ASSERT_GT(value_at(0) - value_at(1), 1e-3);
  for (const double along : {0.0, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
    EXPECT_GE(value_at(along), value_at(1) - 1e-6);
}

TEST(Mira, RefusesWhatItIsNotFor) {
  const OwnedProblem owned(5);
  Weights theta(owned.problem.weight_shape());
  EXPECT_EQ(error_message([&] {
              mira({owned.problem, Loss::crf(), 1}, {}, theta);
            }),
            "mira: the loss crf is smooth; expected one with infinite beta, or dca");

  RandomDependencyOptions second_order;
  second_order.second_order = true;
  const OwnedDependencyProblem trees(1, second_order);
  Weights weights(trees.problem.weight_shape());
  MiraOptions options;
  options.k = 5;
  EXPECT_EQ(error_message([&] {
              mira({trees.problem, Loss::svm(), 1}, options, weights);
            }),
            "mira: the 5 best outputs of a problem that has none but the best; expected k = 1");
}

}  // namespace
}  // namespace espalier::mira_test
