#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "espalier/learning/objective.h"
#include "espalier/solvers/registry.h"

namespace espalier {

// l2_max, l2_max * factor, ... down to l2_min (which counts if it is hit but for rounding).
struct PathOptions {
  double l2_max = 1000, l2_min = 0.3, factor = 0.7;

  // Throws Error where these describe no decreasing sequence.
  std::vector<double> values() const;
};

// One regularisation constant of a path, optimised.
struct PathPoint {
  double l2 = 0;
  Certificate certificate;  // with the passes of this value alone
  double total_passes = 0;
  double badness = 0;  // on held-out data
  Status status = Status::not_run;
};

struct Path {
  std::vector<PathPoint> points;
  std::size_t best = 0;  // the point of least badness; the first (largest l2) of equals
  Weights theta;         // its weights
  Status status = Status::not_run;
  std::string message;  // how its last value ended
  // Where it is: what the next value starts from, or this one goes on from, and what all of it took.
  Training training;
  double training_l2 = 0;  // the value that `training` is of; 0: none yet
  Progress progress;
  std::optional<Training>
      best_training;  // of the best point, where something may go back to it (l2_search.h)
};

using PathObserver = std::function<Control(double l2, const Progress&, const Weights&)>;

// What is the same for all values of l2.
struct PathRun {
  const Problem& problem;
  Loss loss;
  const SolverEntry& solver;
  const SolverSettings& settings;  // passes and seconds are limits of all values together
  std::function<double(const Weights&)> badness;
  PathObserver observer{};
  std::function<void(const PathPoint&)> finished{};
};

// The regularisation path (Collins et al. 2008, section 7.1.2): each l2 is optimised to the tolerance from the previous one's
// duals, which w(u) keeps valid as they are. `badness` rates weights on held-out data. The observer sees passes and seconds that run on
// over all values. A stop (observer or Ctrl-C) ends the path with the points so far, the last one at the gap it has.
Path regularisation_path(const Problem& problem, const Loss& loss, const PathOptions& options,
                         const SolverEntry& solver, const SolverSettings& settings,
                         const std::function<double(const Weights&)>& badness,
                         const PathObserver& observer = {},
                         const std::function<void(const PathPoint&)>& finished = {});

// The same for a path that was begun: the values after its points, the first of them from where its training is. While it runs,
// `path` is as it was at the last report, without the value that is being optimised: what a checkpoint keeps.
void continue_path(Path& path, const PathRun& run, const PathOptions& options);

// One step of it: optimises l2 to a relative gap, from where the training is, and rates it. nullopt where the run ended before
// its first report.
std::optional<PathPoint> optimise_value(Path& path, const PathRun& run, double l2, double gap);
// The next one: adds the point of the value that was optimised last. False where that did not come to its end, and the path
// ends with it.
bool add_point(Path& path, const PathRun& run, const PathPoint& point);

}  // namespace espalier
