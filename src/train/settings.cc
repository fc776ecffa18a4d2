#include "train/settings.h"

#include <fmt/format.h>

#include "espalier/base/error.h"

namespace espalier {

SolverSettings solver_settings(const TrainOptions& options) {
  SolverSettings settings;
  static_cast<SolverOptions&>(settings) = options.solver_options;
  settings.stopping.gap = options.gap;
  settings.stopping.passes = options.passes;
  settings.stopping.seconds = options.seconds;
  settings.stopping.stop = options.stop;
  settings.stopping.tick = options.tick;
  settings.seed = options.seed;
  settings.threads = options.threads;
  settings.report_every = options.report_every;
  settings.notice = options.notice;
  return settings;
}

void refuse_options_of_one_run(const TrainOptions& options, std::string_view what) {
  const auto refuse = [&](const char* option) {
    throw Error(fmt::format("{}: not in {}; expected none", option, what));
  };
  if (options.init) refuse("an initial model");
  if (!options.checkpoint.file.empty()) refuse("a checkpoint");
  if (options.repeat > 1) refuse("repeated runs");
  if (options.patience > 0) refuse("patience");
}

}  // namespace espalier
