#include "espalier/train/train.h"

#include <fmt/format.h>

#include <cmath>

#include "espalier/base/error.h"
#include "model/make_model.h"

namespace espalier {
namespace {

SolverSettings settings_of(const TrainOptions& options) {
  SolverSettings settings;
  static_cast<SolverOptions&>(settings) = options.solver_options;
  settings.stopping.gap = options.gap;
  settings.stopping.passes = options.passes;
  settings.stopping.seconds = options.seconds;
  settings.stopping.stop = options.stop;
  settings.seed = options.seed;
  settings.threads = options.threads;
  settings.report_every = options.report_every;
  settings.notice = options.notice;
  settings.dev_error = options.dev_error;
  return settings;
}

struct Ending {
  Certificate certificate;
  Status status;
  std::string message;
};

Ending solve(TrainingSet& data, const Objective& objective, const SolverEntry& solver,
             const TrainOptions& options, const Observer& observer, Training& training) {
  const SolverSettings settings = settings_of(options);
  if (LatentGold* gold = data.latent_gold()) {
    const auto observe = [&](int, const Progress& progress, const Weights& theta) {
      return observer ? observer(progress, theta) : Control::go_on;
    };
    const Cccp loop = cccp(objective, *gold, options.rounds, solver, settings, training, observe);
    return {loop.rounds.back().certificate, loop.status, loop.message};
  }
  const Summary summary = solver.run(objective, settings, training, observer);
  const Progress& last = summary.history.back();
  return {{last.primal, last.dual, last.passes, last.approximate}, summary.status, summary.message};
}

}  // namespace

Model train(TrainingSet& data, const TrainOptions& options, const Observer& observer) {
  if (!(options.l2 > 0) || !std::isfinite(options.l2)) {
    throw Error(fmt::format("l2 {}: no regularisation; expected a number > 0", options.l2));
  }
  const SolverEntry solver = find_solver(options.solver, options.loss);
  const Objective objective{data.problem(), options.loss, options.l2};
  Training training;
  const Ending ending = solve(data, objective, solver, options, observer, training);
  if (ending.status == Status::failed) {
    throw Error(ending.message + "; expected finite numbers: check the data's values and l2");
  }
  return make_model({std::string(data.task()), options.loss, options.l2, solver.name, ending.certificate,
                     data.problem().relaxed()},
                    data, training.theta);
}

}  // namespace espalier
