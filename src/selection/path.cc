#include "espalier/selection/path.h"

#include <fmt/format.h>

#include <cmath>

#include "espalier/base/error.h"

namespace espalier {

std::vector<double> PathOptions::values() const {
  if (!(l2_max > 0) || !std::isfinite(l2_max) || !(l2_min > 0) || !(l2_min <= l2_max)) {
    throw Error(
        fmt::format("--l2-max {} --l2-min {}: no range; expected 0 < l2-min <= l2-max", l2_max, l2_min));
  }
  if (!(factor > 0) || !(factor < 1)) {
    throw Error(fmt::format("--factor {}: l2 would not decrease; expected a number between 0 and 1", factor));
  }
  constexpr double kRounding = 1 - 1e-9;
  std::vector<double> all{l2_max};
  while (all.back() * factor >= l2_min * kRounding) all.push_back(all.back() * factor);
  return all;
}

Path regularisation_path(const Problem& problem, const Loss& loss, const PathOptions& options,
                         const SolverEntry& solver, const SolverSettings& settings,
                         const std::function<double(const Weights&)>& badness, const PathObserver& observer,
                         const std::function<void(const PathPoint&)>& finished) {
  Path path;
  continue_path(path, problem, loss, options, solver, settings, badness, observer, finished);
  return path;
}

void continue_path(Path& path, const Problem& problem, const Loss& loss, const PathOptions& options,
                   const SolverEntry& solver, const SolverSettings& settings,
                   const std::function<double(const Weights&)>& badness, const PathObserver& observer,
                   const std::function<void(const PathPoint&)>& finished) {
  const std::vector<double> values = options.values();
  SolverSettings here = settings;
  for (std::size_t k = path.points.size(); k < values.size(); ++k) {
    const double l2 = values[k];
    here.stopping.passes = settings.stopping.passes - path.progress.passes;
    here.stopping.seconds = settings.stopping.seconds - path.progress.seconds;
    here.stopping.before = path.progress;
    const Summary summary =
        solver.run({problem, loss, l2}, here, path.training, [&](const Progress& p, const Weights& theta) {
          path.progress = p;
          return observer ? observer(l2, p, theta) : Control::go_on;
        });
    if (summary.history.empty()) break;
    const Progress& last = summary.history.back();
    const double passes_before = path.points.empty() ? 0 : path.points.back().total_passes;

    PathPoint point;
    point.l2 = l2;
    point.certificate = {last.primal, last.dual, last.passes - passes_before, last.approximate};
    point.total_passes = last.passes;
    point.badness = badness(path.training.theta);
    point.status = summary.status;
    path.status = summary.status;
    path.message = summary.message;
    path.points.push_back(point);
    if (path.points.size() == 1 || point.badness < path.points[path.best].badness) {
      path.best = path.points.size() - 1;
      path.theta = path.training.theta;
    }
    if (finished) finished(point);
    if (summary.status != Status::converged && summary.status != Status::stalled) break;
  }
}

}  // namespace espalier
