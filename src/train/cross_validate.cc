#include "espalier/train/cross_validate.h"

#include <algorithm>
#include <mutex>

#include "espalier/base/error.h"
#include "learning/kept_messages.h"
#include "selection/cross_validation_run.h"
#include "train/memory.h"
#include "train/settings.h"

namespace espalier {
namespace {

L2Sequence sequence_of(const Trainer::Values& l2) {
  if (std::holds_alternative<L1Path>(l2))
    throw Error("a path over l1: not in cross-validation; expected one over l2");
  if (const auto* range = std::get_if<L2Range>(&l2)) return espalier::sequence_of(*range);
  if (const auto* path = std::get_if<PathOptions>(&l2)) return espalier::sequence_of(*path);
  return espalier::sequence_of(PathOptions{std::get<double>(l2), std::get<double>(l2)});
}

}  // namespace

std::vector<std::vector<std::uint32_t>> make_folds(const TrainingSet& data, std::size_t folds,
                                                   std::uint64_t seed) {
  return data.groups().empty() ? make_folds(data.problem().size(), folds, seed)
                               : make_folds(data.groups(), folds, seed);
}

CrossValidated cross_validate(const TrainingSet& data, const CrossValidateOptions& options,
                              const std::function<void(const FoldReport&)>& report) {
  refuse_options_of_one_run(options.train, "cross-validation");
  refuse_difference(options.train.loss, "cross-validation");
  if (data.latent_gold() != nullptr)
    throw Error(
        "uncertain gold outputs: not in cross-validation, whose folds are convex problems; expected known "
        "ones");
  const L2Sequence values = sequence_of(options.l2);
  const auto folds = make_folds(data, options.folds, options.train.seed);
  const SolverEntry solver = find_solver(options.train.solver, options.train.loss);
  check_regularizer(regularizer_at(options.train, data, values.next({}).value()), solver, options.train,
                    data);
  SolverSettings settings = solver_settings(options.train);
  settings.threads = 1;
  if (std::holds_alternative<L2Range>(options.l2))
    settings.stopping.gap = std::max(settings.stopping.gap, kSearchGap);
  if (options.train.memory > 0) {
    const Objective objective{data.problem(), options.train.loss,
                              regularizer_at(options.train, data, values.next({}).value())};
    const std::size_t at_once = std::min(Threads::of(options.train.threads).number, folds.size());
    settings.memory = memory_left(options.train.memory) / static_cast<double>(at_once);
    MemoryForecast forecast = forecast_memory(objective, solver, settings, at_once);
    forecast.duals += static_cast<double>(folds.size() * message_bytes(data.problem()));
    check_memory(forecast, options.train.memory, data, solver, settings);
  }
  std::mutex telling;
  if (options.train.tick) {
    settings.stopping.tick = [&](double passes) {
      const std::lock_guard lock(telling);
      options.train.tick(passes);
    };
  }
  std::vector<Evaluation> last(folds.size());  // of the value that a fold was at
  CrossValidated result;
  static_cast<CrossValidation&>(result) = cross_validate(
      data.problem(), options.train.loss, values, solver, settings, folds, Threads::of(options.train.threads),
      [&](std::size_t fold, const Weights& theta) {
        last[fold] = data.evaluate_examples(theta, folds[fold]);
        return HeldOutScore{last[fold].dev_error, last[fold].value};
      },
      [&](std::size_t fold, const PathPoint& point, const Progress& progress) {
        const std::lock_guard lock(telling);
        if (report) report({fold, point, progress, last[fold]});
      },
      [&](double l2) { return regularizer_at(options.train, data, l2); });
  if (result.status == Status::failed) {
    throw Error(
        "failed: an objective is not finite; expected finite numbers: check the values in the data, and l2");
  }
  result.metric = last.front().metric;
  return result;
}

}  // namespace espalier
