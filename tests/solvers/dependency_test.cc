// Every solver on problems of dependency trees.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "solvers/lbfgs.h"
#include "solvers/sgd.h"
#include "support/eg_solution.h"
#include "support/history_checks.h"
#include "support/random_dependencies.h"
#include "support/until_gap.h"

namespace espalier::dependency_test {
namespace {

using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedDependencyProblem;
using test_support::RandomDependencyOptions;
using Solution = test_support::EgSolution;

// Arcs have a hundred features: with less regularisation, steps as small as that asks for get SGD nowhere in
// a few passes, and labels, which cost nothing, keep EG from the last per cent of a maximum.
constexpr double kMuchL2 = 100;
constexpr double kL2 = 10;

struct Kind {
  const char* name;
  TreeShape shape;
  bool pruned;
  bool second_order = false;
};
const std::vector<Kind> kKinds{
    {"projective", {true, false, 1}, false},
    {"nonprojective", {false, false, 1}, false},
    {"projective, one root, some arcs", {true, true, 1}, true},
    {"nonprojective, one root, some arcs", {false, true, 1}, true},
    {"projective, labelled, some arcs", {true, false, 3}, true},
    {"nonprojective, one root, labelled", {false, true, 3}, false},
    {"projective, second order, labelled", {true, false, 2}, false, true},
};

RandomDependencyOptions options_of(const Kind& kind, std::size_t sentences = 20) {
  RandomDependencyOptions options;
  options.sentences = sentences;
  options.longest = 7;
  options.shape = kind.shape;
  options.pruned = kind.pruned;
  options.second_order = kind.second_order;
  return options;
}

EgOptions to_gap(double gap, double passes) { return test_support::until_gap<EgOptions>(gap, passes); }

Certificate by_lbfgs(const Objective& objective, const std::string& where) {
  LbfgsOptions options;
  options.stopping.gap = 1e-9;
  Weights theta(objective.problem.weight_shape());
  const Summary summary = lbfgs(objective, options, theta);
  EXPECT_EQ(summary.status, Status::converged) << where << ": " << summary.message;
  expect_gaps(summary, where);
  return {summary.history.back().primal, summary.history.back().dual};
}

TEST(EgOnTrees, ReachesTheOptimumOfLbfgs) {
  for (const Kind& kind : kKinds) {
    const OwnedDependencyProblem owned(1, options_of(kind));
    for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss{0.5, 1}}) {
      const std::string where = std::string(kind.name) + ": " + loss.name();
      const Objective objective{owned.problem, loss, kL2};
      const Certificate optimum = by_lbfgs(objective, where);
      for (const EgStart start : {EgStart::gold, EgStart::uniform}) {
        EgOptions options = to_gap(1e-5, 1000);
        options.start = start;
        const Solution solution(objective, options);
        const Progress& last = solution.last();
        EXPECT_EQ(solution.summary.status, Status::converged) << where << ": " << solution.summary.message;
        expect_gaps(solution.summary, where);
        EXPECT_LE(last.dual, optimum.primal * (1 + 1e-12)) << where;
        EXPECT_GE(last.primal, optimum.dual * (1 - 1e-12)) << where;
        EXPECT_NEAR(last.primal, optimum.primal, 1.1e-5 * optimum.primal) << where;
        const Certificate again = certify(objective, solution.theta, solution.dual);
        EXPECT_EQ(again.primal, last.primal) << where;
        EXPECT_EQ(again.dual, last.dual) << where;
      }
    }
  }
}

// From both sides to one optimum.
TEST(EgOnTrees, ReachesTheOptimumOfMaxima) {
  for (const Kind& kind : kKinds) {
    const OwnedDependencyProblem owned(2, options_of(kind));
    const Objective objective{owned.problem, Loss::svm(), kMuchL2};
    EgOptions options = to_gap(5e-3, 2000);
    const Solution from_gold(objective, options);
    options.start = EgStart::uniform;
    const Solution from_uniform(objective, options);
    for (const Solution* solution : {&from_gold, &from_uniform}) {
      EXPECT_EQ(solution->summary.status, Status::converged)
          << kind.name << ": " << solution->summary.message;
      expect_gaps(solution->summary, kind.name);
    }
    EXPECT_LE(from_gold.last().dual, from_uniform.last().primal) << kind.name;
    EXPECT_LE(from_uniform.last().dual, from_gold.last().primal) << kind.name;
  }
}

// Every visit is reported.
TEST(EgOnTrees, SafeAndPaperStepsNeverLowerTheDual) {
  for (const Kind& kind : kKinds) {
    const OwnedDependencyProblem owned(3, options_of(kind, 6));
    for (const Loss& loss : {Loss::crf(), Loss::svm(), Loss::softmax_margin()}) {
      for (const EgStep step : {EgStep::safe, EgStep::paper}) {
        EgOptions options = to_gap(-1, 20);
        options.sampling = Sampling::random;
        options.step = step;
        options.report_every = 1e-9;
        const Summary summary = Solution({owned.problem, loss, 5}, options).summary;
        const std::string where = std::string(kind.name) + ": " + loss.name();
        ASSERT_GE(summary.history.size(), 15u) << where;
        expect_gaps(summary, where);
        expect_rising_dual(summary, where);
      }
    }
  }
}

TEST(SgdOnTrees, ComesCloseToTheOptimum) {
  for (const Kind& kind : kKinds) {
    if (kind.second_order) continue;  // more features: it takes longer
    const OwnedDependencyProblem owned(4, options_of(kind, 100));
    for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss::svm()}) {
      const std::string where = std::string(kind.name) + ": " + loss.name();
      const Objective objective{owned.problem, loss, kMuchL2};
      const double tolerance = loss.smooth() ? 1e-5 : 1e-2;
      const Progress optimum = Solution(objective, to_gap(tolerance, 2000)).last();
      ASSERT_LE(optimum.gap(), tolerance * optimum.primal) << where;
      SgdOptions options;
      options.stopping.gap = 0;
      options.stopping.passes = 30;
      Weights theta(owned.problem.weight_shape());
      const Summary summary = sgd(objective, options, theta);
      expect_gaps(summary, where);
      EXPECT_GE(summary.history.back().primal, optimum.dual) << where;
      EXPECT_LE(summary.history.back().primal, 1.05 * optimum.primal) << where;
    }
  }
}

TEST(EgOnTrees, SameSeedSameBits) {
  const OwnedDependencyProblem owned(7, options_of(kKinds.back(), 30));
  EgOptions options = to_gap(-1, 7);
  const Objective objective{owned.problem, Loss::crf(), kL2};
  const Solution one(objective, options), again(objective, options);
  options.seed = 2;
  const Solution other(objective, options);
  EXPECT_TRUE(std::ranges::equal(one.theta.values(), again.theta.values()));
  EXPECT_FALSE(std::ranges::equal(one.theta.values(), other.theta.values()));
}

// Sentences of one word have one tree: nothing is to be learnt.
TEST(EgOnTrees, OneWordEach) {
  RandomDependencyOptions shape;
  shape.longest = 1;
  const OwnedDependencyProblem owned(8, shape);
  for (const Loss& loss : {Loss::crf(), Loss::svm(), Loss::softmax_margin()}) {
    const Solution solution({owned.problem, loss, 1}, to_gap(1e-6, 10));
    EXPECT_EQ(solution.summary.status, Status::converged) << loss.name() << ": " << solution.summary.message;
    EXPECT_NEAR(solution.last().primal, 0, 1e-6) << loss.name();
    EXPECT_EQ(euclidean_squared_norm(solution.theta), 0) << loss.name();
  }
}

// Nothing tells one word from another but where it is.
TEST(EgOnTrees, AllWordsEqual) {
  for (const Kind& kind : kKinds) {
    RandomDependencyOptions options = options_of(kind);
    options.vocabulary = 1;
    const OwnedDependencyProblem owned(9, options);
    const Objective objective{owned.problem, Loss::crf(), kL2};
    const Certificate optimum = by_lbfgs(objective, kind.name);
    const Solution solution(objective, to_gap(1e-4, 1000));
    EXPECT_EQ(solution.summary.status, Status::converged) << kind.name << ": " << solution.summary.message;
    EXPECT_NEAR(solution.last().primal, optimum.primal, 1.1e-4 * optimum.primal) << kind.name;
  }
}

// Belief propagation is no bound, but agrees with itself where duals and weights do, and everything says what
// it is.
TEST(EgOnTrees, ApproximateInferenceIsCalledSo) {
  const OwnedDependencyProblem owned(5, options_of({"", {false, false, 1, TreeInference::bp}, true, true}));
  ASSERT_EQ(owned.problem.inference(), Inference::approximate);
  const Objective objective{owned.problem, Loss::crf(), kMuchL2};
  const Solution solution(objective, to_gap(1e-3, 200));
  EXPECT_EQ(solution.summary.status, Status::converged) << solution.summary.message;
  EXPECT_TRUE(solution.last().approximate());
  EXPECT_NE(solution.summary.message.find("approximate relative gap"), std::string::npos);
  EXPECT_NE(solution.summary.message.find("visits found no step that improves"), std::string::npos);
  const Certificate again = certify(objective, solution.theta, solution.dual);
  EXPECT_TRUE(again.approximate());
  EXPECT_EQ(again.primal, solution.last().primal);
  EXPECT_EQ(OwnedDependencyProblem(5, options_of(kKinds.back())).problem.inference(), Inference::exact);
}

// Upper bounds make another convex problem, with an optimum of its own.
TEST(EgOnTrees, RelaxedInferenceHasAnOptimum) {
  const OwnedDependencyProblem owned(5, options_of({"", {false, false, 1}, true, true}));
  ASSERT_EQ(owned.problem.inference(), Inference::relaxed);
  const Objective objective{owned.problem, Loss::crf(), kL2};
  // Bounds are minimised until probabilities agree within 1e-6: smaller gaps mean nothing.
  LbfgsOptions options;
  options.stopping.gap = 1e-5;
  Weights theta(objective.problem.weight_shape());
  const Summary by_lbfgs = lbfgs(objective, options, theta);
  EXPECT_EQ(by_lbfgs.status, Status::converged) << by_lbfgs.message;
  const Solution solution(objective, to_gap(1e-4, 1000));
  EXPECT_EQ(solution.summary.status, Status::converged) << solution.summary.message;
  expect_gaps(solution.summary, "relaxed");
  const double optimum = by_lbfgs.history.back().primal;
  EXPECT_NEAR(solution.last().primal, optimum, 1.2e-4 * optimum);
  EXPECT_EQ(certify(objective, solution.theta, solution.dual).inference, Inference::relaxed);
}

// Maxima have no use for them.
TEST(EgOnTrees, RelaxedInferenceOfMaximaIsApproximate) {
  const test_support::DependencyData data =
      test_support::random_dependencies(5, options_of({"", {false, false, 1}, true, true}));
  const DependencyFeatures features(data.bits, data.relation_bits, 1, true);
  const DependencyProblem problem(
      DependencyExamples(data.corpus, data.arcs, data.parts, features, data.shape, true));
  EXPECT_EQ(problem.inference(), Inference::approximate);
}

}  // namespace
}  // namespace espalier::dependency_test
