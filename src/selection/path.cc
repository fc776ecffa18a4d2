#include "selection/path_run.h"

#include <fmt/format.h>

#include <cmath>

#include "espalier/base/error.h"
#include "selection/l2_search.h"

namespace espalier {

std::vector<double> PathOptions::values() const {
  L2Range{l2_min, l2_max}.check();
  if (!(factor > 0) || !(factor < 1)) {
    throw Error(fmt::format("{} {}: l2 would not decrease; expected a number between 0 and 1",
                            setting("factor"), factor));
  }
  constexpr double kRounding = 1 - 1e-9;
  std::vector<double> all{l2_max};
  while (all.back() * factor >= l2_min * kRounding) all.push_back(all.back() * factor);
  return all;
}

Path regularisation_path(const Problem& problem, const Loss& loss, const PathOptions& options,
                         const SolverEntry& solver, const SolverSettings& settings,
                         const std::function<double(const Weights&)>& dev_error, const PathObserver& observer,
                         const std::function<void(const PathPoint&)>& finished) {
  PathInProgress path;
  continue_path(path, {problem, loss, solver, settings, dev_error, observer, finished}, options);
  return path;
}

void continue_path(PathInProgress& path, const PathRun& run, const PathOptions& options) {
  const std::vector<double> values = options.values();
  for (std::size_t k = path.points.size(); k < values.size(); ++k) {
    const auto point = optimise_value(path, run, values[k], run.settings.stopping.gap);
    if (!point || !add_point(path, run, *point)) break;
  }
}

std::optional<PathPoint> optimise_value(PathInProgress& path, const PathRun& run, double l2, double gap) {
  SolverSettings here = run.settings;
  here.stopping.gap = gap;
  here.stopping.passes -= path.progress.passes;
  here.stopping.seconds -= path.progress.seconds;
  here.stopping.before = path.progress;
  path.training_l2 = l2;
  const Summary summary = run.solver.run(
      {run.problem, run.loss, l2}, here, path.training, [&](const Progress& progress, const Weights& theta) {
        path.progress = progress;
        return run.observer ? run.observer(l2, progress, theta) : Control::go_on;
      });
  if (summary.history.empty()) return std::nullopt;
  path.status = summary.status;
  path.message = summary.message;
  const Progress& last = summary.history.back();
  const double passes_before = path.points.empty() ? 0 : path.points.back().total_passes;

  PathPoint point;
  point.l2 = l2;
  point.certificate = {last.primal, last.dual, last.passes - passes_before, last.inference, last.rounding};
  point.total_passes = last.passes;
  point.dev_error = run.dev_error(path.training.theta);
  point.status = summary.status;
  return point;
}

bool add_point(PathInProgress& path, const PathRun& run, const PathPoint& point) {
  path.points.push_back(point);
  // Of equals the largest l2, whatever was tried first.
  const PathPoint& best = path.points[path.best];
  if (path.points.size() == 1 || point.dev_error < best.dev_error ||
      (point.dev_error == best.dev_error && point.l2 > best.l2)) {
    path.best = path.points.size() - 1;
    path.theta = path.training.theta;
  }
  if (run.finished) run.finished(point);
  return point.status == Status::converged || point.status == Status::stalled;
}

}  // namespace espalier
