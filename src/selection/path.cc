#include "selection/path_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"
#include "selection/l2_search.h"
#include "solvers/stoppable.h"

namespace espalier {

namespace {

std::vector<double> falling(const char* name, double largest, double smallest, double factor) {
  if (!(factor > 0) || !(factor < 1)) {
    throw Error(fmt::format("{} {}: {} would not decrease; expected a number between 0 and 1",
                            setting("factor"), factor, name));
  }
  constexpr double kRounding = 1 - 1e-9;
  std::vector<double> all{largest};
  while (all.back() * factor >= smallest * kRounding) all.push_back(all.back() * factor);
  return all;
}

}  // namespace

std::vector<double> PathOptions::values() const {
  L2Range{l2_min, l2_max}.check();
  return falling("l2", l2_max, l2_min, factor);
}

std::vector<double> L1Path::values() const {
  if (!(l1_min > 0) || !(l1_min <= l1_max) || !std::isfinite(l1_max)) {
    throw Error(fmt::format("{0} {2} {1} {3}: invalid range; expected 0 < {1} <= {0}", setting("l1_max"),
                            setting("l1_min"), l1_max, l1_min));
  }
  return falling("l1", l1_max, l1_min, factor);
}

Path regularisation_path(const Problem& problem, const Loss& loss, const PathOptions& options,
                         const SolverEntry& solver, const SolverSettings& settings,
                         const std::function<double(const Weights&)>& dev_error, const PathObserver& observer,
                         const std::function<void(const PathPoint&)>& finished) {
  PathInProgress path;
  continue_path(path, {problem, loss, solver, settings, dev_error, observer, finished}, options.values());
  return path;
}

void continue_path(PathInProgress& path, const PathRun& run, const std::vector<double>& values) {
  for (std::size_t k = path.points.size(); k < values.size(); ++k) {
    prepare_next(path, values[k]);
    const auto point = optimise_value(path, run, values[k], run.settings.stopping.gap);
    if (!point || !add_point(path, run, *point)) break;
  }
}

void prepare_next(PathInProgress& path, double value) {
  // Scores of the optimum move smoothly with the logarithm of l2, so that two values point to the next one.
  // Not over a step of ten times (letter-scale, CoNLL-2000: a lower dual than where one was), but over one of
  // two.
  constexpr double kLongestStep = 3;
  if (!path.training.dual || path.points.empty() || path.training_l2 == value) return;
  DualState& dual = *path.training.dual;
  if (dual.way) {
    dual.way->ahead = dual.way->scores.size() > 0;
    return;
  }
  dual.way = DualState::Way{};
  // Half as much memory again as duals with marginals: who asked for duals without has none to spare.
  if (!dual.keeps_marginals() || !(path.training_l2 <= kLongestStep * value)) return;
  const In scores = dual.scores();
  dual.way->scores = ZeroedArray<float>(scores.size());
  std::copy(scores.begin(), scores.end(), dual.way->scores.begin());
}

std::optional<PathPoint> optimise_value(PathInProgress& path, const PathRun& run, double value, double gap) {
  const Regularizer regularizer = run.regularizer(value);
  SolverSettings here = run.settings;
  here.stopping.gap = gap;
  here.stopping.passes -= path.progress.passes;
  here.stopping.seconds -= path.progress.seconds;
  here.stopping.before = path.progress;
  path.training_l2 = value;
  Summary summary;
  try {
    summary =
        run.solver.run({run.problem, run.loss, regularizer}, here, path.training,
                       [&](const Progress& progress, const Weights& theta) {
                         path.progress = progress;
                         return run.observer ? run.observer(regularizer, progress, theta) : Control::go_on;
                       });
  } catch (const NothingCertified& nothing) {
    path.status = nothing.status;
    path.message = nothing.what();
    return std::nullopt;
  }
  if (summary.history.empty()) return std::nullopt;
  path.status = summary.status;
  path.message = summary.message;
  const Progress& last = summary.history.back();
  const double passes_before = path.points.empty() ? 0 : path.points.back().total_passes;

  PathPoint point;
  point.l2 = regularizer.l2;
  point.l1 = regularizer.l1.value;
  for (const float weight : path.training.theta.values()) point.active += weight != 0 ? 1 : 0;
  point.certificate = {last.primal, last.dual, last.passes - passes_before, last.inference, last.rounding};
  point.total_passes = last.passes;
  point.dev_error = run.dev_error(path.training.theta);
  point.status = summary.status;
  return point;
}

bool add_point(PathInProgress& path, const PathRun& run, const PathPoint& point) {
  path.points.push_back(point);
  // Of equals the strongest, whatever was tried first.
  const PathPoint& best = path.points[path.best];
  if (path.points.size() == 1 || point.dev_error < best.dev_error ||
      (point.dev_error == best.dev_error && std::pair(point.l2, point.l1) > std::pair(best.l2, best.l1))) {
    path.best = path.points.size() - 1;
    path.theta = path.training.theta;
  }
  if (run.finished) run.finished(point);
  return point.status == Status::converged || point.status == Status::stalled;
}

}  // namespace espalier
