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
                         const std::function<double(const Weights&)>& badness,
                         const std::function<Control(double l2, const Progress&, const Weights&)>& observer,
                         const std::function<void(const PathPoint&)>& finished) {
  Path path;
  Training training;
  Progress before;  // passes and seconds of the values so far
  for (const double l2 : options.values()) {
    SolverSettings here = settings;
    here.stopping.passes = settings.stopping.passes - before.passes;
    here.stopping.seconds = settings.stopping.seconds - before.seconds;
    const Summary summary =
        solver.run({problem, loss, l2}, here, training, [&](const Progress& p, const Weights& theta) {
          Progress total = p;
          total.passes += before.passes;
          total.seconds += before.seconds;
          total.wall_seconds += before.wall_seconds;
          return observer ? observer(l2, total, theta) : Control::go_on;
        });
    if (summary.history.empty()) break;
    const Progress& last = summary.history.back();
    before.passes += last.passes;
    before.seconds += last.seconds;
    before.wall_seconds += last.wall_seconds;

    PathPoint point;
    point.l2 = l2;
    point.certificate = {last.primal, last.dual, last.passes};
    point.total_passes = before.passes;
    point.badness = badness(training.theta);
    point.status = summary.status;
    path.status = summary.status;
    path.points.push_back(point);
    if (path.points.size() == 1 || point.badness < path.points[path.best].badness) {
      path.best = path.points.size() - 1;
      path.theta = training.theta;
    }
    if (finished) finished(point);
    if (summary.status != Status::converged && summary.status != Status::stalled) break;
  }
  return path;
}

}  // namespace espalier
