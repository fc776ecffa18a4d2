#include "selection/cross_validation_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "learning/subset_problem.h"
#include "selection/path_run.h"

namespace espalier {
namespace {

// The examples of all folds but one, and what was trained on them.
struct Fold {
  Fold(const Problem& problem, const std::vector<std::vector<std::uint32_t>>& folds, std::size_t f) {
    std::vector<std::uint32_t> others;
    for (std::size_t i = 0; i < folds.size(); ++i) {
      if (i != f) others.insert(others.end(), folds[i].begin(), folds[i].end());
    }
    std::sort(others.begin(), others.end());
    rest = std::make_unique<SubsetProblem>(problem, std::move(others));
  }

  std::unique_ptr<SubsetProblem> rest;
  PathInProgress path;
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

// The value that was tried k-th.
CrossValidatedValue summarise(const std::vector<Fold>& folds, std::size_t k, double l2) {
  CrossValidatedValue result;
  result.l2 = l2;
  std::vector<double> values, errors;
  for (const Fold& fold : folds) {
    if (k >= fold.path.points.size()) continue;
    result.passes += fold.path.points[k].certificate.passes;
    values.push_back(fold.scores[k].value);
    errors.push_back(fold.scores[k].dev_error);
  }
  result.folds = values.size();
  if (values.empty()) return result;
  result.mean = mean(values);
  result.deviation = sample_deviation(values);
  result.dev_error = mean(errors);
  result.standard_error = sample_deviation(errors) / std::sqrt(static_cast<double>(errors.size()));
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
    if (value.folds == most) least = std::min(least, value.dev_error);
  }
  result.best = first_where([&](const auto& value) { return value.dev_error <= least; });
  const double limit = least + result.values[result.best].standard_error;
  result.simplest = first_where([&](const auto& value) { return value.dev_error <= limit; });
}

}  // namespace

std::vector<std::vector<std::uint32_t>> make_folds(std::size_t n, std::size_t k, std::uint64_t seed) {
  if (k < 2 || k > n) {
    throw Error(fmt::format("{} {}: found {}; expected at least 2 folds, and at least one example per fold",
                            setting("folds"), k, counted(n, "example")));
  }
  std::vector<std::uint32_t> alone(n);
  std::iota(alone.begin(), alone.end(), 0u);
  return make_folds(alone, k, seed);
}

std::vector<std::vector<std::uint32_t>> make_folds(std::span<const std::uint32_t> group_of, std::size_t k,
                                                   std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::uint32_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] >= groups.size()) groups.resize(group_of[i] + 1);
    groups[group_of[i]].push_back(i);
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  if (k < 2 || k > groups.size()) {
    throw Error(fmt::format("{} {}: found {}; expected at least 2 folds, and at least one group per fold",
                            setting("folds"), k, counted(groups.size(), "group")));
  }
  Random(seed).shuffle(std::span(groups));
  // The largest first, each to the smallest fold: then no fold is larger than another by more than the group
  // it got last.
  std::ranges::stable_sort(groups, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::vector<std::uint32_t>> folds(k);
  for (const auto& group : groups) {
    auto& smallest =
        *std::ranges::min_element(folds, [](const auto& a, const auto& b) { return a.size() < b.size(); });
    smallest.insert(smallest.end(), group.begin(), group.end());
  }
  for (auto& fold : folds) std::sort(fold.begin(), fold.end());
  return folds;
}

L2Sequence sequence_of(const PathOptions& options) {
  return {[values = options.values()](std::span<const L2Trial> trials) {
    return trials.size() < values.size() ? std::optional(values[trials.size()]) : std::nullopt;
  }};
}

L2Sequence sequence_of(const L2Range& range) {
  range.check();
  return {[range](std::span<const L2Trial> trials) { return next_l2(trials, range); }, true};
}

CrossValidation cross_validate(
    const Problem& problem, const Loss& loss, const L2Sequence& values, const SolverEntry& solver,
    const SolverSettings& settings, const std::vector<std::vector<std::uint32_t>>& folds, std::size_t threads,
    const std::function<HeldOutScore(std::size_t fold, const Weights&)>& score,
    const std::function<void(std::size_t fold, const PathPoint&, const Progress&)>& finished,
    const std::function<Regularizer(double l2)>& regularizer) {
  std::vector<Fold> all;
  for (std::size_t f = 0; f < folds.size(); ++f) all.emplace_back(problem, folds, f);
  std::mutex one_at_a_time;
  const auto run_fold = [&](std::size_t f, double l2) {
    Fold& fold = all[f];
    const PathRun run{*fold.rest,
                      loss,
                      solver,
                      settings,
                      [&](const Weights& theta) {
                        fold.scores.push_back(score(f, theta));
                        return fold.scores.back().dev_error;
                      },
                      {},
                      [&](const PathPoint& point) {
                        const std::lock_guard lock(one_at_a_time);
                        if (finished && point.status != Status::stopped)
                          finished(f, point, fold.path.progress);
                      },
                      regularizer};
    values.goes_back ? start_from_nearest(fold.path, l2) : prepare_next(fold.path, l2);
    const auto point = optimise_value(fold.path, run, l2, settings.stopping.gap);
    if (point) add_point(fold.path, run, *point);
    if (fold.path.status == Status::stopped && point) fold.path.points.pop_back();
  };

  CrossValidation result;
  result.status = Status::converged;
  std::vector<L2Trial> trials;
  while (result.status == Status::converged) {
    const auto l2 = values.next(trials);
    if (!l2) break;
    std::atomic<std::size_t> next_fold{0};
    run_in_parallel(std::min(threads, folds.size()), [&](std::size_t) {
      for (std::size_t f = next_fold++; f < folds.size(); f = next_fold++) {
        if (settings.stopping.interrupted()) {
          all[f].path.status = Status::stopped;
        } else {
          run_fold(f, *l2);
        }
      }
    });
    const CrossValidatedValue value = summarise(all, trials.size(), *l2);
    if (value.folds > 0) result.values.push_back(value);
    trials.push_back({*l2, value.dev_error});
    for (const Fold& fold : all) {
      const Status status = fold.path.status;
      if (status == Status::converged || status == Status::stalled) continue;
      result.status = status;
      break;
    }
  }
  std::ranges::sort(result.values, [](const auto& a, const auto& b) { return a.l2 > b.l2; });
  if (!result.values.empty()) choose(result);
  return result;
}

}  // namespace espalier
