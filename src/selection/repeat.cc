#include "selection/repeat_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/stoppable.h"

namespace espalier {
namespace {

// A run that failed has NaN as its dual, and loses to any other.
bool better(const RepeatedRun& a, const RepeatedRun& b) {
  if (a.status == Status::failed || b.status == Status::failed) return b.status == Status::failed;
  return a.certificate.dual > b.certificate.dual;
}

}  // namespace

std::size_t Repeats::ended() const {
  return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const RepeatedRun& run) {
    return run.status != Status::stopped && run.status != Status::failed;
  }));
}

double Repeats::confidence() const { return 1 - std::exp2(-static_cast<double>(ended())); }

RepeatedTraining repeat(const Objective& objective, std::size_t times, const SolverEntry& solver,
                        const SolverSettings& settings, const Training& start, const RepeatObserver& observer,
                        const std::function<void(const RepeatedRun&)>& finished) {
  RepeatedTraining repeats;
  SolverSettings here = settings;
  for (std::size_t k = 0; k < times; ++k) {
    here.seed = settings.seed + k;
    Training training = start;
    Summary summary;
    try {
      summary = solver.run(objective, here, training, [&](const Progress& progress, const Weights& theta) {
        return observer ? observer(here.seed, progress, theta) : Control::go_on;
      });
    } catch (const NothingCertified&) {
      if (k == 0) throw;
      break;  // with what the seeds before came to
    }
    const Progress last = summary.history.empty() ? Progress{} : summary.history.back();
    repeats.runs.push_back({here.seed,
                            {last.primal, last.dual, last.passes, last.inference, last.rounding},
                            summary.status,
                            summary.message});
    if (k == 0 || better(repeats.runs.back(), repeats.runs[repeats.best])) {
      repeats.best = k;
      repeats.training = std::move(training);
    }
    if (finished) finished(repeats.runs.back());
    if (summary.status == Status::stopped) break;
  }
  return repeats;
}

}  // namespace espalier
