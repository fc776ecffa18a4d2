// No dual of any solver is above the optimum, so none is above any primal: of whatever solver, and of weights
// in double precision, which come closer to the optimum than those that are stored.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "learning/certify.h"
#include "learning/sweep.h"
#include "solvers/training.h"
#include "support/any_problem.h"
#include "support/random_chain.h"
#include "support/random_problem.h"
#include "support/scaled_problem.h"

namespace espalier::weak_duality_test {
namespace {

using test_support::AnyProblem;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;
using test_support::ScaledProblem;

double primal_at(const Objective& objective, const DoubleWeights& theta) {
  Workspace ws;
  double sum = objective.regularizer.l2 / 2 * objective.problem.squared_norm(theta);
  for (std::size_t i = 0; i < objective.problem.size(); ++i) {
    const std::size_t length = objective.problem.num_statistics(i);
    std::vector<double> s(length), pi(length);
    sum += objective.problem.weight(i) * example_loss(objective, i, theta, DoubleOut(s), DoubleOut(pi), ws);
  }
  return sum;
}

// All duals and primals that solvers come to.
class Bounds {
 public:
  explicit Bounds(const Objective& objective) : objective_(objective) {}

  // "average" and "factored" ask for these variants.
  void run(const std::string& name, double passes, const std::string& variant = "") {
    SolverSettings settings;
    settings.stopping.gap = 1e-12;
    settings.stopping.passes = passes;
    settings.frank_wolfe.average = variant == "average";
    if (variant == "factored") settings.smo.mass = SmoMass::factored;
    Training training;
    const std::string who = variant.empty() ? name : name + ", " + variant;
    Summary summary;
    try {
      summary = find_solver(name, objective_.loss).run(objective_, settings, training, {});
    } catch (const Error& error) {
      failure_ = who + ": " + error.what();
      return;
    }
    for (const Progress& report : summary.history) {
      if (!std::isfinite(report.primal)) continue;
      see_dual(report.dual, who);
      see_primal(report.primal, who);
    }
    DualValue value;
    Sweep sweep;
    if (training.dual) evaluate_dual(objective_, *training.dual, value, sweep);
    if (training.means) evaluate_dual(objective_, *training.means, value, sweep);
    if (training.cliques) evaluate_dual(objective_, *training.cliques, value, sweep);
    if (value.conjugate.empty()) return;
    see_dual(value.value, who + " at its duals");
    DoubleWeights theta;
    theta.assign(value.w, 1 / objective_.regularizer.l2);
    see_primal(primal_at(objective_, theta), who + " in double precision");
  }

  bool hold() const { return failure_.empty() && dual_ - primal_ <= rounding(); }
  double rounding() const { return rounding_bound(objective_, primal_); }
  double relative_gap() const { return (primal_ - dual_) / primal_; }
  std::string describe() const {
    if (!failure_.empty()) return failure_;
    return fmt::format("dual {:.17g} of {}, primal {:.17g} of {}, rounding {:.2g}, beta {}, gamma {}, l2 {}",
                       dual_, whose_dual_, primal_, whose_primal_, rounding(), objective_.loss.beta,
                       objective_.loss.gamma, objective_.regularizer.l2);
  }

 private:
  void see_dual(double dual, const std::string& who) {
    if (!(dual > dual_)) return;
    dual_ = dual;
    whose_dual_ = who;
  }
  void see_primal(double primal, const std::string& who) {
    if (!(primal < primal_)) return;
    primal_ = primal;
    whose_primal_ = who;
  }

  const Objective& objective_;
  double dual_ = -std::numeric_limits<double>::infinity(), primal_ = std::numeric_limits<double>::infinity();
  std::string whose_dual_, whose_primal_, failure_;
};

// Any problem, with features of any size.
class AnyScaledProblem {
 public:
  const Problem& problem() const { return scaled_; }

 private:
  AnyProblem any_;
  ScaledProblem scaled_{any_.problem(), *rc::gen::element(0.01, 1.0, 30.0, 500.0)};
};

double any_power_of_ten(int from, int to) { return std::pow(10.0, *rc::gen::inRange(from, to + 1)); }

RC_GTEST_PROP(WeakDuality, NoDualOfAMaximumIsAboveAnyPrimal, ()) {
  const AnyScaledProblem any;
  const Objective objective{
      any.problem(), {Loss::svm().beta, *rc::gen::element(1.0, 2.5)}, any_power_of_ten(-6, 6)};
  Bounds bounds(objective);
  for (const SolverEntry& entry : solver_table()) {
    if (!is_for(entry, objective.loss) || (entry.needs_cliques && !objective.problem.factored())) continue;
    bounds.run(entry.name, 60);
  }
  bounds.run("frank-wolfe", 400);
  bounds.run("frank-wolfe", 40, "average");
  bounds.run("eg,frank-wolfe", 60);
  if (objective.problem.factored()) {
    bounds.run("smo", 400);
    bounds.run("smo", 40, "factored");
    bounds.run("smo,frank-wolfe", 100);
  }
  if (!bounds.hold()) RC_FAIL(bounds.describe());
}

RC_GTEST_PROP(WeakDuality, NoDualOfASmoothLossIsAboveAnyPrimal, ()) {
  const AnyScaledProblem any;
  const Loss loss = *rc::gen::element(Loss::crf(), Loss::softmax_margin(), Loss{20, 1});
  const Objective objective{any.problem(), loss, any_power_of_ten(-6, 6)};
  Bounds bounds(objective);
  for (const SolverEntry& entry : solver_table()) {
    if (!is_for(entry, objective.loss) || (entry.needs_cliques && !objective.problem.factored())) continue;
    bounds.run(entry.name, 60);
  }
  if (objective.problem.factored()) bounds.run("eg,sdca", 60);
  bounds.run("lbfgs", 300);
  if (!bounds.hold()) RC_FAIL(bounds.describe());
}

// A margin of a few hundred and a loss of a few millionths: what float marginals leave of the polytope is
// worth a thousandth of it.
TEST(WeakDuality, HoldsForLargeFeatures) {
  test_support::MulticlassData data;
  data.attributes = 3;
  data.labels = 2;
  data.gold = {0, 1};
  const double rows[2][3] = {{193, 167, -66}, {-275, -20, 120}};
  for (const auto& row : rows) {
    for (std::uint32_t j = 0; j < 3; ++j) data.rows.add(j, static_cast<float>(row[j]));
    data.rows.finish_row();
  }
  const OwnedProblem owned(data);
  const Objective objective{owned.problem, Loss::svm(), 1};
  Bounds bounds(objective);
  for (const char* solver : {"frank-wolfe", "smo", "eg", "cutting-plane", "excessive-gap", "extragradient"})
    bounds.run(solver, 2000);
  EXPECT_TRUE(bounds.hold()) << bounds.describe();
  EXPECT_LT(bounds.relative_gap(), 1e-6) << bounds.describe();
}

// Nearly separable: a hard margin, with scores of some tens that cancel to a loss of thousandths.
TEST(WeakDuality, HoldsForSequencesWithHardlyAnyRegularisation) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const OwnedChainProblem owned(seed, {.sequences = 12, .longest = 8, .labels = 5, .attributes = 60});
    for (const double l2 : {1e-3, 1e-5}) {
      const Objective objective{owned.problem, Loss::svm(), l2};
      Bounds bounds(objective);
      bounds.run("frank-wolfe", 1000);
      bounds.run("frank-wolfe", 100, "average");
      bounds.run("smo", 300);
      bounds.run("cutting-plane", 300);
      EXPECT_TRUE(bounds.hold()) << bounds.describe();
      EXPECT_LT(bounds.relative_gap(), 0.1) << bounds.describe();
    }
  }
}

}  // namespace
}  // namespace espalier::weak_duality_test
