#include "solvers/cutting_plane.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "learning/forwarding_problem.h"
#include "learning/subset_problem.h"
#include "support/counting_problem.h"
#include "support/eg_solution.h"
#include "support/enumerated_objective.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/random_cfg_problem.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_graph.h"
#include "support/random_graph_problem.h"
#include "support/random_objective.h"
#include "support/random_problem.h"
#include "support/until_gap.h"

namespace espalier::cutting_plane_test {
namespace {

using test_support::CountingProblem;
using test_support::enumerate_example;
using test_support::EnumeratedExample;
using test_support::expect_gaps;
using test_support::OwnedCfgProblem;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedGraphProblem;
using test_support::OwnedProblem;
using test_support::random_weights;
using testing::error_message;

const std::vector<Slacks> kSlacks{Slacks::one, Slacks::n};
const std::vector<Rescaling> kRescalings{Rescaling::margin, Rescaling::slack};

CuttingPlaneOptions to_gap(double gap, double passes = 3000, Slacks slacks = Slacks::one,
                           Rescaling rescaling = Rescaling::margin) {
  auto options = test_support::until_gap<CuttingPlaneOptions>(gap, passes);
  options.slacks = slacks;
  options.rescaling = rescaling;
  options.cache = 5;
  return options;
}

std::string describe(const CuttingPlaneOptions& options) {
  return std::string(options.slacks == Slacks::one ? "1-slack" : "n-slack") +
         (options.rescaling == Rescaling::margin ? ", margin" : ", slack") + ", cache " +
         std::to_string(options.cache) + ": ";
}

struct Solution {
  Solution(const Objective& objective, const CuttingPlaneOptions& options, const Observer& observer = {})
      : theta(objective.problem.weight_shape()),
        summary(cutting_plane(objective, options, theta, observer)) {}
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

// cost(y)(gamma + s.(chi(y) - z)) for all outputs y.
std::vector<double> slack_values(const EnumeratedExample& e, std::span<const double> s, double gamma) {
  std::vector<double> values;
  for (std::size_t y = 0; y < e.chi.size(); ++y) {
    double margin = gamma;
    for (std::size_t k = 0; k < s.size(); ++k) margin += s[k] * (e.chi[y][k] - e.z[k]);
    values.push_back(e.cost[y] * margin);
  }
  return values;
}

// The slack-rescaled objective by enumeration.
template <class Examples>
double slack_primal(const StructuredProblem<Examples>& problem, double gamma, double l2,
                    const Weights& theta) {
  double primal = l2 / 2 * euclidean_squared_norm(theta);
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const EnumeratedExample e = enumerate_example(problem, i);
    std::vector<double> s(e.z.size());
    problem.score(i, theta, 1.0, s, ws);
    const auto values = slack_values(e, s, gamma);
    primal += problem.weight(i) * *std::max_element(values.begin(), values.end());
  }
  return primal;
}

template <class Examples>
double primal_of(const StructuredProblem<Examples>& problem, Rescaling rescaling, const Loss& loss, double l2,
                 const Weights& theta) {
  return rescaling == Rescaling::slack ? slack_primal(problem, loss.gamma, l2, theta)
                                       : evaluate_primal({problem, loss, l2}, theta);
}

// The optimum of the slack-rescaled objective from its dual over all outputs of all examples at once,
//   max sum_i sum_y alpha_iy gamma cost_i(y) - |sum_i sum_y alpha_iy cost_i(y) F_i(z_i - chi(y))|^2/(2 l2),
// alpha_i in a simplex of size omega_i, by rounds of exact steps on pairs of coordinates.
template <class Examples>
double slack_optimum(const StructuredProblem<Examples>& problem, double gamma, double l2) {
  struct Output {
    std::size_t example;
    double offset;
    DoubleWeights slope;
  };
  std::vector<Output> outputs;
  std::vector<double> room;  // what is left of omega_i
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const EnumeratedExample e = enumerate_example(problem, i);
    room.push_back(problem.weight(i));
    for (std::size_t y = 0; y < e.chi.size(); ++y) {
      if (e.cost[y] == 0) continue;
      Output output{i, gamma * e.cost[y], DoubleWeights(problem.weight_shape())};
      std::vector<double> delta(e.z.size());
      for (std::size_t k = 0; k < delta.size(); ++k) delta[k] = e.cost[y] * (e.z[k] - e.chi[y][k]);
      problem.accumulate(i, std::span<const double>(delta), output.slope, ws);
      outputs.push_back(std::move(output));
    }
  }
  const auto dot = [](const DoubleWeights& a, const DoubleWeights& b) {
    return std::inner_product(a.values().begin(), a.values().end(), b.values().begin(), 0.0);
  };
  const std::size_t size = outputs.size();
  std::vector<double> gram(size * size), alpha(size), gradient(size);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) gram[a * size + b] = dot(outputs[a].slope, outputs[b].slope) / l2;
    gradient[a] = outputs[a].offset;
  }
  const auto move = [&](std::size_t a, double by) {
    alpha[a] += by;
    for (std::size_t b = 0; b < size; ++b) gradient[b] -= by * gram[a * size + b];
  };
  for (int round = 0; round < 20000; ++round) {
    double moved = 0;
    for (std::size_t a = 0; a < size; ++a) {
      double& left = room[outputs[a].example];
      // alone, against what is left
      const double alone = gram[a * size + a] > 0 ? gradient[a] / gram[a * size + a] : left;
      const double step = std::clamp(alone, -alpha[a], left);
      move(a, step);
      left -= step;
      moved = std::max(moved, std::abs(step));
      // against each other output of the example
      for (std::size_t b = 0; b < size; ++b) {
        if (b == a || outputs[b].example != outputs[a].example) continue;
        const double curvature = gram[a * size + a] + gram[b * size + b] - 2 * gram[a * size + b];
        if (curvature < 1e-12) continue;
        const double exchange = std::clamp((gradient[a] - gradient[b]) / curvature, -alpha[a], alpha[b]);
        move(a, exchange);
        move(b, -exchange);
        moved = std::max(moved, std::abs(exchange));
      }
    }
    if (moved < 1e-13) break;
  }
  double value = 0;
  for (std::size_t a = 0; a < size; ++a) value += alpha[a] * (outputs[a].offset + gradient[a]) / 2;
  return value;
}

template <class Owned>
void expect_optimum_of_eg(const Owned& owned, const std::string& where) {
  for (const Loss& loss : {Loss::svm(), Loss{Loss::svm().beta, 0.4}}) {
    const Objective objective{owned.problem, loss, 1};
    EgOptions eg_options;
    eg_options.stopping.gap = 1e-4;
    eg_options.stopping.passes = 3000;
    const test_support::EgSolution by_eg(objective, eg_options);
    double primals[2] = {};
    for (const Slacks slacks : kSlacks) {
      for (const std::size_t cache : {0, 5}) {
        CuttingPlaneOptions options = to_gap(3e-6, 3000, slacks);
        options.cache = cache;
        const Solution solution(objective, options);
        const std::string what = where + describe(options) + loss.name() + ": ";
        EXPECT_EQ(solution.summary.status, Status::converged) << what << solution.summary.message;
        expect_gaps(solution.summary, what);
        EXPECT_EQ(solution.last().primal, evaluate_primal(objective, solution.theta)) << what;
        // Both hold the optimum between their bounds.
        EXPECT_LE(solution.last().dual, by_eg.last().primal) << what;
        EXPECT_LE(by_eg.last().dual, solution.last().primal) << what;
        primals[slacks == Slacks::one ? 0 : 1] = solution.last().primal;
      }
    }
    EXPECT_NEAR(primals[0], primals[1], 3e-6 * primals[0]) << where;
  }
}

TEST(CuttingPlane, HasTheOptimumOfEg) {
  expect_optimum_of_eg(OwnedProblem(1), "classes, ");
  expect_optimum_of_eg(OwnedChainProblem(2), "chains, ");
  expect_optimum_of_eg(OwnedDependencyProblem(3), "trees, ");
}

RC_GTEST_PROP(CuttingPlane, EveryReportIsATrueCertificate, ()) {
  const OwnedChainProblem owned(test_support::any_chain_data());
  const Loss loss{Loss::svm().beta, *rc::gen::inRange(1, 300) * 0.01};
  const double l2 = test_support::any_l2();
  const Objective objective{owned.problem, loss, l2};
  CuttingPlaneOptions options = to_gap(-1, 8, *rc::gen::elementOf(kSlacks), *rc::gen::elementOf(kRescalings));
  options.cache = *rc::gen::element<std::size_t>(0, 1, 5);
  Weights theta = test_support::any_weights(owned.problem);
  const auto check = [&](const Progress& now, const Weights& weights) {
    const double truth = primal_of(owned.problem, options.rescaling, loss, l2, weights);
    RC_ASSERT(std::abs(now.primal - truth) <= 1e-12 * (1 + truth));
    RC_ASSERT(now.gap() >= -1e-12 * now.primal);
  };
  const Summary summary =
      cutting_plane(objective, options, theta, [&](const Progress& now, const Weights& at) {
        check(now, at);
        return Control::go_on;
      });
  check(summary.history.back(), theta);
}

// Every bound on the way is below the optimum, as an independent method has it.
TEST(CuttingPlane, SlackRescalingHasTheOptimumOfAllOutputs) {
  const auto check = [](const auto& problem, const std::string& where, double scale = 1) {
    for (const double l2 : {0.3 * scale, 2 * scale}) {
      const double optimum = slack_optimum(problem, 1, l2);
      for (const Slacks slacks : kSlacks) {
        const CuttingPlaneOptions options = to_gap(1e-6, 5000, slacks, Rescaling::slack);
        const Solution solution({problem, Loss::svm(), l2}, options);
        const std::string what = where + describe(options);
        EXPECT_EQ(solution.summary.status, Status::converged) << what << solution.summary.message;
        EXPECT_NEAR(solution.last().primal, optimum, 1e-6 * optimum) << what;
        EXPECT_NEAR(solution.last().primal, slack_primal(problem, 1, l2, solution.theta), 1e-12 * optimum)
            << what;
        expect_gaps(solution.summary, what);
        for (const Progress& now : solution.summary.history)
          EXPECT_LE(now.dual, optimum * (1 + 1e-9)) << what;
      }
    }
  };
  check(OwnedProblem(4, {.examples = 8, .attributes = 5, .labels = 4}).problem, "classes, ");
  check(OwnedChainProblem(5, {.sequences = 5, .longest = 3, .labels = 3, .attributes = 5}).problem,
        "chains, ");
  check(OwnedDependencyProblem(6, {.sentences = 4, .longest = 3, .shape = {}}).problem, "trees, ", 100);
  check(OwnedDependencyProblem(7, {.sentences = 4, .longest = 3, .shape = {true, true, 2}, .pruned = true})
            .problem,
        "trees with labels, ", 100);
  check(OwnedCfgProblem(8, {.sentences = 4, .longest = 3, .most_derivations = 20}).problem, "derivations, ",
        100);
  check(OwnedGraphProblem(9, {.graphs = 4, .largest = 2, .weighted = false}).problem, "graphs, ");
}

RC_GTEST_PROP(SlackArgmax, IsTheMaximumOverAllLabels, ()) {
  const OwnedProblem owned(test_support::any_data());
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  const double gamma = *rc::gen::element(0.0, 0.3, 1.0, 5.0);
  Workspace ws;
  RC_ASSERT(owned.problem.slack_rescaling());
  for (std::size_t i = 0; i < owned.problem.size(); ++i) {
    const EnumeratedExample e = enumerate_example(owned.problem, i);
    std::vector<double> s(e.z.size()), chi(s.size());
    for (double& value : s) value = 4 * random.uniform() - 2;
    const double highest = owned.problem.slack_rescaling()->slack_argmax(i, s, gamma, chi, ws);
    const auto values = slack_values(e, s, gamma);
    RC_ASSERT(std::abs(highest - *std::max_element(values.begin(), values.end())) <= 1e-12);
    const auto y = std::find(e.chi.begin(), e.chi.end(), chi) - e.chi.begin();
    RC_ASSERT(std::abs(values.at(static_cast<std::size_t>(y)) - highest) <= 1e-12);
  }
}

RC_GTEST_PROP(SlackArgmax, IsTheMaximumOverAllSequences, ()) {
  const test_support::ChainData data = test_support::any_chain_data();
  ChainExamples examples(data.sequences, data.shape, data.gold,
                         data.constraints ? &*data.constraints : nullptr, data.omega);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  if (*rc::gen::arbitrary<bool>()) {
    // Costs 0 to 3, zero for the right label: some wrong ones are free.
    const std::size_t labels = data.shape.num_labels;
    std::vector<float> costs(labels * labels);
    for (std::size_t k = 0; k < costs.size(); ++k) {
      costs[k] = k % (labels + 1) == 0 ? 0 : static_cast<float>(random.below(4));
    }
    examples.set_costs(std::move(costs));
  }
  const ChainProblem problem(std::move(examples));
  const double gamma = *rc::gen::element(0.0, 0.3, 1.0, 5.0), size = *rc::gen::element(0.1, 2.0, 50.0);
  Workspace ws;
  RC_ASSERT(problem.slack_rescaling());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const EnumeratedExample e = enumerate_example(problem, i);
    std::vector<double> s(e.z.size()), chi(s.size());
    for (double& value : s) value = size * (2 * random.uniform() - 1);
    const double highest = problem.slack_rescaling()->slack_argmax(i, s, gamma, chi, ws);
    const auto values = slack_values(e, s, gamma);
    RC_ASSERT(std::abs(highest - *std::max_element(values.begin(), values.end())) <= 1e-11 * (1 + size));
    const auto y = std::find(e.chi.begin(), e.chi.end(), chi) - e.chi.begin();
    RC_ASSERT(std::abs(values.at(static_cast<std::size_t>(y)) - highest) <= 1e-11 * (1 + size));
  }
}

TEST(SlackArgmax, OfSomeOfTheExamples) {
  const OwnedProblem owned(9);
  const SubsetProblem subset(owned.problem, {4, 2});
  ASSERT_TRUE(subset.slack_rescaling());
  Workspace ws;
  const std::vector<double> s{0.3, -0.2, 0.9, 0.1};
  std::vector<double> chi(4), of_whole(4);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t whole = i == 0 ? 4 : 2;
    EXPECT_EQ(subset.slack_rescaling()->slack_argmax(i, s, 1, chi, ws),
              owned.problem.slack_rescaling()->slack_argmax(whole, s, 1, of_whole, ws));
    EXPECT_EQ(chi, of_whole);
  }
  const OwnedDependencyProblem crossing(1, {.shape = {false, false, 1}});
  EXPECT_FALSE(SubsetProblem(crossing.problem, {0}).slack_rescaling());
}

TEST(SlackArgmax, WhereItCanBeFound) {
  const test_support::ChainData data = test_support::random_chain_data(1);
  ChainExamples examples(data.sequences, data.shape, data.gold);
  EXPECT_TRUE(examples.capabilities().slack_rescaling);
  for (const float wrong : {0.5f, 17.0f, -1.0f}) {
    std::vector<float> costs(9, wrong);
    for (const std::size_t right : {0, 4, 8}) costs[right] = 0;
    examples.set_costs(costs);
    EXPECT_FALSE(examples.capabilities().slack_rescaling) << wrong;
  }
  EXPECT_FALSE(OwnedChainProblem(1, {.order = 2}).problem.slack_rescaling());
  EXPECT_TRUE(OwnedDependencyProblem(1).problem.slack_rescaling());
  EXPECT_FALSE(OwnedDependencyProblem(1, {.shape = {false, false, 1}}).problem.slack_rescaling());
  EXPECT_FALSE(OwnedDependencyProblem(1, {.shape = {}, .second_order = true}).problem.slack_rescaling());
  EXPECT_FALSE(OwnedGraphProblem(1).problem.slack_rescaling()) << "costs are fractions";
}

TEST(CuttingPlane, WeightsOfExamplesCountAsCopies) {
  test_support::MulticlassData once = test_support::random_data(8), twice = once;
  once.omega.assign(once.gold.size(), 1);
  once.omega[3] = 2;
  twice.omega.assign(once.gold.size() + 1, 1);
  twice.gold.push_back(once.gold[3]);
  const auto row = once.rows.row(3);
  for (std::size_t k = 0; k < row.ids.size(); ++k) twice.rows.add(row.ids[k], row.value(k));
  twice.rows.finish_row();
  const OwnedProblem weighted(once), copied(twice);
  for (const Slacks slacks : kSlacks) {
    for (const Rescaling rescaling : kRescalings) {
      const CuttingPlaneOptions options = to_gap(1e-7, 5000, slacks, rescaling);
      const Solution a({weighted.problem, Loss::svm(), 1}, options),
          b({copied.problem, Loss::svm(), 1}, options);
      EXPECT_NEAR(a.last().primal, b.last().primal, 1e-7 * a.last().primal) << describe(options);
    }
  }
}

TEST(CuttingPlane, APassIsOneInferenceAnExample) {
  const OwnedProblem owned(4);
  for (const Slacks slacks : kSlacks) {
    const CountingProblem counting(owned.problem);
    const Solution solution({counting, Loss::svm(), 1}, to_gap(-1, 7, slacks));
    EXPECT_EQ(solution.last().passes, 7);
    EXPECT_EQ(counting.double_argmaxes, 7 * owned.problem.size());
  }
}

TEST(CuttingPlane, ThreadsDoNotChangeABit) {
  const OwnedChainProblem owned(5);
  for (const Slacks slacks : kSlacks) {
    for (const Rescaling rescaling : kRescalings) {
      const Objective objective{owned.problem, Loss::svm(), 0.3};
      CuttingPlaneOptions options = to_gap(-1, 12, slacks, rescaling);
      const Solution one(objective, options), again(objective, options);
      options.threads = 3;
      const Solution three(objective, options);
      EXPECT_TRUE(std::ranges::equal(one.theta.values(), again.theta.values())) << describe(options);
      EXPECT_TRUE(std::ranges::equal(one.theta.values(), three.theta.values())) << describe(options);
      EXPECT_EQ(one.last().dual, three.last().dual) << describe(options);
    }
  }
}

TEST(CuttingPlane, SeedDecidesTheOrderOfVisits) {
  const OwnedChainProblem owned(5);
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  for (const Slacks slacks : kSlacks) {
    CuttingPlaneOptions options = to_gap(-1, 6, slacks);
    const Solution one(objective, options);
    options.seed = 2;
    const Solution two(objective, options);
    EXPECT_EQ(std::ranges::equal(one.theta.values(), two.theta.values()), slacks == Slacks::one);
  }
}

TEST(CuttingPlane, PassesAreNeverExceeded) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 0.3};
  for (const Slacks slacks : kSlacks) {
    for (const double count : {0.0, 0.5, 1.0, 2.5, 5.0}) {
      Weights theta = random_weights(3, owned.problem.weight_shape());
      const Summary summary = cutting_plane(objective, to_gap(-1, count, slacks), theta);
      EXPECT_EQ(summary.status, Status::out_of_passes);
      EXPECT_EQ(summary.history.back().passes, count);
      EXPECT_EQ(summary.history.back().primal, evaluate_primal(objective, theta));
    }
  }
}

TEST(CuttingPlane, Interrupted) {
  const OwnedProblem owned(6);
  const Objective objective{owned.problem, Loss::svm(), 1};
  for (const Slacks slacks : kSlacks) {
    std::atomic<bool> stop = true;
    CuttingPlaneOptions options = to_gap(0, 100, slacks);
    options.stopping.stop = &stop;
    Weights theta = random_weights(3, owned.problem.weight_shape());
    const Weights start = theta;
    const Summary before = cutting_plane(objective, options, theta);
    EXPECT_EQ(before.status, Status::stopped);
    ASSERT_EQ(before.history.size(), 1u);
    EXPECT_EQ(before.history[0].passes, 0);
    EXPECT_EQ(before.history[0].primal, evaluate_primal(objective, start));
    EXPECT_TRUE(std::ranges::equal(theta.values(), start.values()));

    stop = false;
    const Summary during = cutting_plane(objective, options, theta, [&](const Progress& now, const Weights&) {
      stop = now.epoch == 3;
      return Control::go_on;
    });
    EXPECT_EQ(during.status, Status::stopped);
    EXPECT_EQ(during.history.size(), 3u);
    EXPECT_EQ(during.history.back().primal, evaluate_primal(objective, theta));
  }
}

// Sets a flag at one of its inferences.
class StoppingProblem final : public ForwardingProblem {
 public:
  StoppingProblem(const Problem& inner, int after) : ForwardingProblem(inner), left_(after) {}
  using ForwardingProblem::argmax;
  double argmax(std::size_t i, DoubleIn s, DoubleOut mu, Workspace& ws) const override {
    if (--left_ == 0) stop = true;
    return inner_.argmax(i, s, mu, ws);
  }
  mutable std::atomic<bool> stop = false;

 private:
  mutable int left_;
};

TEST(CuttingPlane, InterruptedWithinAPass) {
  const OwnedProblem owned(6);  // 30 examples
  for (const Slacks slacks : kSlacks) {
    for (const int after : {1, 29, 31, 45, 71, 200}) {
      const StoppingProblem stopping(owned.problem, after);
      CuttingPlaneOptions options = to_gap(0, 100, slacks);
      options.stopping.stop = &stopping.stop;
      Weights theta(owned.problem.weight_shape());
      const Summary summary = cutting_plane({stopping, Loss::svm(), 1}, options, theta);
      EXPECT_EQ(summary.status, Status::stopped) << after;
      EXPECT_EQ(summary.history.back().passes, after / 30.0);
      EXPECT_EQ(summary.history.back().primal, evaluate_primal({owned.problem, Loss::svm(), 1}, theta));
      expect_gaps(summary, "after " + std::to_string(after));
    }
  }
}

TEST(CuttingPlane, RefusesWhatItIsNotFor) {
  const OwnedDependencyProblem owned(6, {.shape = {false, false, 1}});
  Weights theta(owned.problem.weight_shape());
  const auto message = [&](const Loss& loss, Rescaling rescaling) {
    return error_message([&] {
      cutting_plane({owned.problem, loss, 1}, to_gap(1, 1, Slacks::one, rescaling), theta);
    });
  };
  EXPECT_EQ(message(Loss::crf(), Rescaling::margin),
            "cutting-plane: the loss crf is smooth; expected one with infinite beta; bmrm is for all");
  EXPECT_EQ(
      message(Loss::perceptron(), Rescaling::margin),
      "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) or "
      "a finite beta");
  EXPECT_EQ(
      message(Loss::svm(), Rescaling::slack),
      "rescaling slack: its maximum cannot be found for these outputs; expected classes, projective trees of "
      "first order, grammars, sequences of order 1 or graphs with exact inference, both with costs that are "
      "small whole numbers, or rescaling margin");
}

}  // namespace
}  // namespace espalier::cutting_plane_test
