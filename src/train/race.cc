#include "espalier/train/race.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "selection/race_run.h"
#include "train/memory.h"
#include "train/settings.h"

namespace espalier {

std::vector<SolverEntry> racing_solvers(const std::vector<std::string>& names, const Loss& loss) {
  std::vector<SolverEntry> solvers;
  for (const std::string& name : names) {
    SolverEntry solver = find_solver(name, loss);
    if (std::ranges::find(solvers, solver.name, &SolverEntry::name) != solvers.end())
      throw Error::in(setting("solvers"), solver.name + " more than once", "expected different ones");
    solvers.push_back(std::move(solver));
  }
  if (solvers.empty()) throw Error::in(setting("solvers"), "none", "expected some to race");
  return solvers;
}

Race race(TrainingSet& data, const RaceOptions& options, const RaceEvents& events) {
  refuse_options_of_one_run(options.train, "a race");
  refuse_difference(options.train.loss, "a race");
  if (data.latent_gold() != nullptr)
    throw Error(
        "uncertain gold outputs: not in a race, whose solvers share one convex problem; expected known ones");
  const std::vector<SolverEntry> solvers = racing_solvers(options.solvers, options.train.loss);
  SolverSettings settings = solver_settings(options.train);
  Evaluation dev;  // of the last report
  std::function<HeldOutScore(const Weights&)> score;
  if (!data.dev().empty()) {
    settings.dev_error = [&](const Weights& theta) { return data.evaluate_dev(theta).dev_error; };
    score = [&](const Weights& theta) {
      dev = data.evaluate_dev(theta);
      return HeldOutScore{dev.dev_error, dev.value};
    };
  }
  RaceObserver observer;
  observer.started = events.started;
  observer.reported = [&](const SolverEntry& solver, const Progress& progress, const Weights& theta) {
    return events.report ? events.report({solver, progress, theta, score ? &dev : nullptr}) : Control::go_on;
  };
  observer.finished = events.finished;
  const Regularizer regularizer = regularizer_at(options.train, data, options.train.l2);
  for (const SolverEntry& solver : solvers) check_regularizer(regularizer, solver, options.train, data);
  const Objective objective{data.problem(), options.train.loss, regularizer};
  if (options.train.memory > 0) {
    settings.memory = memory_left(options.train.memory);
    for (const SolverEntry& solver : solvers) {
      check_memory(forecast_memory(objective, solver, settings), options.train.memory, data, solver,
                   settings);
    }
  }
  return race(objective, solvers, settings, score, observer);
}

}  // namespace espalier
