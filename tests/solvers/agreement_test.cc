// Every solver of the table on every loss and structure that it is for: its certificate encloses the optimum
// that another method found. A new solver is covered by its row in the table.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "solvers/lbfgs.h"
#include "solvers/training.h"
#include "support/enumerated_qp.h"
#include "support/history_checks.h"
#include "support/random_chain.h"
#include "support/random_dependencies.h"
#include "support/random_problem.h"

namespace espalier {
namespace {

using test_support::enumerated_qp;
using test_support::expect_gaps;
using test_support::minimise_by_projection;
using test_support::OwnedChainProblem;
using test_support::OwnedDependencyProblem;
using test_support::OwnedProblem;
using test_support::QpMinimum;

const std::vector<Loss> kLosses{
    Loss::crf(), Loss::softmax_margin(), {4, 0.5}, Loss::svm(), {Loss::svm().beta, 2}};

// So small that all outputs can be listed.
struct SmallProblems {
  OwnedProblem classes{5, {.examples = 7, .attributes = 5, .labels = 4}};
  OwnedChainProblem chains{5, {.sequences = 6, .longest = 4, .labels = 3, .attributes = 5}};
  OwnedDependencyProblem trees{5, {.sentences = 6, .longest = 3, .shape = {true, false, 2}}};
};

enum class Kind { classes, chains, trees };

struct Case {
  std::size_t solver;
  Kind kind;
  std::size_t loss;
};

std::string name_of(Kind kind) {
  return kind == Kind::classes ? "classes" : kind == Kind::chains ? "chains" : "trees";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (std::size_t s = 0; s < solver_table().size(); ++s) {
    const SolverEntry& entry = solver_table()[s];
    for (const Kind kind : {Kind::classes, Kind::chains, Kind::trees}) {
      if (entry.needs_cliques && kind == Kind::trees) continue;
      for (std::size_t l = 0; l < kLosses.size(); ++l) {
        if (is_for(entry, kLosses[l])) cases.push_back({s, kind, l});
      }
    }
  }
  return cases;
}

std::string describe(const Case& run) {
  std::string text =
      std::string(solver_table()[run.solver].name) + "_" + name_of(run.kind) + "_" + kLosses[run.loss].name();
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

class AgreementTest : public ::testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() { problems_ = std::make_unique<SmallProblems>(); }
  static void TearDownTestSuite() { problems_.reset(); }

  static const Problem& problem(Kind kind) {
    if (kind == Kind::classes) return problems_->classes.problem;
    if (kind == Kind::chains) return problems_->chains.problem;
    return problems_->trees.problem;
  }
  static double l2(Kind kind) { return kind == Kind::trees ? 50 : 1; }

  struct Optimum {
    double low, high;
  };
  static Optimum find_optimum(Kind kind, const Loss& loss) {
    const Objective objective{problem(kind), loss, l2(kind)};
    if (loss.smooth()) {
      LbfgsOptions options;
      options.stopping.gap = 1e-10;
      Weights theta(objective.problem.weight_shape());
      const Summary summary = lbfgs(objective, options, theta);
      EXPECT_LE(summary.history.back().relative_gap(), 1e-9) << summary.message;
      return {summary.history.back().dual, summary.history.back().primal};
    }
    const SimplexQp qp =
        kind == Kind::classes  ? enumerated_qp(problems_->classes.problem, loss.gamma, l2(kind))
        : kind == Kind::chains ? enumerated_qp(problems_->chains.problem, loss.gamma, l2(kind))
                               : enumerated_qp(problems_->trees.problem, loss.gamma, l2(kind));
    const QpMinimum minimum = minimise_by_projection(qp, 1e-9, 20000);
    EXPECT_LE(minimum.gap, 1e-8 * -minimum.value);
    return {-minimum.value, -minimum.value + minimum.gap};
  }
  // The same for every solver, so found once.
  static const Optimum& optimum(Kind kind, std::size_t loss) {
    static std::map<std::pair<Kind, std::size_t>, Optimum> found;
    const auto key = std::pair(kind, loss);
    if (!found.contains(key)) found[key] = find_optimum(kind, kLosses[loss]);
    return found[key];
  }

 private:
  static inline std::unique_ptr<SmallProblems> problems_;
};

TEST_P(AgreementTest, CertificateEnclosesTheOptimum) {
  const Case& run = GetParam();
  const SolverEntry& entry = solver_table()[run.solver];
  const Loss& loss = kLosses[run.loss];
  const Objective objective{problem(run.kind), loss, l2(run.kind)};
  const Optimum& truth = optimum(run.kind, run.loss);
  const bool online = !entry.converges;

  SolverSettings settings;
  settings.stopping.gap = loss.smooth() ? 1e-6 : 1e-3;
  settings.stopping.passes = online ? 50 : 5000;
  Training training;
  const Summary summary = entry.run(objective, settings, training, {});
  if (!online) {
    EXPECT_EQ(summary.status, Status::converged) << summary.message;
  }
  expect_gaps(summary, describe(run));
  const Progress& last = summary.history.back();
  constexpr double kRounding = 1e-10;
  for (const Progress& now : summary.history) {
    ASSERT_LE(now.dual, truth.high * (1 + kRounding)) << "report " << now.epoch;
    ASSERT_GE(now.primal, truth.low * (1 - kRounding)) << "report " << now.epoch;
  }
  EXPECT_EQ(last.primal, evaluate_primal(objective, training.theta));
  RecordProperty("passes", std::to_string(last.passes));
}

INSTANTIATE_TEST_SUITE_P(EverySolver, AgreementTest, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return describe(info.param); });

}  // namespace
}  // namespace espalier
