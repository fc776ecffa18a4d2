#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/interrupt.h"
#include "cli/race_report.h"
#include "cli/run_log.h"
#include "cli/run_report.h"
#include "cli/task_commands.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/train/race.h"

namespace espalier::cli {
namespace {

struct RaceArguments : TrainingOptions {
  RaceArguments() {
    auto& defaults = of_training.as<TrainOptions>();
    defaults.threads = 1;  // solvers that can use several are not compared with others by that
    defaults.gap = 1e-5;
    defaults.report_every = 1;  // a table with passes is as fine as the reports are
  }
  std::string solvers, picture;
  double l2 = 1, budget = 60;

  std::vector<std::string> solver_names() const {
    std::vector<std::string> names;
    for (std::string_view rest = solvers;;) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      std::string& name = names.emplace_back(rest.substr(0, comma));
      std::ranges::replace(name, '+', ',');  // a sequence of solvers: commas have another meaning here
      if (comma == rest.size()) return names;
      rest.remove_prefix(comma + 1);
    }
  }

  // Without what is told while it runs. Throws Error.
  RaceOptions options() const {
    RaceOptions options;
    options.solvers = solver_names();
    options.train = checked_train_options(racing_solvers(options.solvers, checked_loss()));
    options.train.l2 = l2;
    options.train.seconds = budget;
    return options;
  }

  void check_race_outputs() const {
    check_outputs();
    if (picture == "-") {
      throw Error("--picture -: standard output is taken by the table; expected the name of a file");
    }
    if (!picture.empty()) check_writable(picture);
  }

  Json start(const std::vector<SolverEntry>& entries) const {
    Json json = to_json();
    json.erase("solver");
    std::vector<std::string> names;
    names.reserve(entries.size());
    for (const SolverEntry& entry : entries) names.push_back(entry.name);
    json["solvers"] = names;
    json["budget"] = budget;
    json.update(solver_arguments.log(names));
    json["l2"] = l2;
    return json;
  }
};

int run_race(const RaceArguments& arguments) {
  if (const std::string rounds = arguments.reason_for_rounds(); !rounds.empty()) {
    throw Error(
        fmt::format("{}: not in a race, whose solvers share one convex problem; expected {}", rounds,
                    arguments.checked_loss().difference ? "a convex loss" : "labels that are all known"));
  }
  RaceOptions options = arguments.options();
  const Loss& loss = options.train.loss;
  const std::vector<SolverEntry> solvers = racing_solvers(options.solvers, loss);
  arguments.check_race_outputs();
  const InterruptGuard interrupt;
  std::optional<NothingToSave> until_trained("before training");
  std::optional<Display> display;  // one a solver: each has its own way to the gap
  display.emplace(arguments.given().gap, arguments.given().report_every, arguments.quiet);
  std::optional<ReadingObserver> observer(std::in_place, [&](const ReadingProgress& file) {
    arguments.check_reading(file);
    display->reading(file);
  });
  const auto data = arguments.read_data({[&](std::string_view text) { display->note(std::string(text)); },
                                         interrupt.flag(), arguments.threads()});
  observer.reset();
  const std::string name = arguments.train_name();
  display->note(fmt::format("read {}: {}", name, data->describe()));
  RunLog log(arguments.log, [&](const std::string& line) { display->warn(line); });
  if (!arguments.report.empty()) log.keep();
  log.start(arguments.start(solvers), false);
  until_trained.reset();

  options.train.stop = interrupt.flag();
  options.train.tick = [&](double passes) { display->tick(passes); };
  Evaluation dev;  // of the last report
  RaceEvents events;
  events.started = [&](const SolverEntry& solver) {
    display.emplace(arguments.given().gap, arguments.given().report_every, arguments.quiet);
    display->note(fmt::format("{}:", solver.name));
  };
  events.report = [&](const RaceReport& report) {
    if (report.dev != nullptr) dev = *report.dev;
    display->report(report.progress, dev.headline);
    log.progress(std::string(report.solver.name), arguments.l2, report.progress, dev.rates);
    return Control::go_on;
  };
  events.finished = [&](const RaceRun& run) {
    display->note(run.summary.history.empty() ? run.summary.message : to_string(run.summary.status));
  };
  const Race result = race(*data, options, events);

  const bool relaxed = data->problem().inference() == Inference::relaxed;
  std::fputs(race_table(result, dev.metric).c_str(), stdout);  // main looks whether it could be written
  if (relaxed) std::fputs("the optimum is that of the relaxed problem: losses are upper bounds\n", stdout);
  std::fflush(stdout);
  Json outcome{{"status", result.stopped ? "stopped" : "done"}};
  if (relaxed) outcome["relaxed"] = true;
  outcome.update(race_json(result, dev.metric));
  log.end(outcome, "race");
  if (!std::isfinite(result.upper)) throw Error(result.runs.front().summary.message);
  if (!arguments.picture.empty()) {
    const std::string file = std::filesystem::path(name).filename().string();
    OutputFile picture(arguments.picture);
    picture.write(race_picture(result, fmt::format("espalier {}, {}: loss {}, l2 {:g}", arguments.task.name,
                                                   file, loss.name(), arguments.l2)));
    picture.commit();
    display->note("drew " + arguments.picture);
  }
  if (!arguments.report.empty()) {
    const std::string wrote =
        write_run_report(arguments.report, "race on " + report_title(name), nullptr, log.events(), "",
                         [&](const std::string& line) { display->warn(line); });
    if (!wrote.empty()) display->note(wrote.substr(2));
  }
  return interrupt.interrupted() ? kInterrupted : kSuccess;
}

}  // namespace

void add_race(Command program, Action& action) {
  Command command = program.add_subcommand(
      "race", "compare how fast several solvers reach the optimum of the same problem");
  command.footer(
      "Examples:\n"
      "  espalier race tag train.txt --solvers eg,sdca,lbfgs\n"
      "  espalier race classify train.svm --dev dev.svm --loss svm --solvers eg,frank-wolfe,cutting-plane\n"
      "  espalier race parse train.conllu --l2 10 --solvers eg,lbfgs --budget 600 --picture race.svg");
  add_task_commands<RaceArguments>(
      command,
      [&](Command subcommand, const TaskEntry& task, const std::shared_ptr<RaceArguments>& arguments) {
        subcommand.group(kTraining);
        subcommand
            .add_option("--solvers", arguments->solvers,
                        "solvers of those that --help-all lists, separated by commas")
            .metavar("NAMES")
            .offer_list(names_of_solvers())
            .required();
        subcommand.add_option("--l2", arguments->l2, "regularisation l2/2 |theta|^2")
            .capture_default_str()
            .check(number_from_zero());
        subcommand.add_option("--budget", arguments->budget, "maximum training time per solver, in seconds")
            .metavar("N")
            .capture_default_str()
            .check(positive_number());
        subcommand.group(kOutput);
        subcommand
            .add_option("--picture", arguments->picture,
                        "draw the gap against passes and against seconds, as SVG")
            .metavar("FILE");
        subcommand.footer(fmt::format(
            "Examples:\n"
            "  espalier race {0} train.txt --solvers eg,lbfgs,sgd\n"
            "  espalier race {0} train.txt --dev dev.txt --loss svm --l2 10 --solvers eg,frank-wolfe,bmrm\n"
            "  espalier race {0} train.txt --solvers eg,lbfgs --gap 1e-7 --budget 600 --picture race.svg\n"
            "Prints for each solver the passes and seconds after which it was within given relative gaps of "
            "the\n"
            "optimum, as far as all runs together know it; its own certified gap at the end; and with --dev "
            "its\n"
            "quality at the end, and when that was first within 0.1 points of its best. Saves no model.",
            task.name));
        subcommand.callback([arguments, &action] { action = [arguments] { return run_race(*arguments); }; });
      },
      [](Command subcommand, RaceArguments&) {
        // A race has several solvers, calls the time its budget, has one objective for all, and saves no
        // model.
        for (const char* name : {"--solver", "--seconds", "--rescaling", "--require-gap"}) {
          subcommand.remove_option(name);
        }
      });
}

}  // namespace espalier::cli
