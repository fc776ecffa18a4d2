#include "selection/race_run.h"

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "solvers/stoppable.h"
#include "solvers/training.h"

namespace espalier {
namespace {

// As Progress::relative_gap(), but what is not a number stays none.
double relative(double distance, double primal) { return primal <= 0 ? 0 : distance / primal; }

RaceRun run_one(const Objective& objective, const SolverEntry& solver, const SolverSettings& settings,
                const std::function<HeldOutScore(const Weights&)>& score, const RaceObserver& observer) {
  RaceRun run;
  run.solver = solver.name;
  bool reported = false;
  Training training;
  try {
    run.summary =
        solver.run(objective, settings, training, [&](const Progress& progress, const Weights& theta) {
          reported = true;
          if (score) run.dev.push_back(score(theta));
          return observer.reported ? observer.reported(solver, progress, theta) : Control::go_on;
        });
  } catch (const NothingCertified& nothing) {
    run.summary.status = nothing.status;
    run.summary.message = nothing.what();
  } catch (const Error& error) {
    // Solvers say that a structure is not for them before they begin; what comes later is the observer's.
    if (reported) throw;
    run.summary.message = error.what();
  }
  return run;
}

}  // namespace

std::optional<std::size_t> RaceRun::first_near_best(double distance) const {
  if (dev.empty()) return std::nullopt;
  const HeldOutScore& best = *std::ranges::min_element(dev, {}, &HeldOutScore::dev_error);
  // 7.4 - 7.3 is a little more than 0.1.
  const double rounding = 1e-9 * std::abs(best.value);
  const auto first = std::ranges::find_if(dev, [&](const HeldOutScore& score) {
    return std::abs(score.value - best.value) <= distance + rounding;
  });
  return static_cast<std::size_t>(first - dev.begin());
}

double Race::largest_gap(const Progress& report) const {
  return relative(report.primal - lower, report.primal);
}
double Race::smallest_gap(const Progress& report) const {
  return relative(report.primal - upper, report.primal);
}
double Race::width() const { return relative(upper - lower, upper); }

Arrival Race::arrival(const RaceRun& run, double gap) const {
  Arrival result;
  const std::vector<Progress>& reports = run.summary.history;
  for (std::size_t t = 0; t < reports.size() && !result.certain; ++t) {
    if (!result.possible && smallest_gap(reports[t]) <= gap) result.possible = t;
    if (largest_gap(reports[t]) <= gap) result.certain = t;
  }
  return result;
}

Race race(const Objective& objective, std::span<const SolverEntry> solvers, const SolverSettings& settings,
          const std::function<HeldOutScore(const Weights&)>& score, const RaceObserver& observer) {
  Race result;
  for (const SolverEntry& solver : solvers) {
    if (observer.started) observer.started(solver);
    const RaceRun& run = result.runs.emplace_back(run_one(objective, solver, settings, score, observer));
    for (const Progress& report : run.summary.history) {
      if (std::isfinite(report.primal)) result.upper = std::min(result.upper, report.primal);
      if (std::isfinite(report.dual)) result.lower = std::max(result.lower, report.dual);
      result.inference = std::max(result.inference, report.inference);
    }
    if (observer.finished) observer.finished(run);
    result.stopped = run.summary.status == Status::stopped || settings.stopping.interrupted();
    if (result.stopped) break;
  }
  // Rounding, or approximate inference, may have them cross.
  result.lower = std::min(result.lower, result.upper);
  return result;
}

}  // namespace espalier
