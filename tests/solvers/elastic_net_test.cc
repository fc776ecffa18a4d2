// Objectives with l1: every solver that takes it, against the others and against a method that is none of
// them.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/training.h"
#include "support/any_problem.h"
#include "support/error_message.h"
#include "support/random_chain.h"
#include "support/random_problem.h"

namespace espalier::elastic_net_test {
namespace {

using test_support::AnyProblem;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;

struct Outcome {
  Summary summary;
  Weights theta;
  double primal() const { return summary.history.back().primal; }
  double dual() const { return summary.history.back().dual; }
};

Outcome run(const std::string& solver, const Objective& objective, double gap, double passes) {
  SolverSettings settings;
  settings.stopping.gap = gap;
  settings.stopping.passes = passes;
  Training training;
  Outcome result;
  result.summary = find_solver(solver, objective.loss).run(objective, settings, training, {});
  result.theta = training.theta;
  return result;
}

std::vector<std::string> sparse_solvers(const Objective& objective) {
  std::vector<std::string> names{"auto"};
  for (const SolverEntry& entry : solver_table()) {
    if (entry.sparse && is_for(entry, objective.loss) &&
        (!entry.needs_cliques || objective.problem.factored()))
      names.push_back(entry.name);
  }
  return names;
}

std::size_t zeros(const Weights& theta) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < theta.shape().rows; ++r) {
    for (std::size_t k = 0; k < theta.shape().width; ++k) count += theta.row(r)[k] == 0 ? 1 : 0;
  }
  return count;
}

// Proximal gradient in double precision, in as many steps as it takes: theta <- prox(theta - step grad).
double minimum_by_proximal_gradient(const Objective& objective) {
  const Problem& problem = objective.problem;
  DoubleWeights theta(problem.weight_shape());
  const auto losses_at = [&](const DoubleWeights& at, DoubleWeights* gradient) {
    Workspace ws;
    double sum = 0;
    if (gradient) *gradient = DoubleWeights(problem.weight_shape());
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<double> s(problem.num_statistics(i)), pi(s.size());
      sum += problem.weight(i) * example_loss(objective, i, at, DoubleOut(s), DoubleOut(pi), ws);
      problem.add_gold(i, -1.0, DoubleOut(pi));
      for (double& p : pi) p *= problem.weight(i);
      if (gradient) problem.accumulate(i, DoubleIn(pi), *gradient, ws);
    }
    return sum;
  };
  double step = 1, value = objective.regularizer.value(problem, theta) + losses_at(theta, nullptr);
  DoubleWeights gradient;
  for (int k = 0; k < 20000; ++k) {
    losses_at(theta, &gradient);
    for (;; step /= 2) {
      DoubleWeights next = theta;
      for (std::size_t j = 0; j < next.values().size(); ++j) next.values()[j] -= step * gradient.values()[j];
      objective.regularizer.proximal_step(step, next);
      const double at_next = objective.regularizer.value(problem, next) + losses_at(next, nullptr);
      if (at_next <= value || step < 1e-12) {
        const bool end = value - at_next <= 1e-13 * value && k > 10;
        theta = next;
        value = at_next;
        if (end) return value;
        break;
      }
    }
    step *= 1.5;
  }
  return value;
}

TEST(ElasticNet, EverySolverFindsTheMinimum) {
  const OwnedProblem classes(3, {.examples = 40, .attributes = 12, .labels = 3});
  const OwnedChainProblem chains(3, {.sequences = 12, .longest = 5, .labels = 3, .attributes = 12});
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    for (const double l1 : {0.2, 1.5}) {
      const Objective objective{*problem, Loss::softmax_margin(), {0.5, {l1}}};
      const double minimum = minimum_by_proximal_gradient(objective);
      for (const std::string& solver : sparse_solvers(objective)) {
        const Outcome result = run(solver, objective, 1e-5, 20000);
        EXPECT_EQ(result.summary.status, Status::converged) << solver << " " << result.summary.message;
        EXPECT_LE(result.dual(), minimum * (1 + 1e-9)) << solver;
        EXPECT_GE(result.primal(), minimum * (1 - 1e-9)) << solver;
        EXPECT_LE(result.primal(), minimum * (1 + 1.01e-5)) << solver;
        EXPECT_GT(zeros(result.theta), 0u) << solver;
      }
    }
  }
}

TEST(ElasticNet, EverySolverOfMaximaFindsTheSame) {
  const OwnedChainProblem chains(4, {.sequences = 10, .longest = 5, .labels = 3, .attributes = 12});
  const Objective objective{chains.problem, Loss::svm(), {1, {0.4}}};
  const double minimum = run("frank-wolfe", objective, 1e-6, 50000).primal();
  for (const std::string& solver : sparse_solvers(objective)) {
    const double gap = solver == "extragradient" || solver == "eg-batch" ? 3e-2 : 1e-3;
    const Outcome result = run(solver, objective, gap, 20000);
    EXPECT_EQ(result.summary.status, Status::converged) << solver << " " << result.summary.message;
    EXPECT_LE(result.dual(), minimum * (1 + 1e-9)) << solver;
    EXPECT_GE(result.primal(), minimum * (1 - 1.01e-6)) << solver;
  }
}

// At the optimum a weight is zero where |w_j| <= l1, and soft(w_j, l1)/l2 elsewhere; a larger l1 has more
// zeros.
TEST(ElasticNet, WeightsAreZeroWhereTheirPullIsBelowL1) {
  const OwnedProblem owned(5, {.examples = 60, .attributes = 20, .labels = 4});
  std::size_t before = 0;
  for (const double l1 : {0.1, 0.5, 2.0, 100.0}) {
    const Objective objective{owned.problem, Loss::crf(), {0.5, {l1}}};
    SolverSettings settings;
    settings.stopping.gap = 1e-8;
    Training training;
    find_solver("eg", objective.loss).run(objective, settings, training, {});
    const DualValue value = evaluate_dual(objective, *training.dual);
    for (std::size_t r = 0; r < value.w.shape().rows; ++r) {
      for (std::size_t k = 0; k < value.w.shape().width; ++k) {
        const double w = value.w.row(r)[k], theta = training.theta.row(r)[k];
        if (std::abs(w) <= l1) {
          EXPECT_EQ(theta, 0);
        } else {
          EXPECT_NEAR(theta, (w - std::copysign(l1, w)) / 0.5, 1e-6 * (1 + std::abs(theta)));
        }
      }
    }
    EXPECT_GE(zeros(training.theta), before);
    before = zeros(training.theta);
  }
  EXPECT_EQ(before, 20u * 4u) << "all of them";
}

// Rows that are left out have no zeros because of it, and the optimum is that of the same regulariser for all
// solvers.
TEST(ElasticNet, RowsMayBeLeftOut) {
  const OwnedProblem owned(6, {.examples = 60, .attributes = 10, .labels = 3});
  const Objective objective{owned.problem, Loss::crf(), {0.5, {3.0, 2, 7}}};
  const double minimum = minimum_by_proximal_gradient(objective);
  for (const std::string& solver : sparse_solvers(objective)) {
    const Outcome result = run(solver, objective, 1e-5, 20000);
    EXPECT_LE(result.dual(), minimum * (1 + 1e-9)) << solver;
    EXPECT_LE(result.primal(), minimum * (1 + 1.01e-5)) << solver;
    EXPECT_NE(result.theta.row(0)[0], 0) << solver;
    EXPECT_NE(result.theta.row(8)[0], 0) << solver;
  }
}

// No dual of any solver is above the primal of any other.
RC_GTEST_PROP(ElasticNet, NoDualIsAboveAnyPrimal, ()) {
  const AnyProblem any;
  const Loss loss = *rc::gen::element(Loss::crf(), Loss::softmax_margin(), Loss::svm(), Loss{20, 1});
  const double l2 = std::pow(10.0, *rc::gen::inRange(-4, 4)), l1 = std::pow(10.0, *rc::gen::inRange(-3, 2));
  const Objective objective{any.problem(), loss, {l2, {l1}}};
  double dual = -std::numeric_limits<double>::infinity(), primal = std::numeric_limits<double>::infinity();
  std::string whose_dual, whose_primal;
  for (const std::string& solver : sparse_solvers(objective)) {
    const Outcome result = run(solver, objective, 1e-10, 60);
    for (const Progress& report : result.summary.history) {
      if (report.dual > dual) {
        dual = report.dual;
        whose_dual = solver;
      }
      if (report.primal < primal) {
        primal = report.primal;
        whose_primal = solver;
      }
    }
  }
  if (dual - primal > rounding_bound(objective, primal)) {
    RC_FAIL(fmt::format("dual {:.17g} of {}, primal {:.17g} of {}, l2 {}, l1 {}", dual, whose_dual, primal,
                        whose_primal, l2, l1));
  }
}

// Without l2, the mixture of gold outputs and pi bounds the optimum, and closes on it.
TEST(ElasticNet, L1AloneIsCertified) {
  const OwnedProblem classes(7, {.examples = 60, .attributes = 12, .labels = 3});
  const OwnedChainProblem chains(7, {.sequences = 20, .longest = 5, .labels = 3, .attributes = 12});
  for (const Problem* problem :
       {static_cast<const Problem*>(&classes.problem), static_cast<const Problem*>(&chains.problem)}) {
    for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{4, 0.5}}) {
      const Objective objective{*problem, loss, {0, {1.0}}};
      const double minimum = minimum_by_proximal_gradient(objective);
      for (const char* solver : {"auto", "lbfgs"}) {
        const Outcome result = run(solver, objective, 1e-4, 2000);
        EXPECT_EQ(result.summary.status, Status::converged) << solver << " " << result.summary.message;
        EXPECT_LE(result.dual(), minimum * (1 + 1e-9)) << solver;
        EXPECT_LE(result.primal(), minimum * (1 + 1.01e-4)) << solver;
        EXPECT_GT(zeros(result.theta), 0u) << solver;
      }
    }
  }
}

// D at rho, against the dual with distributions over listed outputs.
TEST(ElasticNet, DualOfTheMixtureIsThatOfItsDistributions) {
  const OwnedProblem owned(8, {.examples = 10, .attributes = 5, .labels = 3});
  const Problem& problem = owned.problem;
  const Objective objective{problem, {2, 0.7}, {0, {0.3}}};
  Random random(8);
  Weights theta(problem.weight_shape());
  for (std::size_t r = 0; r < 5; ++r) {
    for (std::size_t k = 0; k < 3; ++k) theta.row(r)[k] = static_cast<float>(random.uniform() - 0.5);
  }
  const double beta = objective.loss.beta, gamma = objective.loss.gamma;
  Workspace ws;
  std::vector<std::vector<double>> pi(problem.size());
  DoubleWeights w(problem.weight_shape());
  const auto pull = [&](const std::vector<std::vector<double>>& u, DoubleWeights& to) {
    to = DoubleWeights(problem.weight_shape());
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<double> difference(3);
      for (std::size_t k = 0; k < 3; ++k) difference[k] = -problem.weight(i) * u[i][k];
      problem.add_gold(i, problem.weight(i), DoubleOut(difference));
      problem.accumulate(i, DoubleIn(difference), to, ws);
    }
  };
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> s(3);
    pi[i].resize(3);
    problem.score(i, theta, beta, DoubleOut(s), ws);
    problem.add_cost(i, beta * gamma, DoubleOut(s));
    problem.log_partition(i, DoubleIn(s), DoubleOut(pi[i]), ws);
  }
  pull(pi, w);
  double largest = 0;
  for (const double x : w.values()) largest = std::max(largest, std::abs(x));
  ASSERT_GT(largest, 0.3);
  const double rho = 0.3 / largest;
  double expected = 0;
  auto u = pi;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> gold(3, 0.0), cost(3, 0.0);
    problem.add_gold(i, 1.0, DoubleOut(gold));
    problem.add_cost(i, 1.0, DoubleOut(cost));
    double value = gamma * problem.cost_offset(i);
    for (std::size_t k = 0; k < 3; ++k) {
      u[i][k] = (1 - rho) * gold[k] + rho * pi[i][k];
      value += -u[i][k] * std::log(u[i][k]) / beta + gamma * cost[k] * u[i][k];
    }
    expected += problem.weight(i) * value;
  }
  pull(u, w);
  for (const double x : w.values()) EXPECT_LE(std::abs(x), 0.3 * (1 + 1e-12));
  EXPECT_NEAR(certify_implied(objective, theta).dual, expected, 1e-9 * expected);
}

TEST(ElasticNet, SolversThatCannotSayWhatCan) {
  const OwnedProblem owned(1);
  const auto message = [&](const char* solver, const Loss& loss, const Regularizer& regularizer) {
    return testing::error_message([&] { check_regularizer(find_solver(solver, loss), loss, regularizer); });
  };
  EXPECT_EQ(message("bmrm", Loss::crf(), {1, {0.1}}),
            "solver bmrm: not with l1; expected one of auto, eg, eg-batch, sdca, lbfgs");
  EXPECT_EQ(message("cutting-plane", Loss::svm(), {1, {0.1}}),
            "solver cutting-plane: not with l1; expected one of auto, eg, eg-batch, frank-wolfe, smo, "
            "excessive-gap, "
            "extragradient");
  EXPECT_EQ(message("eg", Loss::crf(), {0, {0.1}}), "solver eg: not with l2 0; expected auto or lbfgs");
  EXPECT_EQ(message("auto", Loss::svm(), {0, {0.1}}),
            "l2 0: not for loss svm; expected a number > 0, or a loss of finite beta");
  EXPECT_EQ(message("auto", Loss::crf(), 0), "l2 0; expected a number > 0, or l1");
}

}  // namespace
}  // namespace espalier::elastic_net_test
