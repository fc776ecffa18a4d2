#include "espalier/train/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>

#include "espalier/base/error.h"
#include "fleet/communicator.h"
#include "learning/difference_problem.h"
#include "learning/latent_gold.h"
#include "learning/rank_problem.h"
#include "model/checkpoint.h"
#include "model/data_fingerprint.h"
#include "model/make_model.h"
#include "model/weight_coding.h"
#include "selection/cccp_run.h"
#include "selection/l2_search.h"
#include "selection/path_run.h"
#include "selection/repeat_run.h"
#include "solvers/stoppable.h"
#include "train/initial_model.h"
#include "train/memory.h"
#include "train/recertify.h"
#include "train/settings.h"

namespace espalier {
namespace {

SolverSettings settings_of(const TrainOptions& options, const TrainingSet& data) {
  SolverSettings settings = solver_settings(options);
  if (!data.dev().empty())
    settings.dev_error = [&data](const Weights& theta) { return data.evaluate_dev(theta).dev_error; };
  return settings;
}

// As run_identity() has it.
Json identity_of(const Trainer::Values& l2) {
  if (const auto* path = std::get_if<PathOptions>(&l2)) return path->values();
  if (const auto* range = std::get_if<L2Range>(&l2)) return range->name();
  if (const auto* path = std::get_if<L1Path>(&l2)) return path->l2;
  return std::get<double>(l2);
}

double first_of(const Trainer::Values& l2) {
  if (const auto* path = std::get_if<PathOptions>(&l2)) return path->values().front();
  if (const auto* range = std::get_if<L2Range>(&l2)) return range->start();
  if (const auto* path = std::get_if<L1Path>(&l2)) return path->values().front();
  return std::get<double>(l2);
}

}  // namespace

// One l2 is a path of one value.
struct Trainer::State {
  State(TrainingSet& of_task, const TrainOptions& of_run, const Values& l2)
      : data(of_task),
        options(of_run),
        values(l2),
        solver(of_run.fleet ? find_solver_of_ranks(of_run.solver, of_run.loss)
                            : find_solver(of_run.solver, of_run.loss)),
        settings(settings_of(options, data)) {
    if (options.loss.difference) check_difference(options, data, solver);
    if (options.fleet) check_ranks();
    if (const auto* range = std::get_if<L2Range>(&values)) range->check();
    check_regularizer(regularizer_at(first_of(values)), solver, options, data);
    check_combination();
    if (options.fleet) {
      share.reset(new RankProblem(data.fleet() ? RankProblem(data.problem(), *options.fleet)
                                               : RankProblem::share_of(data.problem(), *options.fleet)));
    }
    if (options.loss.difference)
      difference.reset(new DifferenceProblem(data.problem(), settings.threads.number));
    if (options.memory > 0) {
      settings.memory = memory_left(options.memory);
      check_memory(memory(), options.memory, data, solver, settings);
    }
    if (!options.checkpoint.file.empty()) {
      identity = run_identity(data, options.loss, identity_of(values), solver.name);
      if (!std::holds_alternative<double>(values) || options.patience > 0) identity["dev"] = data.dev();
      if (const auto* path = std::get_if<L1Path>(&values)) {
        identity["l1"] = path->values();
      } else if (options.l1 > 0 || options.l1_ratio > 0) {
        identity["l1"] = {options.l1, options.l1_ratio};
      }
    }
    if (options.checkpoint.resume) {
      resume();
    } else if (options.init) {
      InitialTraining start =
          start_from_model(*options.init, data, objective_at(first_of(values)), solver, settings);
      state.path.training = std::move(start.training);
      beginning = std::move(start.text);
      options.init.reset();  // nobody looks at it again
    }
  }

  // The examples that are visited here.
  const Problem& problem() const {
    if (difference) return *difference;
    return share ? static_cast<const Problem&>(*share) : data.problem();
  }
  // What is completed from round to round; nullptr: the problem is convex.
  LatentGold* latent_gold() const { return difference ? difference.get() : data.latent_gold(); }
  // What solvers minimise at one of the values: of a difference of losses, a round's convex problem.
  Objective objective_at(double value) const {
    return {problem(), options.loss.convex(), regularizer_at(value)};
  }

  MemoryForecast memory() const {
    MemoryForecast forecast = forecast_memory(objective_at(first_of(values)), solver, settings);
    // The best weights so far, of several values or on held-out data; those that are rounded.
    const WeightShape shape = problem().weight_shape();
    const auto copy = static_cast<double>(shape.rows * row_stride(shape.width) * sizeof(float));
    if (!std::holds_alternative<double>(values) || options.patience > 0 || options.repeat > 1)
      forecast.weights += 2 * copy;
    if (options.bits < 32) forecast.weights += 2 * copy;
    return forecast;
  }

  // What ranks have no way with, and whether they all have the same.
  void check_ranks() const {
    const auto refuse = [](const std::string& what, const char* expected) {
      throw Error(fmt::format("{}: not on several ranks; expected {}", what, expected));
    };
    if (data.problem().kernel() != nullptr) refuse(setting("kernel"), "none");
    if (const std::string what = reason_for_rounds(options, data); !what.empty())
      refuse(what, "a convex problem");
    if (options.init) refuse("an initial model", "none");
    if (options.solver_options.eg.step == EgStep::paper) refuse(setting("step") + " paper", "auto or safe");
    const Json what{run_identity(data, options.loss, identity_of(values), solver.name), options.l1,
                    options.l1_ratio};
    options.fleet->check_same("other data or options", what.dump(), "the same on all ranks");
  }

  // What one of the values stands for.
  Regularizer regularizer_at(double value) const {
    const auto* path = std::get_if<L1Path>(&values);
    if (!path) return espalier::regularizer_at(options, data, value);
    SoftThreshold l1 = data.l1_rows();
    l1.value = value;
    return {path->l2, l1};
  }

  // What starts or goes on in its own way.
  void check_combination() const {
    const bool several = !std::holds_alternative<double>(values);
    const std::string rounds = reason_for_rounds(options, data);
    const bool latent = !rounds.empty();
    const auto refuse = [](const std::string& what, const std::string& with) {
      throw Error(fmt::format("{}: not with {}; expected one of the two", what, with));
    };
    if (latent && several) refuse(rounds, "several values of l2");
    if (latent && !options.checkpoint.file.empty()) refuse(rounds, "a checkpoint");
    if (latent && options.init) refuse(rounds, "an initial model");
    if (options.repeat > 1 && several) refuse("repeated runs", "several values of l2");
    if (options.repeat > 1 && latent) refuse("repeated runs", rounds);
    if (options.repeat > 1 && !options.checkpoint.file.empty()) refuse("repeated runs", "a checkpoint");
    if (options.repeat > 1 && solver.batch) {
      throw Error(fmt::format(
          "{0}: no effect; expected a solver that draws random numbers, such as {1} eg, or no {0}",
          setting("repeat"), setting("solver")));
    }
    if (options.patience > 0 && several) refuse("patience", "several values of l2");
    if (options.patience > 0 && latent) refuse("patience", rounds);
    if (options.patience > 0 && options.repeat > 1) refuse("patience", "repeated runs");
    if (options.patience > 0 && data.dev().empty())
      throw Error("patience: no held-out data to look at; expected some (read_dev)");
    if (options.bits != 16 && options.bits != 32)
      throw Error::in(setting("bits"), fmt::format("{}", options.bits), "expected 16 or 32");
    if (options.solver_options.cutting_plane.rescaling == Rescaling::slack &&
        solver.name != "cutting-plane") {
      throw Error(fmt::format("{} slack: an objective that {} does not have; expected {} cutting-plane",
                              setting("rescaling"), solver.name, setting("solver")));
    }
    if (std::holds_alternative<L2Range>(values) && data.dev().empty())
      throw Error("a search for l2: no held-out data to choose on; expected some (read_dev)");
  }

  void resume() {
    state = load_checkpoint(options.checkpoint.file, identity, problem());
    checkpointed = true;
    beginning = fmt::format("resumed {}: {:.1f} passes, {:.1f} s", options.checkpoint.file,
                            state.path.progress.passes, state.path.progress.seconds);
  }

  // Looks at the weights of a report on held-out data. True: they have not improved there for too long.
  bool out_of_patience(const Evaluation& dev, const Progress& progress, const Weights& theta) {
    std::optional<BestOnDev>& best = state.best_on_dev;
    const bool better = !best || dev.dev_error < best->dev_error;
    const std::size_t reports_since = better ? 0 : best->reports_since + 1;
    // Of equals the later ones, whose gap is smaller.
    if (better || dev.dev_error == best->dev_error) {
      best = {theta, progress, dev.dev_error, dev.headline, reports_since};
    } else {
      best->reports_since = reports_since;
    }
    return reports_since >= options.patience;
  }

  // What was best on held-out data takes the place of what came last, with the certificate of its own.
  void keep_best_on_dev() {
    if (!state.best_on_dev || state.path.points.empty()) return;
    const BestOnDev& best = *state.best_on_dev;
    PathInProgress& path = state.path;
    if (path.status == Status::stopped && best.reports_since >= options.patience) {
      path.message = fmt::format("stopped early: held-out data has not improved for {} report{}",
                                 best.reports_since, best.reports_since == 1 ? "" : "s");
    }
    PathPoint& point = path.points.back();
    if (best.progress.passes == point.total_passes) return;  // they are the same
    point.certificate = {best.progress.primal, best.progress.dual, best.progress.passes,
                         best.progress.inference, best.progress.rounding};
    point.dev_error = best.dev_error;
    path.theta = best.theta;
    state.headlines.back() = best.headline;
    path.message += fmt::format("; kept the weights of pass {:.1f}, where it was best: relative gap {:.2g}",
                                best.progress.passes, best.progress.relative_gap());
  }

  Control report(const TrainReport& report) const {
    return observer.report ? observer.report(report) : Control::go_on;
  }

  PathRun path_run() {
    return {problem(),
            options.loss,
            solver,
            settings,
            [this](const Weights& theta) {
              if (data.dev().empty()) return 0.0;
              const Evaluation dev = data.evaluate_dev(theta);
              headline = dev.headline;
              return dev.dev_error;
            },
            [this](const Regularizer& at, const Progress& progress, const Weights& theta) {
              std::optional<Evaluation> dev;
              if (options.patience > 0 && std::isfinite(progress.primal)) dev = data.evaluate_dev(theta);
              Control control = report({at.l2, progress, theta, {}, {}, dev ? &*dev : nullptr, at.l1.value});
              if (dev && out_of_patience(*dev, progress, theta)) control = Control::stop;
              save_checkpoint_if_due(progress);
              return control;
            },
            [this](const PathPoint& point) {
              state.headlines.push_back(headline);
              if (observer.finished) observer.finished(point, headline);
            },
            [this](double value) { return regularizer_at(value); }};
  }

  void run() {
    if (options.repeat > 1) return run_repeatedly();
    if (LatentGold* gold = latent_gold()) return run_rounds(*gold);
    run_values();
    if (state.path.points.empty()) throw NothingCertified(state.path.message, state.path.status);
  }

  void run_values() {
    for (std::size_t k = 0; observer.finished && k < state.path.points.size(); ++k) {
      observer.finished(state.path.points[k], state.headlines[k]);
    }
    if (const auto* range = std::get_if<L2Range>(&values)) {
      search_l2(state.path, path_run(), *range);
      // The best one may have gone on to the gap of the run.
      if (state.path.points.empty()) return;
      if (state.path.training_l2 == state.path.points.at(state.path.best).l2)
        state.headlines[state.path.best] = headline;
    } else if (const auto* path = std::get_if<PathOptions>(&values)) {
      continue_path(state.path, path_run(), path->values());
    } else if (const auto* over_l1 = std::get_if<L1Path>(&values)) {
      continue_path(state.path, path_run(), over_l1->values());
    } else {
      continue_path(state.path, path_run(), {std::get<double>(values)});
      keep_best_on_dev();
    }
  }

  // Where the objective is not convex: one convex problem after the other.
  void run_rounds(LatentGold& gold) {
    const double l2 = std::get<double>(values);
    PathInProgress& path = state.path;
    const Cccp loop = cccp(
        objective_at(l2), gold, options.rounds, solver, settings, path.training,
        [&](int round, const Progress& progress, const Weights& theta) {
          return report({l2, progress, theta, round, {}, nullptr, regularizer_at(l2).l1.value});
        },
        observer.round);
    const Certificate& certificate = loop.rounds.back().certificate;
    path.points = {{l2, certificate, certificate.passes, 0, loop.status, regularizer_at(l2).l1.value}};
    objective = loop.rounds.back().objective;
    path.theta = path.training.theta;
    path.status = loop.status;
    path.message = loop.message;
  }

  // Several seeds, of which the best dual wins.
  void run_repeatedly() {
    const double l2 = std::get<double>(values);
    repeats = repeat(
        objective_at(l2), options.repeat, solver, settings, state.path.training,
        [&](std::uint64_t seed, const Progress& progress, const Weights& theta) {
          return report({l2, progress, theta, {}, seed, nullptr, regularizer_at(l2).l1.value});
        },
        observer.repeated);
    const RepeatedRun& best = repeats->runs.at(repeats->best);
    PathInProgress& path = state.path;
    path.points = {
        {l2, best.certificate, best.certificate.passes, 0, best.status, regularizer_at(l2).l1.value}};
    path.theta = std::move(repeats->training.theta);
    path.status = best.status;
    path.message = best.message;
  }

  void save_checkpoint_if_due(const Progress& progress) {
    if (options.checkpoint.file.empty() || !std::isfinite(progress.primal) || !std::isfinite(progress.dual))
      return;
    // The last report of a run that ends too early is what it is resumed from.
    const bool last = settings.stopping.interrupted() || progress.passes >= settings.stopping.passes ||
                      progress.seconds >= settings.stopping.seconds;
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> since = now - checkpoint_time;
    bool due = last || since.count() >= options.checkpoint.every;
    // The clock is rank 0's.
    if (options.fleet) due = options.fleet->any(options.fleet->rank() == 0 ? due : last);
    if (!due) return;
    checkpoint_time = now;
    try {
      save_checkpoint(options.checkpoint.file, identity, state, share.get());
      checkpointed = true;
    } catch (const Error& e) {  // the next one may fit again; this run needs none
      if (!checkpoint_failed && options.warning)
        options.warning(std::string(e.what()) + "; the run continues");
      checkpoint_failed = true;
    }
  }

  TrainingSet& data;
  std::unique_ptr<const RankProblem> share;       // where there are several ranks
  std::unique_ptr<DifferenceProblem> difference;  // where the loss is a difference
  TrainOptions options;
  Values values;
  SolverEntry solver;
  SolverSettings settings;
  TrainObserver observer;
  std::string beginning;
  Checkpoint state;
  std::optional<RepeatedTraining> repeats;
  std::optional<double> objective;  // where it is not convex: that of the last round
  std::string headline;             // of the value that was rated last
  Json identity;
  bool checkpointed = false;       // there is a checkpoint of this run
  bool checkpoint_failed = false;  // to write one, and that was said
  std::chrono::steady_clock::time_point checkpoint_time = std::chrono::steady_clock::now();
};

Trainer::Trainer(TrainingSet& data, const TrainOptions& options, const Values& l2)
    : state_(std::make_unique<State>(data, options, l2)) {}
Trainer::~Trainer() = default;

const std::string& Trainer::beginning() const { return state_->beginning; }
const SolverEntry& Trainer::solver() const { return state_->solver; }
MemoryForecast Trainer::memory() const { return state_->memory(); }
std::string Trainer::smaller_by(const MemoryForecast& forecast) const {
  return espalier::smaller_by(forecast, state_->data, state_->solver, state_->settings);
}
const Path& Trainer::path() const { return state_->state.path; }
const std::vector<std::string>& Trainer::headlines() const { return state_->state.headlines; }
const Repeats* Trainer::repeats() const { return state_->repeats ? &*state_->repeats : nullptr; }
bool Trainer::checkpointed() const { return state_->checkpointed; }

const Path& Trainer::run(const TrainObserver& observer) {
  state_->observer = observer;
  try {
    state_->run();
  } catch (const NothingCertified& nothing) {
    if (nothing.status == Status::out_of_time) throw Error(nothing.what());  // nobody stopped it
    throw;
  }
  return path();
}

Model Trainer::model() const {
  const TrainOptions& options = state_->options;
  if (path().points.empty())
    throw Error("a run that ended before its first report; expected one that trains");
  if (path().status == Status::failed)
    throw Error(path().message + "; expected finite numbers: check the values in the data, and l2");
  const TrainingSet& data = state_->data;
  const PathPoint& best = path().points.at(path().best);
  Certificate certificate = best.certificate;
  certificate.inference = data.problem().inference();  // what a checkpoint does not say
  ModelInfo info{
      std::string(data.task()), options.loss, best.l2, solver().name, certificate, options.bits, best.l1};
  info.objective = state_->objective;
  info.slack_rescaling = options.solver_options.cutting_plane.rescaling == Rescaling::slack;
  info.data = data_fingerprint(data, state_->data.latent_gold() == nullptr);
  info.reading = data.reading();
  if (options.bits == 32) return make_model(info, data, path().theta);
  SoftThreshold l1 = data.l1_rows();
  l1.value = best.l1;
  const Regularizer regularizer(best.l2, l1);
  const Weights rounded = rounded_weights(path().theta, options.bits);
  Sweep sweep(Threads::of(options.threads), options.fleet);
  const Objective objective{state_->problem(), options.loss.convex(), regularizer};
  info.certificate = certificate_of_rounded(objective, options.solver_options.cutting_plane.rescaling,
                                            rounded, certificate.dual, certificate.passes, sweep);
  if (const LatentGold* gold = state_->latent_gold())
    info.objective = info.certificate->primal - gold->surplus(rounded, objective.loss);
  return make_model(info, data, rounded);
}

void Trainer::remove_checkpoint() {
  const bool first = !state_->options.fleet || state_->options.fleet->rank() == 0;
  if (checkpointed() && first) espalier::remove_checkpoint(state_->options.checkpoint.file);
  state_->checkpointed = false;
}

Model train(TrainingSet& data, const TrainOptions& options, const Observer& observer) {
  Trainer trainer(data, options, options.l2);
  TrainObserver of_run;
  if (observer) {
    of_run.report = [&](const TrainReport& report) { return observer(report.progress, report.theta); };
  }
  trainer.run(of_run);
  return trainer.model();
}

}  // namespace espalier
