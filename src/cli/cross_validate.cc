#include <fmt/format.h>

#include <optional>
#include <variant>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/display.h"
#include "cli/ending.h"
#include "cli/interrupt.h"
#include "cli/run_log.h"
#include "cli/run_report.h"
#include "cli/task_commands.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/solvers/registry.h"
#include "espalier/train/cross_validate.h"

namespace espalier::cli {
namespace {

struct CrossValidateArguments : TrainingOptions {
  std::string l2 = "auto";
  L2Limits limits;
  std::optional<double> factor;
  std::size_t folds = 5;

  // The values to try. Throws Error.
  Trainer::Values values() const {
    if (l2 == "auto" && !factor) return limits.range();
    if (l2 == "auto") {
      PathOptions options;
      options = {limits.max.value_or(options.l2_max), limits.min.value_or(options.l2_min), *factor};
      options.values();  // which finds out whether there are any
      return options;
    }
    if (limits.given() || factor) {
      throw Error(
          "--l2-max, --l2-min, --factor: no effect without --l2 auto; expected --l2 auto, or none of them");
    }
    return parse_l2(l2, given().l1 + given().l1_ratio);
  }
};

void print_table(const CrossValidated& result) {
  std::string table =
      fmt::format("{:>12} {:>6} {:>9} {:>12} {:>10}\n", "l2", "folds", "passes", result.metric, "deviation");
  for (std::size_t k = 0; k < result.values.size(); ++k) {
    const CrossValidatedValue& value = result.values[k];
    table += fmt::format(
        "{:>12.6g} {:>6} {:>9.2f} {:>12} {:>10.4f}", value.l2, value.folds, value.passes,
        result.metric.ends_with('%') ? percentage(value.mean, 4) : fmt::format("{:.4f}", value.mean),
        value.deviation);
    if (k == result.best) table += "  best";
    if (k == result.simplest && k != result.best) table += "  within one standard error";
    table += '\n';
  }
  std::fputs(table.c_str(), stdout);  // main looks whether it could be written
}

Json to_json(const CrossValidatedValue& value, const std::string& metric) {
  return {{"l2", value.l2},   {"folds", value.folds}, {"passes", value.passes},
          {"metric", metric}, {"mean", value.mean},   {"deviation", value.deviation}};
}

// On all of the data, at the value chosen.
struct Ending {
  std::string message;
  Certificate certificate;
};
Ending train_all(const CrossValidateArguments& arguments, TrainingSet& data, double l2, Display& display) {
  TrainOptions options = arguments.checked_train_options();
  options.stop = InterruptGuard::flag();
  options.threads = 1;
  Trainer trainer(data, options, l2);
  std::vector<Progress> history;
  TrainObserver observer;
  observer.report = [&](const TrainReport& report) {
    history.push_back(report.progress);
    display.report(report.progress, "", fmt::format("l2 {:<8.6g} ", l2));
    return Control::go_on;
  };
  const Path& path = trainer.run(observer);
  const Model model = trainer.model();
  if (stopped_in_vain(path.status, model.certificate().passes))
    throw Stopped(nothing_saved(model.certificate().passes));
  save_model(model, arguments.output);
  std::string message = with_limit(path.message);
  message += describe_miss({path.status,
                            history,
                            arguments.given().gap,
                            {data.problem(), options.loss, {l2, {options.l1 + options.l1_ratio * l2}}},
                            trainer.solver().name,
                            "--l2-min"});
  if (data.problem().inference() == Inference::relaxed)
    message += " (of the relaxed problem: losses are upper bounds)";
  return {message, model.certificate()};
}

// As the run log has them.
Json to_json(const Trainer::Values& l2) {
  if (const auto* range = std::get_if<L2Range>(&l2)) return range->name();
  if (const auto* path = std::get_if<PathOptions>(&l2)) return path->values();
  return std::vector{std::get<double>(l2)};
}

int run_cross_validation(const CrossValidateArguments& arguments) {
  if (arguments.output == "-") {
    throw Error("--output -: standard output is taken by the table; expected the name of a file");
  }
  CrossValidateOptions options;
  options.l2 = arguments.values();
  options.folds = arguments.folds;
  const auto* range = std::get_if<L2Range>(&options.l2);
  if (range != nullptr) range->check();
  options.train = arguments.checked_train_options();
  arguments.check_solver();
  arguments.check_outputs();
  const InterruptGuard interrupt;
  std::optional<NothingToSave> until_trained("before training");
  Display display(arguments.given().gap, arguments.given().report_every, arguments.quiet);
  // One thread, so that what is printed depends on the seed alone.
  std::optional<ReadingObserver> observer(std::in_place, [&](const ReadingProgress& file) {
    arguments.check_reading(file);
    display.reading(file);
  });
  const auto data = arguments.read_data(
      {[&](std::string_view text) { display.note(std::string(text)); }, interrupt.flag(), 1});
  observer.reset();
  // What is wrong with them is said before anything else.
  make_folds(*data, arguments.folds, arguments.given().seed);
  display.note(fmt::format("read {}: {}", arguments.train_name(), data->describe()));
  const SolverEntry solver = find_solver(arguments.solver, options.train.loss);
  RunLog log(arguments.log, [&](const std::string& line) { display.warn(line); });
  if (!arguments.report.empty()) log.keep();
  Json start = arguments.to_json();
  start["solver"] = solver.name;
  start["folds"] = arguments.folds;
  if (!arguments.group_by.empty()) start["group_by"] = arguments.group_by;
  start["l2"] = to_json(options.l2);
  log.start(start, false);
  until_trained.reset();

  options.train.stop = interrupt.flag();
  options.train.tick = [&](double passes) { display.tick(passes); };
  const CrossValidated result = cross_validate(*data, options, [&](const FoldReport& report) {
    const PathPoint& point = report.point;
    display.note(fmt::format("fold {}  l2 {:<10.6g} pass {:>7.2f}  gap {:.2e}  {}", report.fold + 1, point.l2,
                             point.total_passes, point.certificate.relative_gap(), report.held_out.headline));
    log.progress(solver.name, point.l2, report.progress, report.held_out.rates, {{"fold", report.fold + 1}});
  });
  if (!result.values.empty()) print_table(result);

  Json outcome{{"status", to_string(result.status)}};
  for (const CrossValidatedValue& value : result.values)
    outcome["values"].push_back(to_json(value, result.metric));
  std::string message = result.values.empty()
                            ? "stopped before the first value of l2 was finished"
                            : fmt::format("{} values in {} folds: best l2 {:.6g}", result.values.size(),
                                          arguments.folds, result.values[result.best].l2);
  std::optional<Certificate> saved;
  if (interrupt.interrupted()) {
    message += " so far";
    if (!arguments.output.empty()) message += "; no model was saved, since not all folds were finished";
  } else {
    const double best = result.values.at(result.best).l2;
    outcome["l2"] = best;
    if (const std::string edge = range != nullptr ? edge_warning(best, *range) : ""; !edge.empty()) {
      message += "; " + edge;
      outcome["edge"] = to_string(edge_of(best, *range));
    }
    if (!arguments.output.empty()) {
      const Ending ending = train_all(arguments, *data, best, display);
      message += "; all data: " + ending.message + "; saved " + arguments.output;
      outcome["model"] = arguments.output;
      saved = ending.certificate;
    }
  }
  outcome["message"] = message;
  log.end(outcome);
  std::optional<Model> model;
  if (saved && !arguments.report.empty()) model.emplace(arguments.output);
  message += write_run_report(
      arguments.report, report_title(model ? arguments.output : arguments.train_name()),
      model ? &*model : nullptr, log.events(), "", [&](const std::string& line) { display.warn(line); });
  display.note(message);
  if (interrupt.interrupted()) return kInterrupted;
  return !saved || arguments.check_gap(*saved, display) ? kSuccess : kMissedGap;
}

}  // namespace

void add_cross_validate(Command program, Action& action) {
  Command command = program.add_subcommand(
      "cross-validate",
      "choose l2 without held-out data, by training on all folds but one and evaluating on that one");
  command.footer(
      "Examples:\n"
      "  espalier cross-validate tag train.txt -o model.esp\n"
      "  espalier cross-validate classify train.svm --folds 10 --threads 2\n"
      "  espalier cross-validate parse train.conllu -o model.esp");
  add_task_commands<CrossValidateArguments>(
      command,
      [&](Command subcommand, const TaskEntry& task,
          const std::shared_ptr<CrossValidateArguments>& arguments) {
        subcommand.group(kTraining);
        subcommand.add_option("--folds", arguments->folds, "number of parts, each of which is held out once")
            .capture_default_str()
            .check(whole_number_from(2));
        if (!task.groups.empty()) {
          subcommand.add_option("--group-by", arguments->group_by, std::string(task.groups))
              .metavar(std::string(task.group_value));
        }
        subcommand
            .add_option("--l2", arguments->l2, "one value to evaluate, or auto: search for the best one")
            .metavar("X|auto")
            .capture_default_str();
        arguments->limits.add_to(subcommand);
        subcommand
            .add_option(
                "--factor", arguments->factor,
                "instead of a search: all values from --l2-max (1000) down to --l2-min (0.3) by this factor")
            .advanced()
            .check(positive_number());
        subcommand.group(kOutput);
        subcommand
            .add_option("-o,--output", arguments->output,
                        "train on all data with the best l2, and save the model")
            .metavar("FILE");
        subcommand.footer(
            fmt::format("Examples:\n"
                        "  espalier cross-validate {0} train.txt\n"
                        "  espalier cross-validate {0} train.txt --folds 10 --threads 2 -o model.esp\n"
                        "  espalier cross-validate {0} train.txt --l2-max 100 --l2-min 0.1 --factor 0.5\n"
                        "Prints one line per l2: the folds that reached it, their passes, and the mean and "
                        "standard deviation\n"
                        "over folds of the quality on held-out data. --passes and --seconds limit each fold.",
                        task.name));
        subcommand.callback(
            [arguments, &action] { action = [arguments] { return run_cross_validation(*arguments); }; });
      },
      [](Command subcommand, CrossValidateArguments&) {
        subcommand.remove_option("--dev");
        subcommand.get_option("--threads").description("number of folds to train at the same time");
        subcommand.get_option("--require-gap").needs(subcommand.get_option("--output"));
      });
}

}  // namespace espalier::cli
