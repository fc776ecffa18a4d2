#include "solvers/excessive_gap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "support/counting_problem.h"
#include "support/dual_distances.h"
#include "support/eg_solution.h"
#include "support/enumerated_objective.h"
#include "support/error_message.h"
#include "support/history_checks.h"
#include "support/problems_of_all_kinds.h"
#include "support/until_gap.h"

namespace espalier::excessive_gap_test {
namespace {

using test_support::CountingProblem;
using test_support::EgSolution;
using test_support::enumerate_dual;
using test_support::enumerate_example;
using test_support::enumerate_loss;
using test_support::EnumeratedExample;
using test_support::expect_gaps;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::ProblemsOfAllKinds;
using test_support::weighted_divergence_from_uniform;
using test_support::weighted_log_outputs;
using test_support::weighted_squared_diameters;
using testing::error_message;

const std::vector<Smoothing> kSmoothings{Smoothing::adaptive, Smoothing::paper};
const Loss kDearMistakes{Loss::svm().beta, 2.5};

std::string describe(const std::string& kind, const Loss& loss, Smoothing smoothing) {
  return kind + ": " + loss.name() + (smoothing == Smoothing::paper ? " paper" : " adaptive");
}

ExcessiveGapOptions to_gap(double gap, double passes) {
  return test_support::until_gap<ExcessiveGapOptions>(gap, passes);
}

// Every step is reported. The first one, k = 1, comes after two passes, each later one after one more.
ExcessiveGapOptions for_steps(int steps, Smoothing smoothing) {
  ExcessiveGapOptions options = to_gap(-1, steps + 1);
  options.report_every = 0;
  options.smoothing = smoothing;
  return options;
}

TEST(ExcessiveGap, ReachesTheOptimum) {
  const ProblemsOfAllKinds problems(1);
  for (const auto& named : problems.all()) {
    for (const Loss& loss : {Loss::svm(), kDearMistakes}) {
      const Objective objective{named.problem, loss, named.l2};
      EgOptions exact;
      exact.stopping.gap = 1e-3;
      exact.stopping.passes = 3000;
      const EgSolution reference(objective, exact);
      ASSERT_EQ(reference.summary.status, Status::converged) << named.name << reference.summary.message;
      for (const Smoothing smoothing : kSmoothings) {
        const std::string where = describe(named.name, loss, smoothing);
        ExcessiveGapOptions options = to_gap(smoothing == Smoothing::adaptive ? 1e-5 : 3e-2, 5000);
        options.smoothing = smoothing;
        Weights theta;
        const Summary summary = excessive_gap(objective, options, theta);
        EXPECT_EQ(summary.status, Status::converged) << where << ": " << summary.message;
        expect_gaps(summary, where);
        EXPECT_LE(summary.history.back().dual, reference.last().primal * (1 + 1e-12)) << where;
        EXPECT_GE(summary.history.back().primal, reference.last().dual * (1 - 1e-12)) << where;
        EXPECT_EQ(summary.history.back().primal, evaluate_primal(objective, theta)) << where;
      }
    }
  }
}

// The condition (11), Theorem 4 and Corollary 7 after every step, all of them seen from outside.
TEST(ExcessiveGap, ConditionAndBoundsOfThePaperHold) {
  const ProblemsOfAllKinds problems(2);
  for (const auto& named : problems.all()) {
    for (const Loss& loss : {Loss::svm(), kDearMistakes}) {
      const Problem& problem = named.problem;
      const Objective objective{problem, loss, named.l2};
      EgOptions exact;
      exact.stopping.gap = 1e-3;
      exact.stopping.passes = 3000;
      const EgSolution optimal(objective, exact);
      const double most_outputs = weighted_log_outputs(problem);
      const double divergence = weighted_divergence_from_uniform(problem, optimal.dual);
      const double curvature = weighted_squared_diameters(problem) / named.l2;
      const std::string where = describe(named.name, loss, Smoothing::paper);

      int k = 1;
      double first_gap = 0, last_bound = 0;
      Weights theta;
      excessive_gap(
          objective, for_steps(300, Smoothing::paper), theta, [&](const Progress& now, const Weights& at) {
            const double mu = 6 * curvature / ((k + 1.0) * (k + 2.0));
            // J_mu is the objective at temperature 1/mu, but for a constant.
            const double smoothed =
                evaluate_primal({problem, {1 / mu, loss.gamma}, objective.regularizer.l2}, at) -
                mu * most_outputs;
            // at is theta_k rounded to floats
            const double rounding = 1e-7 * (std::abs(smoothed) + mu * most_outputs);
            EXPECT_LE(smoothed, now.dual + rounding) << where << ", step " << k;
            EXPECT_LE(now.gap(), mu * most_outputs + rounding) << where << ", step " << k;
            // The corollary's proof is about any duals, so about the best at hand.
            EXPECT_LE(optimal.last().dual - now.dual, mu * divergence + rounding) << where << ", step " << k;
            if (k == 1) first_gap = now.gap();
            last_bound = mu * most_outputs;
            ++k;
            return Control::go_on;
          });
      EXPECT_EQ(k, 301);
      EXPECT_LT(last_bound, 0.5 * first_gap) << where << ": bounds that hold for the start prove nothing";
    }
  }
}

// Algorithm 1 to the letter, with a probability for each output and two Gibbs distributions a step: w_k, and
// D(alpha_k).
template <class Examples>
struct PlainExcessiveGap {
  PlainExcessiveGap(const StructuredProblem<Examples>& of, double gamma_of, double l2_of)
      : problem(of), gamma(gamma_of), l2(l2_of), mu(weighted_squared_diameters(of) / l2_of) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      examples.push_back(enumerate_example(of, i));
      const std::size_t outputs = examples.back().chi.size();
      alpha.emplace_back(outputs, 1.0 / static_cast<double>(outputs));
    }
    const auto uniform = alpha;
    theta = theta_of(alpha);
    // alpha_1 = V(alpha_0, -1/mu grad D(alpha_0)), where grad D at (i, y) is the margin m_i(y) at
    // theta(alpha_0)
    alpha = project(uniform, theta, 1 / mu);
  }

  DoubleWeights theta_of(const std::vector<std::vector<double>>& u) const {
    const auto dual = enumerate_dual(problem, {Loss::svm().beta, gamma}, l2, u);
    DoubleWeights result;
    result.assign(dual.w, 1 / l2);
    return result;
  }
  double dual() const { return enumerate_dual(problem, {Loss::svm().beta, gamma}, l2, alpha).value; }

  // Proportional to u_i(y) exp(step m_i(y)), m the margins at `at`.
  std::vector<std::vector<double>> project(std::vector<std::vector<double>> u, const DoubleWeights& at,
                                           double step) const {
    for (std::size_t i = 0; i < u.size(); ++i) {
      const auto margins = enumerate_loss(problem, {Loss::svm().beta, gamma}, i, at).margins;
      const double highest = *std::max_element(margins.begin(), margins.end());
      double sum = 0;
      for (std::size_t y = 0; y < u[i].size(); ++y) sum += u[i][y] *= std::exp(step * (margins[y] - highest));
      for (double& p : u[i]) p /= sum;
    }
    return u;
  }

  void step() {
    const double tau = 2.0 / (k + 3);
    const auto mixed = [](auto a, const auto& b, double t) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t y = 0; y < a[i].size(); ++y) a[i][y] = (1 - t) * a[i][y] + t * b[i][y];
      }
      return a;
    };
    auto uniform = alpha;
    for (auto& u : uniform) std::fill(u.begin(), u.end(), 1.0 / static_cast<double>(u.size()));
    const auto smooth = project(uniform, theta, 1 / mu);              // alpha_mu(w_k)
    const DoubleWeights ahead = theta_of(mixed(alpha, smooth, tau));  // w(hat)
    const auto tilde = project(smooth, ahead, tau / ((1 - tau) * mu));
    for (std::size_t j = 0; j < theta.values().size(); ++j) {
      theta.values()[j] = (1 - tau) * theta.values()[j] + tau * ahead.values()[j];
    }
    alpha = mixed(alpha, tilde, tau);
    mu *= 1 - tau;
    ++k;
  }

  const StructuredProblem<Examples>& problem;
  double gamma, l2, mu;
  int k = 1;
  std::vector<EnumeratedExample> examples;
  std::vector<std::vector<double>> alpha;
  DoubleWeights theta;
};

template <class Examples>
void expect_plain_iterates(const StructuredProblem<Examples>& problem, double l2, const std::string& where) {
  PlainExcessiveGap<Examples> plain(problem, kDearMistakes.gamma, l2);
  Weights theta;
  int steps = 0;
  excessive_gap({problem, kDearMistakes, l2}, for_steps(25, Smoothing::paper), theta,
                [&](const Progress& now, const Weights& at) {
                  if (steps++ > 0) plain.step();
                  EXPECT_NEAR(now.dual, plain.dual(), 1e-11 * (now.primal + std::abs(now.dual))) << where;
                  double apart = 0;
                  for (std::size_t j = 0; j < at.values().size(); ++j) {
                    apart = std::max(apart, std::abs(at.values()[j] - plain.theta.values()[j]));
                  }
                  // theta_k is reported as floats
                  EXPECT_LE(apart, 1e-7 * std::sqrt(euclidean_squared_norm(plain.theta))) << where;
                  return Control::go_on;
                });
  EXPECT_EQ(steps, 25) << where;
}

// One inference instead of two, and moments instead of distributions, change nothing.
TEST(ExcessiveGap, IteratesAreThoseOfThePlainAlgorithm) {
  expect_plain_iterates(OwnedProblem(3, {.examples = 8}).problem, 1, "multi-class");
  expect_plain_iterates(OwnedChainProblem(3, {.sequences = 5, .longest = 4}).problem, 0.5, "chain");
  test_support::RandomDependencyOptions trees;
  trees.sentences = 5;
  trees.longest = 3;
  trees.shape = {false, false, 2};
  expect_plain_iterates(OwnedDependencyProblem(3, trees).problem, 20, "trees");
}

// Algorithm 2 as the paper has it, with marginals that are stored and updated additively, in either
// precision. They steer the run: w(hat) is computed from them.
template <class Real>
struct StoredExcessiveGap {
  StoredExcessiveGap(const Objective& of, int steps) : objective(of), problem(of.problem) {
    double mu = weighted_squared_diameters(problem) / objective.regularizer.l2;
    const DoubleWeights zero(problem.weight_shape());
    marginals = gibbs(zero, 0);
    DoubleWeights theta = theta_of(marginals, marginals, 0);
    marginals = gibbs(theta, 1 / mu);
    for (int k = 1; k < steps; ++k) {
      const double tau = 2.0 / (k + 3);
      const DoubleWeights ahead = theta_of(marginals, gibbs(theta, 1 / mu), tau);
      for (std::size_t j = 0; j < theta.values().size(); ++j) {
        theta.values()[j] = (1 - tau) * theta.values()[j] + tau * ahead.values()[j];
      }
      mu *= 1 - tau;
      const auto tilde = gibbs(theta, 1 / mu);
      for (std::size_t i = 0; i < marginals.size(); ++i) {
        for (std::size_t s = 0; s < marginals[i].size(); ++s) {
          marginals[i][s] = static_cast<Real>((1 - tau) * marginals[i][s] + tau * tilde[i][s]);
        }
      }
    }
  }

  using Marginals = std::vector<std::vector<Real>>;

  Marginals gibbs(const DoubleWeights& theta, double scale) {
    Marginals result;
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<double> s(problem.num_statistics(i)), mu(s.size());
      problem.score(i, theta, scale, s, ws);
      problem.add_cost(i, scale * objective.loss.gamma, s);
      problem.log_partition(i, s, mu, ws);
      result.emplace_back(mu.begin(), mu.end());
    }
    return result;
  }

  DoubleWeights theta_of(const Marginals& a, const Marginals& b, double tau) {
    DoubleWeights theta(problem.weight_shape());
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::vector<double> difference(a[i].size());
      const double scale = problem.weight(i) / objective.regularizer.l2;
      for (std::size_t s = 0; s < difference.size(); ++s) {
        difference[s] = -scale * static_cast<Real>((1 - tau) * a[i][s] + tau * b[i][s]);
      }
      problem.add_gold(i, scale, difference);
      problem.accumulate(i, std::span<const double>(difference), theta, ws);
    }
    return theta;
  }

  double dual() {
    double value = -objective.regularizer.l2 / 2 * euclidean_squared_norm(theta_of(marginals, marginals, 0));
    for (std::size_t i = 0; i < marginals.size(); ++i) {
      std::vector<double> p(marginals[i].size());
      problem.add_cost(i, 1.0, p);
      double cost = problem.cost_offset(i);
      for (std::size_t s = 0; s < p.size(); ++s) cost += p[s] * marginals[i][s];
      value += problem.weight(i) * objective.loss.gamma * cost;
    }
    return value;
  }

  // How far the marginals of `groups` of `size` statistics each, the first ones of example i, are from a sum
  // of 1.
  double drift(std::size_t i, std::size_t groups, std::size_t size) const {
    double largest = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      double sum = 0;
      for (std::size_t s = 0; s < size; ++s) sum += marginals[i][g * size + s];
      largest = std::max(largest, std::abs(sum - 1));
    }
    return largest;
  }

  const Objective& objective;
  const Problem& problem;
  Workspace ws;
  Marginals marginals;
};

// The paper leaves open how additive updates behave in fixed precision. A step rounds every marginal once,
// and (1 - tau) = (k + 1)/(k + 3) forgets the rounding of step j like (j/k)^2 until step k. So K steps leave
// at most K/3 roundings, and about sqrt(K/5) of them where their signs are random: floats are no place for
// tens of thousands of steps and gaps of 1e-6.
TEST(ExcessiveGap, StoredMarginalsWouldDriftAsFarAsRoundingAddsUp) {
  const OwnedProblem multiclass(4, {.examples = 40, .attributes = 20, .labels = 5});
  const OwnedChainProblem chain(4, {.sequences = 15, .longest = 8, .labels = 4});
  constexpr double kRounding = 0x1p-24;
  for (const int steps : {10, 100, 1000}) {
    double largest_drift = 0, largest_dual_drift = 0;
    const auto measure = [&](const Problem& problem, double l2, std::size_t labels, const auto& tokens) {
      const Objective objective{problem, Loss::svm(), l2};
      StoredExcessiveGap<float> floats(objective, steps);
      StoredExcessiveGap<double> doubles(objective, steps);
      for (std::size_t i = 0; i < problem.size(); ++i) {
        largest_drift = std::max(largest_drift, floats.drift(i, tokens(i), labels));
        EXPECT_LE(doubles.drift(i, tokens(i), labels), 1e-13);
      }
      const double exact = doubles.dual();
      largest_dual_drift = std::max(largest_dual_drift, std::abs(floats.dual() - exact) / std::abs(exact));

      // The solver's own: no marginals, so no drift. What is reported is certain, and so a little less.
      Weights theta;
      const Summary summary = excessive_gap(objective, for_steps(steps, Smoothing::paper), theta);
      EXPECT_LE(summary.history.back().dual, exact);
      EXPECT_NEAR(summary.history.back().dual, exact, 1e-9 * summary.history.back().primal);
    };
    measure(multiclass.problem, 1, 5, [](std::size_t) { return std::size_t{1}; });
    measure(chain.problem, 1, 4, [&](std::size_t i) { return chain.data.sequences.length(i); });
    const std::string after = "_after_" + std::to_string(steps) + "_steps";
    RecordProperty("drift_of_a_sum_of_marginals" + after, fmt::format("{:.2g}", largest_drift));
    RecordProperty("relative_drift_of_the_dual" + after, fmt::format("{:.2g}", largest_dual_drift));
    EXPECT_GT(largest_drift, 0) << steps << " steps: floats round";
    EXPECT_LE(largest_drift, (1 + steps / 3.0) * kRounding) << steps << " steps";
    EXPECT_LE(largest_dual_drift, (1 + steps / 3.0) * kRounding) << steps << " steps";
  }
}

TEST(ExcessiveGap, AdaptiveSmoothingTakesFewerPasses) {
  const ProblemsOfAllKinds problems(5);
  for (const auto& named : problems.all()) {
    ExcessiveGapOptions options = to_gap(0.1, 5000);
    options.report_every = 0;
    Weights theta;
    const Objective objective{named.problem, Loss::svm(), named.l2};
    const Summary adaptive = excessive_gap(objective, options, theta);
    options.smoothing = Smoothing::paper;
    const Summary paper = excessive_gap(objective, options, theta);
    EXPECT_EQ(adaptive.status, Status::converged) << named.name << ": " << adaptive.message;
    EXPECT_EQ(paper.status, Status::converged) << named.name << ": " << paper.message;
    EXPECT_LT(2 * adaptive.history.back().passes, paper.history.back().passes) << named.name;
  }
}

// Far beyond any use: the smoothing is lost in rounding in the end, and the run says so or goes on, but never
// reports a wrong gap.
TEST(ExcessiveGap, GoesToTheEndOfDoublePrecision) {
  const OwnedProblem owned(4, {.examples = 10});
  Weights theta;
  const Summary summary = excessive_gap({owned.problem, Loss::svm(), 1}, to_gap(-1, 20000), theta);
  // Scores at the last temperatures are so large that no more of the dual is certain.
  EXPECT_LT(summary.history.back().relative_gap(), 3e-7) << summary.message;
  expect_gaps(summary, "to the end");
}

TEST(ExcessiveGap, PassesCountInferences) {
  const OwnedProblem owned(6);
  for (const Smoothing smoothing : kSmoothings) {
    const CountingProblem counting(owned.problem);
    Weights theta;
    const Summary summary = excessive_gap({counting, Loss::svm(), 0.1}, for_steps(50, smoothing), theta);
    EXPECT_EQ(summary.history.back().passes, 51);
    EXPECT_EQ(counting.double_log_partitions, 51 * counting.size());
    EXPECT_EQ(counting.float_log_partitions, 0u);
  }
}

TEST(ExcessiveGap, RefusesLossesThatItIsNotFor) {
  const OwnedProblem owned(1);
  Weights theta;
  EXPECT_EQ(error_message([&] {
              excessive_gap({owned.problem, Loss::crf(), 1}, {}, theta);
            }),
            "excessive-gap: the loss crf is smooth; expected one with infinite beta");
  EXPECT_EQ(error_message([&] {
              excessive_gap({owned.problem, Loss::perceptron(), 1}, {}, theta);
            }),
            "loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost (gamma > 0) "
            "or a finite beta");
}

}  // namespace
}  // namespace espalier::excessive_gap_test
