#include "espalier/selection/cross_validation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "espalier/base/error.h"
#include "espalier/solvers/registry.h"
#include "learning/subset_problem.h"
#include "selection/cross_validation_run.h"
#include "selection/path_run.h"
#include "support/error_message.h"
#include "support/random_problem.h"

namespace espalier::cross_validation_test {
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
            "folds 4: found 3 examples; expected at least 2 folds, and at least one example per fold");
  EXPECT_EQ(error_message([] { make_folds(3, 1, 1); }),
            "folds 1: found 3 examples; expected at least 2 folds, and at least one example per fold");
  EXPECT_EQ(make_folds(3, 3, 1).size(), 3u);
}

TEST(Folds, OfGroupsNeedGroups) {
  const std::vector<std::uint32_t> groups{7, 7, 2, 2, 2};
  EXPECT_EQ(error_message([&] { make_folds(groups, 3, 1); }),
            "folds 3: found 2 groups; expected at least 2 folds, and at least one group per fold");
  const auto folds = make_folds(groups, 2, 1);
  EXPECT_EQ(folds, (std::vector<std::vector<std::uint32_t>>{{2, 3, 4}, {0, 1}}));
}

// No group is in two folds, every example is in one, and sizes differ by the largest group at most.
RC_GTEST_PROP(Folds, KeepGroupsTogether, ()) {
  const auto group_of = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 12)));
  std::map<std::uint32_t, std::size_t> sizes;
  for (const std::uint32_t group : group_of) ++sizes[group];
  RC_PRE(sizes.size() >= 2);
  const auto k = *rc::gen::inRange<std::size_t>(2, sizes.size() + 1);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto folds = make_folds(group_of, k, seed);
  RC_ASSERT(folds.size() == k);
  RC_ASSERT(folds == make_folds(group_of, k, seed));
  std::map<std::uint32_t, std::size_t> fold_of_group;
  std::vector<int> times(group_of.size());
  std::size_t least = group_of.size(), most = 0, largest = 0;
  for (std::size_t f = 0; f < k; ++f) {
    RC_ASSERT(std::is_sorted(folds[f].begin(), folds[f].end()));
    for (const std::uint32_t i : folds[f]) {
      ++times[i];
      RC_ASSERT(fold_of_group.try_emplace(group_of[i], f).first->second == f);
    }
    least = std::min(least, folds[f].size());
    most = std::max(most, folds[f].size());
  }
  for (const auto& [group, size] : sizes) largest = std::max(largest, size);
  RC_ASSERT(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
  RC_ASSERT(most - least <= largest);
  RC_ASSERT(least > 0u);
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
    return cross_validate(owned.problem, Loss::crf(), sequence_of(PathOptions{4, 1, 0.5}),
                          find_solver("eg", Loss::crf()), settings, folds, threads, score_of);
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
    EXPECT_NEAR(value.dev_error, mean / 10, 1e-12);
    EXPECT_NEAR(value.standard_error, std::sqrt(sum / 2) / 10 / std::sqrt(3.0), 1e-12);
  }
  // Weights grow as l2 falls, so the first value has the least dev_error.
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
  const CrossValidation result = cross_validate(
      owned.problem, Loss::crf(), sequence_of(PathOptions{4, 1, 0.5}), find_solver("eg", Loss::crf()), {},
      folds, 1, [count = std::vector<std::size_t>(kFolds)](std::size_t fold, const Weights&) mutable {
        const double levels[] = {3, 1, 0.5};
        const double dev_error = levels[count[fold]++] + static_cast<double>(fold) - 1;
        return HeldOutScore{dev_error, dev_error};
      });
  EXPECT_EQ(result.best, 2u);
  EXPECT_EQ(result.simplest, 1u);
}

TEST_F(CrossValidationTest, AStopLeavesWhatIsDone) {
  std::atomic<bool> stop{false};
  SolverSettings settings;
  settings.stopping.stop = &stop;
  std::size_t finished = 0;
  const CrossValidation result = cross_validate(
      owned.problem, Loss::crf(), sequence_of(PathOptions{4, 1, 0.5}), find_solver("eg", Loss::crf()),
      settings, folds, 1, score_of, [&](std::size_t fold, const PathPoint& point, const Progress&) {
        ++finished;
        if (fold == 1 && point.l2 == 2) stop = true;
      });
  EXPECT_EQ(finished, 5u);
  EXPECT_EQ(result.status, Status::stopped);
  ASSERT_EQ(result.values.size(), 2u);
  EXPECT_EQ(result.values[0].folds, 3u);
  EXPECT_EQ(result.values[1].folds, 2u);
  EXPECT_EQ(result.best, 0u);  // among those that all folds got to
}

// A search judges values by the mean over folds, goes both ways, and lists them by size.
TEST_F(CrossValidationTest, SearchesByTheMeanOfAllFolds) {
  double at = 0;
  std::vector<double> order;
  const L2Sequence search = sequence_of(L2Range{});
  const CrossValidation result =
      cross_validate(owned.problem, Loss::crf(),
                     {[&](std::span<const L2Trial> trials) {
                        const auto next = search.next(trials);
                        if (next) order.push_back(at = *next);
                        return next;
                      },
                      search.goes_back},
                     find_solver("eg", Loss::crf()), {}, folds, 1, [&](std::size_t fold, const Weights&) {
                       // Each fold for itself would choose another value; their mean is least at 3.2.
                       const double centre[] = {0.32, 3.2, 32};
                       const double dev_error = 0.1 + std::pow(std::log10(at / centre[fold]), 2);
                       return HeldOutScore{dev_error, dev_error};
                     });
  EXPECT_EQ(result.status, Status::converged);
  EXPECT_EQ(result.values[result.best].l2, 3.2);
  EXPECT_EQ(order.front(), 10);
  EXPECT_EQ(result.values.size(), order.size());
  EXPECT_TRUE(std::ranges::is_sorted(result.values, std::ranges::greater{}, &CrossValidatedValue::l2));
  for (const CrossValidatedValue& value : result.values) EXPECT_EQ(value.folds, kFolds);
}

}  // namespace
}  // namespace espalier::cross_validation_test
