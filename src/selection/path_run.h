#pragma once

#include <functional>
#include <optional>

#include "espalier/learning/objective.h"
#include "espalier/selection/path.h"
#include "espalier/solvers/registry.h"
#include "solvers/training.h"

namespace espalier {

// A path with what the next value starts from, or this one continues from.
struct PathInProgress : Path {
  Training training;
  double training_l2 = 0;  // the value that `training` is of, be it an l1; 0: none yet
  std::optional<Training>
      best_training;  // of the best point, where something may go back to it (l2_search.h)
};

using PathObserver = std::function<Control(const Regularizer&, const Progress&, const Weights&)>;

// What is the same for all values of l2.
struct PathRun {
  const Problem& problem;
  Loss loss;
  const SolverEntry& solver;
  const SolverSettings& settings;  // passes and seconds are limits of all values together
  std::function<double(const Weights&)> dev_error;
  PathObserver observer{};
  std::function<void(const PathPoint&)> finished{};
  // What a value stands for: l2 alone, or with an l1 that goes with it, or an l1.
  std::function<Regularizer(double)> regularizer = [](double l2) { return Regularizer(l2); };
};

// The regularisation path (Collins et al. 2008, section 7.1.2): each l2 is optimised to the tolerance from
// the previous one's duals, which w(u) keeps valid as they are. `dev_error` rates weights on held-out data.
// The observer sees passes and seconds that run on over all values. A stop (observer or Ctrl-C) ends the path
// with the points so far, the last one at the gap it has.
Path regularisation_path(const Problem& problem, const Loss& loss, const PathOptions& options,
                         const SolverEntry& solver, const SolverSettings& settings,
                         const std::function<double(const Weights&)>& dev_error,
                         const PathObserver& observer = {},
                         const std::function<void(const PathPoint&)>& finished = {});

// The same for a path that was begun: the values after its points, the first of them from where its training
// is. While it runs, `path` is as it was at the last report, without the value that is being optimised: what
// a checkpoint keeps.
void continue_path(PathInProgress& path, const PathRun& run, const std::vector<double>& values);

// Before a step of it: lets the duals go ahead to where the last two values point, from the third value on.
// For values that fall by the same factor each.
void prepare_next(PathInProgress& path, double value);
// One step of it: optimises a value to a relative gap, from where the training is, and rates it. nullopt
// where the run ended before its first report.
std::optional<PathPoint> optimise_value(PathInProgress& path, const PathRun& run, double value, double gap);
// The next one: adds the point of the value that was optimised last. False where that did not come to its
// end, and the path ends with it.
bool add_point(PathInProgress& path, const PathRun& run, const PathPoint& point);

}  // namespace espalier
