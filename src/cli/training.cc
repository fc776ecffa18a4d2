#include "cli/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "base/free_memory.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/ending.h"
#include "cli/interrupt.h"
#include "cli/ranks.h"
#include "cli/run_forecast.h"
#include "cli/run_log.h"
#include "cli/run_report.h"
#include "espalier/base/error.h"
#include "espalier/train/trainer.h"

namespace espalier::cli {
namespace {

// A training run from the command line's options to saved model, and what it says on the way.
class Session {
 public:
  Session(const TrainingOptions& options, const Trainer::Values& l2)
      : options_(options),
        settings_(options.checked_train_options()),
        display_(options.given().gap, std::min(options.given().report_every, options.given().passes),
                 options.quiet),
        log_(is_first_rank() ? options.log : "", [this](const std::string& line) { display_.warn(line); }),
        several_(!std::holds_alternative<double>(l2)),
        over_l1_(std::holds_alternative<L1Path>(l2)) {
    if (!options.report.empty() && is_first_rank()) log_.keep();
    options.check_solver();
    options.check_regularizer(first_of(l2));
    if (is_first_rank()) options.check_outputs();
    if (LaunchedFleet* fleet = fleet_if_joined()) fleet->meet();  // whoever cannot write has said so
    until_first_pass_.emplace("before the first pass was complete");
    read_data();
    start(l2);
  }

  const Path& run(TrainObserver observer = {}) {
    observer.report = [this](const TrainReport& now) {
      report(now);
      return Control::go_on;
    };
    return trainer_->run(observer);
  }

  // A search ends with a table of the values tried, and returns what to say of it.
  std::string run_search(const L2Range& range) {
    const Path& path = run();
    const std::vector<std::string>& headlines = trainer_->headlines();
    const PathPoint& best = path.points.at(path.best);

    std::vector<std::size_t> order(path.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order,
                      [&](std::size_t a, std::size_t b) { return path.points[a].l2 > path.points[b].l2; });
    display_.note(fmt::format("{:>12} {:>8} {:>10}  dev", "l2", "passes", "gap"));
    for (const std::size_t k : order) {
      const PathPoint& point = path.points[k];
      display_.note(fmt::format("{:>12.6g} {:>8.2f} {:>10.2e}  {}{}", point.l2, point.certificate.passes,
                                point.certificate.relative_gap(), headlines[k],
                                k == path.best ? "  best" : ""));
    }
    std::string message = fmt::format(
        "l2 {:.6g}: dev {}, best of {} values from {:.6g} to {:.6g}; relative gap {:.2g}, {:.1f} passes in "
        "all",
        best.l2, headlines[path.best], order.size(), path.points[order.back()].l2,
        path.points[order.front()].l2, best.certificate.relative_gap(), path.progress.passes);
    if (path.status != Status::converged && path.status != Status::stalled) {
      message += fmt::format(" ({} before the end of the search)", to_string(path.status));
    } else if (const std::string edge = edge_warning(best.l2, range); !edge.empty()) {
      message += "; " + edge;
      outcome_ = {{"edge", to_string(edge_of(best.l2, range))}};
    }
    return message;
  }

  // One l2. Where the objective is not convex it is one convex problem after the other.
  std::string run_one() {
    TrainObserver observer;
    observer.round = [this, before = 0.0](const CccpRound& round) mutable {
      std::string note = fmt::format("round {}: objective {:.8g}", round.round, round.objective);
      if (round.round > 1) {
        // up only where the gap of its convex problem lets it
        const double down = 100 * (1 - round.objective / before);
        note += fmt::format(", {} {:.2g} %", down >= 0 ? "down" : "up", std::abs(down));
      }
      display_.note(note);
      before = round.objective;
    };
    return with_limit(run(observer).message);
  }

  // Several seeds, of which the best dual wins. Returns what to say of it.
  std::string run_repeatedly() {
    TrainObserver observer;
    observer.repeated = [this](const RepeatedRun& run) {
      display_.note(
          fmt::format("seed {}: dual {:.10g}, {}", run.seed, run.certificate.dual, with_limit(run.message)));
    };
    run(observer);
    history_.clear();  // of the last seed, which need not be the best
    const Repeats& repeats = *trainer_->repeats();
    const RepeatedRun& best = repeats.runs.at(repeats.best);
    const std::size_t runs = repeats.runs.size();  // fewer than asked for after Ctrl-C
    outcome_ = {{"seed", best.seed}, {"runs", runs}, {"confidence", repeats.confidence()}};
    std::string message = runs > 1 ? fmt::format("best of {} seeds: ", runs) : "seed ";
    message += fmt::format("{}, {}", best.seed, with_limit(best.message));
    if (repeats.ended() > 0) {
      message += fmt::format(
          "; with probability 1 - 2^-{} or more its dual is at most twice as far from the optimum as on "
          "average",
          repeats.ended());
    }
    return message;
  }

  // Saves, unless the numbers are worthless, and ends the log. `l2_option` is what sets the smallest l2.
  // Returns the exit status.
  int finish(std::string message, std::string_view l2_option = "l2") {
    const Path& path = trainer_->path();
    const PathPoint& best = path.points.at(path.best);
    until_first_pass_.reset();  // of a run that was to take less: now there is something to save
    const bool in_vain = stopped_in_vain(path.status, new_passes_);
    const bool save = !options_.output.empty() && path.status != Status::failed && !in_vain;
    Certificate certificate = best.certificate;
    std::string rounded;
    const bool with_report = !options_.report.empty() && path.status != Status::failed && !in_vain;
    std::optional<Model> model;  // made by all ranks together
    if (save || with_report) model = trainer_->model();
    if (save) {
      if (is_first_rank()) save_model(*model, options_.output);
      certificate = model->certificate();
      if (model->info().bits < 32)
        rounded = fmt::format("; rounded to {} bits: relative gap {:.2g}", model->info().bits,
                              certificate.relative_gap());
    }
    message += describe_miss({best.status,
                              history_,
                              options_.given().gap,
                              {data_->problem(), settings_.loss, {best.l2, {best.l1}}},
                              trainer_->solver().name,
                              l2_option});
    message += rounded;
    Json outcome{{"status", to_string(path.status)}, {"message", message}, {"l2", best.l2}};
    if (best.l1 > 0) outcome.update({{"l1", best.l1}, {"active", best.active}});
    if (relaxed()) outcome["relaxed"] = true;
    if (!outcome_.is_null()) outcome.update(outcome_);
    if (save) outcome["model"] = options_.output;
    const bool stopped_early = path.status == Status::stopped && !interrupt_.interrupted();  // --patience
    if (path.status == Status::converged || path.status == Status::stalled || stopped_early)
      trainer_->remove_checkpoint();
    const bool checkpointed = trainer_->checkpointed();
    if (checkpointed) outcome["checkpoint"] = options_.checkpoint;
    log_.end(outcome);
    const std::string reported =
        with_report && is_first_rank()
            ? write_run_report(
                  options_.report,
                  report_title(options_.output.empty() ? options_.train_name() : options_.output), &*model,
                  log_.events(), options_.dev, [this](const std::string& line) { display_.warn(line); })
            : "";
    const std::string resumable = checkpointed ? "; --resume continues from " + options_.checkpoint : "";
    if (in_vain) throw Stopped(nothing_saved(new_passes_) + resumable);
    if (path.status == Status::failed)
      throw Error(message + "; expected finite numbers: check the values in the data, and l2");
    display_.note(message + (relaxed() ? " (of the relaxed problem: losses are upper bounds)" : "") +
                  (save ? "; saved " + options_.output : "") + reported + resumable);
    if (interrupt_.interrupted()) return kInterrupted;
    return options_.check_gap(certificate, display_) ? kSuccess : kMissedGap;
  }

 private:
  bool relaxed() const { return data_->problem().inference() == Inference::relaxed; }

  void read_data() {
    // A checkpoint fits only what comes out the same when it is read again, with any number of threads.
    Threads threads = options_.threads();
    if (!options_.checkpoint.empty()) threads.share_visits = false;
    const ReadingObserver observer([this](const ReadingProgress& file) {
      options_.check_reading(file);
      display_.reading(file);
    });
    data_ = options_.read_data({[this](std::string_view text) { display_.note(std::string(text)); },
                                interrupt_.flag(), threads, fleet_if_joined()});
    display_.note(fmt::format("read {}: {}", options_.train_name(), data_->describe()));
  }

  // Whatever the run starts from is there, and fits: then the log begins.
  void start(const Trainer::Values& l2) {
    settings_.stop = interrupt_.flag();
    settings_.fleet = fleet_if_joined();
    if (settings_.fleet)
      settings_.fleet->on_round = [this](const Communicator::Round& round) { log_round(round); };
    settings_.notice = [this](const std::string& text) {
      display_.note(text);
      log_.end({{"text", text}}, "notice");
    };
    settings_.warning = [this](const std::string& text) { display_.warn(text); };
    settings_.tick = [this](double passes) {
      if (passes - passes_before_ >= 1) until_first_pass_.reset();
      if (forecast_) forecast_->tick(passes);
      display_.tick(passes);
    };
    if (!options_.init.empty() && !options_.resume) settings_.init = Model::load(options_.init);
    trainer_.emplace(*data_, settings_, l2);
    if (!trainer_->beginning().empty()) display_.note(trainer_->beginning());
    passes_before_ = trainer_->path().progress.passes;
    Json settings = options_.to_json();
    settings["solver"] = trainer_->solver().name;
    settings["l2"] = to_json(l2);
    if (over_l1_) settings["l1"] = std::get<L1Path>(l2).values();
    if (relaxed()) settings["relaxed"] = true;
    if (settings_.fleet) settings["ranks"] = settings_.fleet->size();
    log_.start(settings, options_.resume);
    if (is_first_rank()) start_forecast();
  }

  // Of memory that the machine does not have, at once.
  void start_forecast() {
    if (options_.quiet && options_.log.empty()) return;
    const MemoryForecast memory = trainer_->memory();
    const TrainOptions& given = options_.given();
    forecast_.emplace(memory, RunForecast::Target{given.gap, given.report_every, given.passes, given.seconds},
                      [this](const std::string& line, const Json& event) {
                        display_.note(line);
                        log_.end(event, "forecast");
                      });
    const auto there = static_cast<double>(available_memory());
    const double more = memory.of_training();
    if (there == 0 || more <= there) return;
    const std::string ways = trainer_->smaller_by(memory);
    display_.note(fmt::format("forecast: training takes about {} more memory, where {} are free{}{}",
                              in_bytes(more), in_bytes(there), ways.empty() ? "" : "; less is taken by ",
                              ways));
  }

  Regularizer first_of(const Trainer::Values& values) const {
    const auto with_l1 = [this](double l2) {
      return Regularizer(l2, {options_.given().l1 + options_.given().l1_ratio * l2});
    };
    if (const auto* path = std::get_if<L1Path>(&values)) return {path->l2, {path->l1_max}};
    if (const auto* path = std::get_if<PathOptions>(&values)) return with_l1(path->l2_max);
    if (const auto* range = std::get_if<L2Range>(&values)) return with_l1(range->start());
    return with_l1(std::get<double>(values));
  }

  static Json to_json(const Trainer::Values& l2) {
    if (const auto* path = std::get_if<PathOptions>(&l2)) return path->values();
    if (const auto* range = std::get_if<L2Range>(&l2)) return range->name();
    if (const auto* path = std::get_if<L1Path>(&l2)) return path->l2;
    return std::get<double>(l2);
  }

  void report(const TrainReport& now) {
    const Progress& progress = now.progress;
    Evaluation dev;
    if (!options_.dev.empty()) dev = now.dev ? *now.dev : data_->evaluate_dev(now.theta);
    new_passes_ = std::max(new_passes_, progress.passes - passes_before_);
    if (new_passes_ >= 1) until_first_pass_.reset();
    if (progress.epoch == 1) history_.clear();  // another solver, l2, round or seed
    history_.push_back(progress);
    const std::string value = over_l1_   ? fmt::format("l1 {:<8.6g} ", now.l1)
                              : several_ ? fmt::format("l2 {:<8.6g} ", now.l2)
                                         : "";
    display_.report(progress, dev.headline, value);
    if (forecast_ && !several_) forecast_->report(progress);
    Json where = Json::object();
    if (now.round) where["round"] = *now.round;
    if (now.seed) where["seed"] = *now.seed;
    if (now.l1 > 0) where["l1"] = now.l1;
    if (settings_.fleet) where.update(traffic());
    log_.progress(trainer_->solver().name, now.l2, progress, options_.dev.empty() ? Json() : dev.rates,
                  where);
  }

  // What the ranks exchanged since the last report or round.
  void log_round(const Communicator::Round& round) {
    if (!is_first_rank()) return;
    Json event{{"pass", round.passes}, {"sigma", round.sigma}, {"rho", round.rho}, {"gain", round.gain}};
    if (round.halves > 0) event["halved"] = round.halves;
    event.update(traffic());
    log_.end(event, "round");
  }
  Json traffic() const {
    const Communicator::Traffic& all = settings_.fleet->traffic();
    return {{"bytes_sent", all.bytes}, {"waiting_seconds", all.seconds}};
  }

  const TrainingOptions& options_;
  TrainOptions settings_;
  Display display_;
  RunLog log_;
  InterruptGuard interrupt_;
  std::optional<NothingToSave> until_first_pass_;
  std::unique_ptr<TrainingSet> data_;
  std::optional<Trainer> trainer_;
  std::optional<RunForecast> forecast_;
  bool several_ = false;                       // values of l2,
  bool over_l1_ = false;                       // or of l1
  std::vector<Progress> history_;              // of the last run of a solver
  Json outcome_;                               // what else the log's last line says
  double passes_before_ = 0, new_passes_ = 0;  // of the run that this one resumes, and since
};

void refuse_rounds(const TrainingOptions& options) {
  const std::string rounds = options.reason_for_rounds();
  if (rounds.empty()) return;
  throw Error(fmt::format(
      "{}: not for several values of l2; expected espalier train {} with one value, such as --l2 1", rounds,
      options.task.name));
}

}  // namespace

int train_one(const TrainingOptions& options, double l2) {
  const std::string rounds = options.reason_for_rounds();
  if (!rounds.empty() && (!options.checkpoint.empty() || !options.init.empty())) {
    throw Error(
        fmt::format("{}: not with {}, whose rounds start from their own completions; expected one of the two",
                    options.checkpoint.empty() ? "--init" : "--checkpoint", rounds));
  }
  if (options.given().repeat > 1 && (!rounds.empty() || !options.checkpoint.empty())) {
    throw Error(fmt::format("--repeat: not with {}; expected one of the two",
                            rounds.empty() ? "--checkpoint" : rounds));
  }
  if (options.given().patience > 0) {
    if (options.dev.empty()) throw Error("--patience: no held-out data to look at; expected --dev FILE");
    if (!rounds.empty() || options.given().repeat > 1) {
      throw Error(fmt::format("--patience: not with {}; expected one of the two",
                              rounds.empty() ? "--repeat" : rounds));
    }
  }
  Session session(options, l2);
  return session.finish(options.given().repeat > 1 ? session.run_repeatedly() : session.run_one());
}

int train_path(const TrainingOptions& options, const std::variant<PathOptions, L1Path>& path_options) {
  const auto* over_l1 = std::get_if<L1Path>(&path_options);
  const std::vector<double> values =
      over_l1 ? over_l1->values() : std::get<PathOptions>(path_options).values();
  refuse_rounds(options);
  Session session(options, over_l1 ? Trainer::Values(*over_l1) : std::get<PathOptions>(path_options));
  const char* name = over_l1 ? "l1" : "l2";
  const bool sparse = over_l1 || options.given().l1 > 0 || options.given().l1_ratio > 0;
  const auto value_of = [&](const PathPoint& point) { return over_l1 ? point.l1 : point.l2; };
  const auto print = [](const std::string& line) {
    if (std::ferror(stdout)) return;   // nothing after what is missing
    std::fputs(line.c_str(), stdout);  // main looks whether it could be written
    std::fflush(stdout);
  };
  print(fmt::format("{:>12} {:>8} {:>8} {:>10} {:>14} {}  dev\n", name, "passes", "total", "gap", "primal",
                    sparse ? "    active" : ""));
  TrainObserver observer;
  observer.finished = [&](const PathPoint& point, const std::string& headline) {
    print(fmt::format("{:>12.6g} {:>8.2f} {:>8.2f} {:>10.2e} {:>14.8g} {}  {}\n", value_of(point),
                      point.certificate.passes, point.total_passes, point.certificate.relative_gap(),
                      point.certificate.primal, sparse ? fmt::format("{:>10}", point.active) : "", headline));
  };
  const Path& path = session.run(observer);
  const PathPoint& best = path.points.at(path.best);
  std::string message = fmt::format("best of {} values: {} {:.6g}, relative gap {:.2g}", path.points.size(),
                                    name, value_of(best), best.certificate.relative_gap());
  if (path.points.size() < values.size()) {
    message +=
        fmt::format(" ({}: {} of {} values)", to_string(path.status), path.points.size(), values.size());
  }
  return session.finish(message, over_l1 ? "--l1-min" : "--l2-min");
}

int train_search(const TrainingOptions& options, const L2Range& range) {
  range.check();
  refuse_rounds(options);
  Session session(options, range);
  return session.finish(session.run_search(range));
}

}  // namespace espalier::cli
