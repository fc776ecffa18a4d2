#pragma once

#include <functional>
#include <string>
#include <vector>

#include "espalier/selection/race.h"
#include "espalier/solvers/registry.h"
#include "espalier/train/train.h"

namespace espalier {

// How to race. The defaults are those of `espalier race`, its budget of 60 seconds for each solver included.
struct RaceOptions {
  std::vector<std::string> solvers{};  // by their names; one with commas is a sequence of solvers
  TrainOptions train{.gap = 1e-5, .seconds = 60, .report_every = 1};  // of each; its solver does not count
};

// A report of a solver.
struct RaceReport {
  const SolverEntry& solver;
  const Progress& progress;
  const Weights& theta;
  const Evaluation* dev;  // of held-out data (TrainingSet::read_dev), if there is some
};

// What a race tells of itself; each may be empty.
struct RaceEvents {
  std::function<void(const SolverEntry&)> started{};
  std::function<Control(const RaceReport&)> report{};
  std::function<void(const RaceRun&)> finished{};
};

// Runs solvers on the same data, one after another and each from scratch: how close each gets to the optimum,
// and when. Throws Error for unknown solvers, for solvers that do not take the loss, and for options that do
// not fit.
Race race(TrainingSet& data, const RaceOptions& options, const RaceEvents& events = {});

// The solvers of the options. Throws Error as race() does.
std::vector<SolverEntry> racing_solvers(const std::vector<std::string>& names, const Loss& loss);

}  // namespace espalier
