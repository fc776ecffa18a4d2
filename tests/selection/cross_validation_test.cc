#include "espalier/selection/cross_validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "espalier/base/error.h"
#include "espalier/learning/subset_problem.h"
#include "support/error_message.h"
#include "support/random_problem.h"

namespace espalier {
namespace {

using test_support::OwnedProblem;
using testing::error_message;

TEST(Folds, ArePartsOfNearlyEqualSize) {
  const auto folds = make_folds(11, 3, 7);
  ASSERT_EQ(folds.size(), 3u);
  std::set<std::uint32_t> all;
  for (const auto& fold : folds) {
    EXPECT_TRUE(fold.size() == 3 || fold.size() == 4);
    EXPECT_TRUE(std::is_sorted(fold.begin(), fold.end()));
    all.insert(fold.begin(), fold.end());
  }
  EXPECT_EQ(all.size(), 11u);
  EXPECT_EQ(make_folds(11, 3, 7), folds);
  EXPECT_NE(make_folds(11, 3, 8), folds);
}

TEST(Folds, NeedExamples) {
  EXPECT_EQ(error_message([] { make_folds(3, 4, 1); }),
            "--folds 4 of 3 examples; expected at least 2, and an example for each");
  EXPECT_EQ(error_message([] { make_folds(3, 1, 1); }),
            "--folds 1 of 3 examples; expected at least 2, and an example for each");
  EXPECT_EQ(make_folds(3, 3, 1).size(), 3u);
}

class CrossValidationTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kFolds = 3;
  // A score that is known: how much weight there is, of each fold.
  static HeldOutScore score_of(std::size_t fold, const Weights& theta) {
    const double size = std::sqrt(euclidean_squared_norm(theta)) + static_cast<double>(fold);
    return {size, 10 * size};
  }
  CrossValidation run(std::size_t threads, const SolverSettings& settings = {}) const {
    return cross_validate(owned.problem, Loss::crf(), {4, 1, 0.5}, find_solver("eg", Loss::crf()), settings,
                          folds, threads, score_of);
  }

  OwnedProblem owned{3};
  std::vector<std::vector<std::uint32_t>> folds = make_folds(owned.problem.size(), kFolds, 1);
};

TEST_F(CrossValidationTest, IsAPathOnTheRestForEachFold) {
  const CrossValidation result = run(1);
  EXPECT_EQ(result.status, Status::converged);
  ASSERT_EQ(result.values.size(), 3u);
  std::vector<std::vector<double>> sizes(3);
  std::vector<double> passes(3);
  for (std::size_t f = 0; f < kFolds; ++f) {
    std::vector<std::uint32_t> rest;
    for (std::uint32_t i = 0; i < owned.problem.size(); ++i) {
      if (!std::binary_search(folds[f].begin(), folds[f].end(), i)) rest.push_back(i);
    }
    const SubsetProblem problem(owned.problem, rest);
    std::size_t k = 0;
    const Path path = regularisation_path(problem, Loss::crf(), {4, 1, 0.5}, find_solver("eg", Loss::crf()),
                                          {}, [&](const Weights& theta) {
                                            sizes[k++].push_back(score_of(f, theta).value);
                                            return 0.0;
                                          });
    for (std::size_t j = 0; j < 3; ++j) passes[j] += path.points[j].certificate.passes;
  }
  const double l2[] = {4, 2, 1};
  for (std::size_t k = 0; k < 3; ++k) {
    const CrossValidatedValue& value = result.values[k];
    EXPECT_EQ(value.l2, l2[k]);
    EXPECT_EQ(value.folds, kFolds);
    EXPECT_DOUBLE_EQ(value.passes, passes[k]);
    const double mean = (sizes[k][0] + sizes[k][1] + sizes[k][2]) / 3;
    double sum = 0;
    for (const double size : sizes[k]) sum += (size - mean) * (size - mean);
    EXPECT_DOUBLE_EQ(value.mean, mean);
    EXPECT_NEAR(value.deviation, std::sqrt(sum / 2), 1e-12);
    EXPECT_NEAR(value.badness, mean / 10, 1e-12);
    EXPECT_NEAR(value.badness_error, std::sqrt(sum / 2) / 10 / std::sqrt(3.0), 1e-12);
  }
  // Weights grow as l2 falls, so the first value has the least badness.
  EXPECT_EQ(result.best, 0u);
  EXPECT_EQ(result.simplest, 0u);
}

TEST_F(CrossValidationTest, ThreadsChangeNothing) {
  const CrossValidation one = run(1), four = run(4);
  ASSERT_EQ(one.values.size(), four.values.size());
  for (std::size_t k = 0; k < one.values.size(); ++k) {
    EXPECT_EQ(one.values[k].mean, four.values[k].mean);
    EXPECT_EQ(one.values[k].deviation, four.values[k].deviation);
    EXPECT_EQ(one.values[k].passes, four.values[k].passes);
  }
}

TEST_F(CrossValidationTest, TheSimplestIsWithinOneStandardError) {
  // Badness 3, 1, 0.5 for l2 = 4, 2, 1, give or take 1 a fold: the error of the mean is 1/sqrt(3) = 0.577.
  const CrossValidation result =
      cross_validate(owned.problem, Loss::crf(), {4, 1, 0.5}, find_solver("eg", Loss::crf()), {}, folds, 1,
                     [count = std::vector<std::size_t>(kFolds)](std::size_t fold, const Weights&) mutable {
                       const double levels[] = {3, 1, 0.5};
                       const double badness = levels[count[fold]++] + static_cast<double>(fold) - 1;
                       return HeldOutScore{badness, badness};
                     });
  EXPECT_EQ(result.best, 2u);
  EXPECT_EQ(result.simplest, 1u);
}

TEST_F(CrossValidationTest, AStopLeavesWhatIsDone) {
  std::atomic<bool> stop{false};
  SolverSettings settings;
  settings.stopping.stop = &stop;
  std::size_t finished = 0;
  const CrossValidation result =
      cross_validate(owned.problem, Loss::crf(), {4, 1, 0.5}, find_solver("eg", Loss::crf()), settings, folds,
                     1, score_of, [&](std::size_t fold, const PathPoint& point, const Progress&) {
                       ++finished;
                       if (fold == 1 && point.l2 == 2) stop = true;
                     });
  EXPECT_EQ(finished, 5u);
  EXPECT_EQ(result.status, Status::stopped);
  ASSERT_EQ(result.values.size(), 3u);
  EXPECT_EQ(result.values[0].folds, 2u);
  EXPECT_EQ(result.values[1].folds, 2u);
  EXPECT_EQ(result.values[2].folds, 1u);
  EXPECT_EQ(result.best, 0u);  // among those that two folds got to
}

}  // namespace
}  // namespace espalier
