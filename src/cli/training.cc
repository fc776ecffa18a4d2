#include "cli/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include "cli/commands.h"
#include "cli/display.h"
#include "cli/ending.h"
#include "cli/initial_model.h"
#include "cli/interrupt.h"
#include "cli/run_log.h"
#include "espalier/base/error.h"
#include "espalier/model/checkpoint.h"
#include "espalier/model/model.h"
#include "espalier/selection/cccp.h"
#include "espalier/selection/l2_search.h"
#include "espalier/selection/repeat.h"
#include "model/make_model.h"

namespace espalier::cli {
namespace {

using Json = nlohmann::ordered_json;

// A training run from options to saved model. One l2 is a path of one value.
class Session {
 public:
  // Sees each value with its headline, also those that an earlier run finished.
  using Finished = std::function<void(const PathPoint&, const std::string&)>;

  explicit Session(const TrainingOptions& options)
      : options_(options),
        loss_(options.checked_loss()),
        settings_(options.checked_settings()),
        display_(options.gap, options.quiet),
        log_(options.log, [this](const std::string& line) { display_.warn(line); }) {
    options.check_solver();
    options.check_outputs();
  }

  // Reads the data and whatever the run starts from. `l2` is one value, all of a path, or what a search is called;
  // the run begins at `first`.
  void start(const Json& l2, double first) {
    until_first_pass_.emplace("before the first pass was over");
    several_ = !l2.is_number();
    // A checkpoint fits only what comes out the same when it is read again.
    const std::size_t threads = options_.checkpoint.empty() ? options_.threads : 1;
    data_ = options_.read_data(
        {[this](std::string_view text) { display_.note(std::string(text)); }, interrupt_.flag(), threads});
    const std::string name = options_.train == "-" ? "standard input" : options_.train;
    display_.note(fmt::format("read {}: {}", name, data_->describe()));
    solver_ = find_solver(options_.solver, loss_);
    if (!options_.checkpoint.empty()) {
      identity_ = run_identity(*data_, loss_, l2, solver_.name);
      if (several_) identity_["dev"] = options_.dev;
    }
    if (options_.resume) {
      resume();
    } else if (!options_.init.empty()) {
      state_.path.training =
          start_from_model(options_.init, *data_, {data_->problem(), loss_, first}, solver_, display_);
    }
    Json settings = options_.to_json();
    settings["solver"] = solver_.name;
    settings["l2"] = l2;
    if (relaxed()) settings["relaxed"] = true;
    log_.start(settings, options_.resume);
    if (!options_.dev.empty()) {
      settings_.dev_error = [this](const Weights& theta) { return data_->evaluate_dev(theta).badness; };
    }
    settings_.stopping.stop = interrupt_.flag();
    settings_.notice = [this](const std::string& text) {
      display_.note(text);
      log_.end({{"text", text}}, "notice");
    };
    settings_.stopping.tick = [this](double passes) {
      if (passes - passes_before_ >= 1) until_first_pass_.reset();
      display_.tick(passes);
    };
  }

  const Path& run(const PathOptions& values, const Finished& finished) {
    for (std::size_t k = 0; k < state_.path.points.size(); ++k) {
      finished(state_.path.points[k], state_.headlines[k]);
    }
    continue_path(state_.path, path_run(finished), values);
    return state_.path;
  }

  // A search ends with a table of the values tried, and returns what to say of it.
  std::string run_search(const L2Range& range) {
    const Path& path = state_.path;
    search_l2(state_.path, path_run([](const PathPoint&, const std::string&) {}), range);
    const PathPoint& best = path.points.at(path.best);
    // The best one may have gone on to the gap of the run.
    if (path.training_l2 == best.l2) state_.headlines[path.best] = headline_;

    std::vector<std::size_t> order(path.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order,
                      [&](std::size_t a, std::size_t b) { return path.points[a].l2 > path.points[b].l2; });
    display_.note(fmt::format("{:>12} {:>8} {:>10}  dev", "l2", "passes", "gap"));
    for (const std::size_t k : order) {
      const PathPoint& point = path.points[k];
      display_.note(fmt::format("{:>12.6g} {:>8.2f} {:>10.2e}  {}{}", point.l2, point.certificate.passes,
                                point.certificate.relative_gap(), state_.headlines[k],
                                k == path.best ? "  best" : ""));
    }
    std::string message = fmt::format(
        "l2 {:.6g}: dev {}, best of {} values from {:.6g} to {:.6g}; relative gap {:.2g}, {:.1f} passes in "
        "all",
        best.l2, state_.headlines[path.best], order.size(), path.points[order.back()].l2,
        path.points[order.front()].l2, best.certificate.relative_gap(), path.progress.passes);
    if (path.status != Status::converged && path.status != Status::stalled) {
      message += fmt::format(" ({} before the end of the search)", to_string(path.status));
    } else if (const std::string edge = edge_warning(best.l2, range); !edge.empty()) {
      message += "; " + edge;
      outcome_ = {{"edge", to_string(edge_of(best.l2, range))}};
    }
    return message;
  }

  // Where gold outputs are not all known: one convex problem after the other.
  const Path& run_rounds(LatentGold& gold, double l2) {
    double before = 0;
    const Cccp loop = cccp(
        {data_->problem(), loss_, l2}, gold, options_.outer, solver_, settings_, state_.path.training,
        [&](int round, const Progress& progress, const Weights& theta) {
          report(l2, progress, theta, {{"round", round}});
          return Control::go_on;
        },
        [&](const CccpRound& round) {
          std::string note = fmt::format("round {}: objective {:.8g}", round.round, round.objective);
          if (round.round > 1) note += fmt::format(", down {:.2g} %", 100 * (1 - round.objective / before));
          display_.note(note);
          before = round.objective;
        });
    Path& path = state_.path;
    const Certificate& certificate = loop.rounds.back().certificate;
    path.points = {{l2, certificate, certificate.passes, 0, loop.status}};
    path.theta = path.training.theta;
    path.status = loop.status;
    path.message = loop.message;
    return path;
  }

  // Several seeds, of which the best dual wins. Returns what to say of it.
  std::string run_repeatedly(double l2) {
    Repeats repeats = repeat(
        {data_->problem(), loss_, l2}, options_.repeat, solver_, settings_, state_.path.training,
        [&](std::uint64_t seed, const Progress& progress, const Weights& theta) {
          report(l2, progress, theta, {{"seed", seed}});
          return Control::go_on;
        },
        [&](const RepeatedRun& run) {
          display_.note(
              fmt::format("seed {}: dual {:.10g}, {}", run.seed, run.certificate.dual, run.message));
        });
    history_.clear();  // of the last seed, which need not be the best
    const RepeatedRun& best = repeats.runs.at(repeats.best);
    const std::size_t runs = repeats.runs.size();  // fewer than asked for after Ctrl-C
    Path& path = state_.path;
    path.points = {{l2, best.certificate, best.certificate.passes, 0, best.status}};
    path.theta = std::move(repeats.training.theta);
    path.status = best.status;
    outcome_ = {{"seed", best.seed}, {"runs", runs}, {"confidence", repeats.confidence()}};
    std::string message = runs > 1 ? fmt::format("best of {} seeds: ", runs) : "seed ";
    message += fmt::format("{}, {}", best.seed, best.message);
    if (repeats.ended() > 0) {
      message += fmt::format(
          "; with probability 1 - 2^-{} or more its dual is at most twice as far from the optimum as on "
          "average",
          repeats.ended());
    }
    return message;
  }

  // Saves, unless the numbers are worthless, and ends the log. `l2_option` is what sets the smallest l2. Returns the exit status.
  int finish(std::string message, std::string_view l2_option = "l2") {
    const Path& path = state_.path;
    const PathPoint& best = path.points.at(path.best);
    until_first_pass_.reset();  // of a run that was to take less: now there is something to save
    const bool in_vain = stopped_in_vain(path.status, new_passes_);
    const bool save = !options_.output.empty() && path.status != Status::failed && !in_vain;
    if (save) {
      make_model({options_.task, loss_, best.l2, solver_.name, best.certificate, relaxed()}, *data_,
                 path.theta)
          .save(options_.output);
    }
    message += describe_miss(
        {best.status, history_, options_.gap, {data_->problem(), loss_, best.l2}, solver_.name, l2_option});
    Json outcome{{"status", to_string(path.status)}, {"message", message}, {"l2", best.l2}};
    if (relaxed()) outcome["relaxed"] = true;
    if (!outcome_.is_null()) outcome.update(outcome_);
    if (save) outcome["model"] = options_.output;
    if (path.status == Status::converged || path.status == Status::stalled) {
      std::error_code ignored;
      if (checkpointed_) std::filesystem::remove(options_.checkpoint, ignored);
      checkpointed_ = false;
    }
    if (checkpointed_) outcome["checkpoint"] = options_.checkpoint;
    log_.end(outcome);
    const std::string resumable = checkpointed_ ? "; --resume goes on from " + options_.checkpoint : "";
    if (in_vain) throw Stopped(nothing_saved(new_passes_) + resumable);
    if (path.status == Status::failed)
      throw Error(message + "; expected finite numbers: check the data's values and l2");
    display_.note(message + (relaxed() ? " (of the relaxed problem: inference is trw)" : "") +
                  (save ? "; saved " + options_.output : "") + resumable);
    if (interrupt_.interrupted()) return kInterrupted;
    return options_.check_gap(best.certificate, display_) ? kSuccess : kMissedGap;
  }

  LatentGold* latent_gold() { return data_->latent_gold(); }

 private:
  bool relaxed() const { return data_->problem().relaxed(); }

  PathRun path_run(const Finished& finished) {
    return {data_->problem(),
            loss_,
            solver_,
            settings_,
            [this](const Weights& theta) {
              if (options_.dev.empty()) return 0.0;
              const Evaluation dev = data_->evaluate_dev(theta);
              headline_ = dev.headline;
              return dev.badness;
            },
            [this](double l2, const Progress& progress, const Weights& theta) {
              report(l2, progress, theta);
              save_state(progress);
              return Control::go_on;
            },
            [this, finished](const PathPoint& point) {
              state_.headlines.push_back(headline_);
              finished(point, headline_);
            }};
  }

  void resume() {
    state_ = load_checkpoint(options_.checkpoint, identity_, data_->problem());
    checkpointed_ = true;
    const Progress& progress = state_.path.progress;
    passes_before_ = progress.passes;
    display_.note(fmt::format("resumed {}: {:.1f} passes, {:.1f} s", options_.checkpoint, progress.passes,
                              progress.seconds));
  }

  void report(double l2, const Progress& progress, const Weights& theta, const Json& where = nullptr) {
    Evaluation dev;
    if (!options_.dev.empty()) dev = data_->evaluate_dev(theta);
    new_passes_ = std::max(new_passes_, progress.passes - passes_before_);
    if (new_passes_ >= 1) until_first_pass_.reset();
    if (progress.epoch == 1) history_.clear();  // another solver, l2, round or seed
    history_.push_back(progress);
    display_.report(progress, dev.headline, several_ ? std::optional(l2) : std::nullopt);
    log_.progress(solver_.name, l2, progress, options_.dev.empty() ? Json() : dev.rates, where);
  }

  void save_state(const Progress& progress) {
    if (options_.checkpoint.empty() || !std::isfinite(progress.primal) || !std::isfinite(progress.dual))
      return;
    // The last report of a run that ends too early is what --resume goes on from.
    const bool last = interrupt_.interrupted() || progress.passes >= settings_.stopping.passes ||
                      progress.seconds >= settings_.stopping.seconds;
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> since = now - checkpoint_time_;
    if (!last && since.count() < options_.checkpoint_every) return;
    checkpoint_time_ = now;
    try {
      save_checkpoint(options_.checkpoint, identity_, state_);
      checkpointed_ = true;
    } catch (const Error& e) {  // the next one may fit again; this run needs none
      if (!checkpoint_failed_) display_.warn(std::string(e.what()) + "; the run goes on");
      checkpoint_failed_ = true;
    }
  }

  const TrainingOptions& options_;
  Loss loss_;
  SolverEntry solver_;
  SolverSettings settings_;
  Display display_;
  RunLog log_;
  InterruptGuard interrupt_;
  std::optional<NothingToSave> until_first_pass_;
  std::unique_ptr<TrainingSet> data_;
  Checkpoint state_;
  bool several_ = false;  // values of l2
  std::string headline_;  // of the value that was rated last
  Json identity_;
  std::vector<Progress> history_;              // of the last run of a solver
  Json outcome_;                               // what else the log's last line says
  double passes_before_ = 0, new_passes_ = 0;  // of the run that this one resumes, and since
  bool checkpointed_ = false;                  // there is a checkpoint of this run
  bool checkpoint_failed_ = false;             // to write one, and that was said
  std::chrono::steady_clock::time_point checkpoint_time_ = std::chrono::steady_clock::now();
};

void refuse_partial(const TrainingOptions& options) {
  if (options.tag.partial) {
    throw Error("--partial: not for several values of l2; expected espalier train tag with one, as --l2 1");
  }
}

}  // namespace

int train_one(const TrainingOptions& options, double l2) {
  if (options.tag.partial && (!options.checkpoint.empty() || !options.init.empty())) {
    throw Error(
        fmt::format("{}: not with --partial, whose rounds start from what they fill in; expected neither",
                    options.checkpoint.empty() ? "--init" : "--checkpoint"));
  }
  if (options.repeat > 1 && (options.tag.partial || !options.checkpoint.empty())) {
    throw Error(fmt::format("--repeat: not with {}; expected one of the two",
                            options.tag.partial ? "--partial" : "--checkpoint"));
  }
  Session session(options);
  session.start(l2, l2);
  if (options.repeat > 1) return session.finish(session.run_repeatedly(l2));
  LatentGold* gold = session.latent_gold();
  const Path& path = gold ? session.run_rounds(*gold, l2)
                          : session.run({l2, l2}, [](const PathPoint&, const std::string&) {});
  return session.finish(path.message);
}

int train_path(const TrainingOptions& options, const PathOptions& path_options) {
  const std::vector<double> values = path_options.values();
  refuse_partial(options);
  Session session(options);
  session.start(values, values.front());
  const auto print = [](const std::string& line) {
    std::fputs(line.c_str(), stdout);  // main looks whether it could be written
    std::fflush(stdout);
  };
  print(fmt::format("{:>12} {:>8} {:>8} {:>10} {:>14}  dev\n", "l2", "passes", "total", "gap", "primal"));
  const Path& path = session.run(path_options, [&](const PathPoint& point, const std::string& headline) {
    print(fmt::format("{:>12.6g} {:>8.2f} {:>8.2f} {:>10.2e} {:>14.8g}  {}\n", point.l2,
                      point.certificate.passes, point.total_passes, point.certificate.relative_gap(),
                      point.certificate.primal, headline));
  });
  const PathPoint& best = path.points.at(path.best);
  std::string message = fmt::format("best of {} values: l2 {:.6g}, relative gap {:.2g}", path.points.size(),
                                    best.l2, best.certificate.relative_gap());
  if (path.points.size() < values.size()) {
    message +=
        fmt::format(" ({}: {} of {} values)", to_string(path.status), path.points.size(), values.size());
  }
  return session.finish(message, "--l2-min");
}

int train_search(const TrainingOptions& options, const L2Range& range) {
  range.check();
  refuse_partial(options);
  Session session(options);
  session.start(range.name(), range.start());
  return session.finish(session.run_search(range));
}

}  // namespace espalier::cli
