#include "cli/training.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/commands.h"
#include "cli/display.h"
#include "cli/interrupt.h"
#include "cli/run_log.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "espalier/selection/cccp.h"

namespace espalier::cli {
namespace {

using Json = nlohmann::ordered_json;

// A training run from options to saved model: what train_one and train_path share.
class Session {
 public:
  explicit Session(const TrainingOptions& options)
      : options_(options),
        loss_(options.checked_loss()),
        solver_(options.checked_solver()),
        settings_(options.checked_settings()),
        display_(options.gap, options.quiet),
        log_(options.log) {
    options.check_outputs();
  }

  void start(Json l2) {
    data_ = options_.read_data();
    Json settings = options_.to_json();
    settings["l2"] = std::move(l2);
    log_.start(settings);
    display_.note(fmt::format("read {}: {}", options_.train == "-" ? "standard input" : options_.train,
                              data_->describe()));
    if (!options_.dev.empty()) {
      settings_.dev_error = [this](const Weights& theta) { return data_->evaluate_dev(theta).badness; };
    }
    settings_.stopping.stop = interrupt_.flag();
    settings_.stopping.tick = [this](double passes) { display_.tick(passes); };
  }

  Control report(double l2, const Progress& progress, const Weights& theta, int round = 0) {
    Evaluation dev;
    if (!options_.dev.empty()) dev = data_->evaluate_dev(theta);
    display_.report(progress, dev.headline);
    log_.progress(options_.solver, l2, round, progress, options_.dev.empty() ? Json() : dev.rates);
    return Control::go_on;
  }

  // Saves, unless the numbers are worthless, and ends the log. Returns the exit status.
  int finish(Status status, const std::string& message, double l2, const Certificate& certificate,
             const Weights& theta) {
    const bool save = !options_.output.empty() && status != Status::failed;
    if (save) {
      save_model(options_.output, {options_.task, loss_, l2, options_.solver, certificate}, *data_, theta);
    }
    Json outcome{{"status", to_string(status)}, {"message", message}, {"l2", l2}};
    if (save) outcome["model"] = options_.output;
    log_.end(outcome);
    if (status == Status::failed)
      throw Error(message + "; expected finite numbers: check the data's values and l2");
    display_.note(save ? fmt::format("{}; saved {}", message, options_.output) : message);
    return interrupt_.interrupted() ? kInterrupted : kSuccess;
  }

  const Loss& loss() const { return loss_; }
  const SolverEntry& solver() const { return solver_; }
  const SolverSettings& settings() const { return settings_; }
  const TrainingSet& data() const { return *data_; }
  LatentGold* latent_gold() { return data_->latent_gold(); }
  Display& display() { return display_; }

 private:
  const TrainingOptions& options_;
  Loss loss_;
  const SolverEntry& solver_;
  SolverSettings settings_;
  Display display_;
  RunLog log_;
  InterruptGuard interrupt_;
  std::unique_ptr<TrainingSet> data_;
};

// Where gold outputs are not all known: one convex problem after the other.
int train_rounds(const TrainingOptions& options, Session& session, LatentGold& gold, double l2) {
  Training training;
  double before = 0;
  const Cccp loop = cccp(
      {session.data().problem(), session.loss(), l2}, gold, options.outer, session.solver(),
      session.settings(), training,
      [&](int round, const Progress& progress, const Weights& theta) {
        return session.report(l2, progress, theta, round);
      },
      [&](const CccpRound& round) {
        std::string note = fmt::format("round {}: objective {:.8g}", round.round, round.objective);
        if (round.round > 1) note += fmt::format(", down {:.2g} %", 100 * (1 - round.objective / before));
        session.display().note(note);
        before = round.objective;
      });
  return session.finish(loop.status, loop.message, l2, loop.rounds.back().certificate, training.theta);
}

}  // namespace

int train_one(const TrainingOptions& options, double l2) {
  Session session(options);
  session.start(l2);
  if (LatentGold* gold = session.latent_gold()) return train_rounds(options, session, *gold, l2);
  Training training;
  const Summary summary = session.solver().run(
      {session.data().problem(), session.loss(), l2}, session.settings(), training,
      [&](const Progress& progress, const Weights& theta) { return session.report(l2, progress, theta); });
  const Progress& last = summary.history.back();
  return session.finish(summary.status, summary.message, l2, {last.primal, last.dual, last.passes},
                        training.theta);
}

int train_path(const TrainingOptions& options, const PathOptions& path_options, bool print_table) {
  const std::vector<double> values = path_options.values();
  if (options.tag.partial) {
    throw Error("--partial: not for several values of l2; expected espalier train tag with one, as --l2 1");
  }
  Session session(options);
  session.start(values);
  const auto print = [print_table](const std::string& line) {
    if (!print_table) return;
    std::fputs(line.c_str(), stdout);  // main looks whether it could be written
    std::fflush(stdout);
  };
  print(fmt::format("{:>12} {:>8} {:>8} {:>10} {:>14}  dev\n", "l2", "passes", "total", "gap", "primal"));
  std::string headline;
  const Path path = regularisation_path(
      session.data().problem(), session.loss(), path_options, session.solver(), session.settings(),
      [&](const Weights& theta) {
        const Evaluation dev = session.data().evaluate_dev(theta);
        headline = dev.headline;
        return dev.badness;
      },
      [&](double l2, const Progress& progress, const Weights& theta) {
        return session.report(l2, progress, theta);
      },
      [&](const PathPoint& point) {
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
  return session.finish(path.status, message, best.l2, best.certificate, path.theta);
}

}  // namespace espalier::cli
