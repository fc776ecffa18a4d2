#include "train/settings.h"

#include <fmt/format.h>

#include <cmath>

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
  settings.threads = Threads::of(options.threads);
  settings.report_every = options.report_every;
  settings.notice = options.notice;
  return settings;
}

Regularizer regularizer_at(const TrainOptions& options, const TrainingSet& data, double l2) {
  SoftThreshold l1 = data.l1_rows();
  l1.value = options.l1 + options.l1_ratio * l2;
  return {l2, l1};
}

void check_regularizer(const Regularizer& regularizer, const SolverEntry& solver, const TrainOptions& options,
                       const TrainingSet& data) {
  const auto& [l2, l1] = regularizer;
  if (!(l2 >= 0) || !std::isfinite(l2))
    throw Error(fmt::format("{} {}; expected a number > 0", setting("l2"), l2));
  if (!(l1.value >= 0) || !std::isfinite(l1.value))
    throw Error(fmt::format("{} {}; expected a number >= 0", setting("l1"), l1.value));
  check_regularizer(solver, options.loss, regularizer);
  const bool leaves_out = l1.first > 0 || l1.last < data.problem().weight_shape().rows;
  if (leaves_out && !l1.any())
    throw Error(fmt::format("{0}: no effect without {1}; expected {1}, or none", setting("l1_except"),
                            setting("l1")));
  if (leaves_out && !(l2 > 0)) {
    throw Error(fmt::format("{} 0: not with {}, whose weights nothing would hold; expected a number > 0",
                            setting("l2"), setting("l1_except")));
  }
  if (l1.any() && data.problem().kernel() != nullptr) {
    throw Error(fmt::format("{}: not with a kernel, whose weights are not those of attributes; expected 0",
                            setting("l1")));
  }
}

namespace {

std::string name_of(const Loss& loss) { return fmt::format("{} {}", setting("loss"), loss.name()); }

}  // namespace

std::string reason_for_rounds(const TrainOptions& options, TrainingSet& data) {
  if (options.loss.difference) return name_of(options.loss);
  return data.latent_gold() != nullptr ? "uncertain gold outputs" : "";
}

void check_difference(const TrainOptions& options, TrainingSet& data, const SolverEntry& solver) {
  const std::string name = name_of(options.loss);
  if (data.latent_gold() != nullptr)
    throw Error(fmt::format("uncertain gold outputs: not with {}; expected one of the two", name));
  if (!solver.converges) {
    throw Error(
        fmt::format("{} {}: not with {}, each of whose rounds needs an optimum; expected a solver that "
                    "converges, such as auto",
                    setting("solver"), solver.name, name));
  }
  if (options.solver_options.cutting_plane.rescaling == Rescaling::slack)
    throw Error(fmt::format("{} slack: not with {}; expected margin", setting("rescaling"), name));
}

void refuse_difference(const Loss& loss, std::string_view where) {
  if (!loss.difference) return;
  throw Error(fmt::format("{}: not in {}, which is for convex problems; expected a convex loss",
                          name_of(loss), where));
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
