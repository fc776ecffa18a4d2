#include "espalier/selection/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "espalier/base/error.h"
#include "espalier/base/parallel.h"
#include "espalier/base/random.h"
#include "espalier/learning/subset_problem.h"

namespace espalier {
namespace {

struct FoldResult {
  Path path;
  std::vector<HeldOutScore> scores;  // one a point
};

double mean(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double sample_deviation(const std::vector<double>& x) {
  if (x.size() < 2) return 0;
  const double centre = mean(x);
  double sum = 0;
  for (const double value : x) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(x.size() - 1));
}

CrossValidatedValue summarise(const std::vector<FoldResult>& folds, std::size_t k) {
  CrossValidatedValue result;
  std::vector<double> values, badness;
  for (const FoldResult& fold : folds) {
    if (k >= fold.path.points.size()) continue;
    const PathPoint& point = fold.path.points[k];
    result.l2 = point.l2;
    result.passes += point.certificate.passes;
    values.push_back(fold.scores[k].value);
    badness.push_back(fold.scores[k].badness);
  }
  result.folds = values.size();
  if (values.empty()) return result;
  result.mean = mean(values);
  result.deviation = sample_deviation(values);
  result.badness = mean(badness);
  result.badness_error = sample_deviation(badness) / std::sqrt(static_cast<double>(badness.size()));
  return result;
}

void choose(CrossValidation& result) {
  std::size_t most = 0;
  for (const CrossValidatedValue& value : result.values) most = std::max(most, value.folds);
  const auto first_where = [&](const auto& holds) {
    const auto found = std::find_if(result.values.begin(), result.values.end(),
                                    [&](const auto& value) { return value.folds == most && holds(value); });
    return static_cast<std::size_t>(found - result.values.begin());
  };
  double least = std::numeric_limits<double>::infinity();
  for (const CrossValidatedValue& value : result.values) {
    if (value.folds == most) least = std::min(least, value.badness);
  }
  result.best = first_where([&](const auto& value) { return value.badness <= least; });
  const double limit = least + result.values[result.best].badness_error;
  result.simplest = first_where([&](const auto& value) { return value.badness <= limit; });
}

}  // namespace

std::vector<std::vector<std::uint32_t>> make_folds(std::size_t n, std::size_t k, std::uint64_t seed) {
  if (k < 2 || k > n) {
    throw Error(fmt::format("--folds {} of {} examples; expected at least 2, and an example for each", k, n));
  }
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Random(seed).shuffle(std::span(order));
  std::vector<std::vector<std::uint32_t>> folds(k);
  for (std::size_t i = 0; i < n; ++i) folds[i % k].push_back(order[i]);
  for (auto& fold : folds) std::sort(fold.begin(), fold.end());
  return folds;
}

CrossValidation cross_validate(
    const Problem& problem, const Loss& loss, const PathOptions& options, const SolverEntry& solver,
    const SolverSettings& settings, const std::vector<std::vector<std::uint32_t>>& folds, std::size_t threads,
    const std::function<HeldOutScore(std::size_t fold, const Weights&)>& score,
    const std::function<void(std::size_t fold, const PathPoint&, const Progress&)>& finished) {
  std::vector<FoldResult> results(folds.size());
  std::mutex one_at_a_time;
  const auto run_fold = [&](std::size_t f) {
    std::vector<std::uint32_t> others;
    for (std::size_t i = 0; i < folds.size(); ++i) {
      if (i != f) others.insert(others.end(), folds[i].begin(), folds[i].end());
    }
    std::sort(others.begin(), others.end());
    const SubsetProblem rest(problem, std::move(others));
    FoldResult& result = results[f];
    continue_path(
        result.path, rest, loss, options, solver, settings,
        [&](const Weights& theta) {
          result.scores.push_back(score(f, theta));
          return result.scores.back().badness;
        },
        {},
        [&](const PathPoint& point) {
          const std::lock_guard lock(one_at_a_time);
          if (finished && point.status != Status::stopped) finished(f, point, result.path.progress);
        });
    if (result.path.status == Status::stopped) result.path.points.pop_back();
    // Duals of every example: nobody asks for them any more.
    result.path.training = {};
    result.path.theta = {};
  };
  std::atomic<std::size_t> next{0};
  run_in_parallel(std::min(threads, folds.size()), [&](std::size_t) {
    for (std::size_t f = next++; f < folds.size(); f = next++) {
      if (!settings.stopping.interrupted()) run_fold(f);
    }
  });

  CrossValidation result;
  result.status = Status::converged;
  std::size_t longest = 0;
  for (const FoldResult& fold : results) longest = std::max(longest, fold.path.points.size());
  for (std::size_t k = 0; k < longest; ++k) result.values.push_back(summarise(results, k));
  for (const FoldResult& fold : results) {
    const Status status = fold.path.status == Status::not_run ? Status::stopped : fold.path.status;
    if (status == Status::converged || status == Status::stalled) continue;
    result.status = status;
    break;
  }
  if (!result.values.empty()) choose(result);
  return result;
}

}  // namespace espalier
