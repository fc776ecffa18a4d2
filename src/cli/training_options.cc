#include "cli/training_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "base/names.h"
#include "base/output.h"
#include "base/parse_number.h"
#include "cli/interrupt.h"
#include "cli/memory_limit.h"
#include "cli/ranks.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/train/read.h"
#include "espalier/version.h"
#include "model/model_file.h"

namespace espalier::cli {
namespace {

constexpr const char* kSolverOptions = "Options of single solvers";

}  // namespace

bool stopped_in_vain(Status status, double passes) { return status == Status::stopped && passes < 1; }

std::string nothing_saved(double passes) {
  return fmt::format("interrupted after {:.1f} passes, before the first one was complete; no model was saved",
                     passes);
}

std::vector<std::string> names_of_solvers() {
  std::vector<std::string> names{"auto"};
  for (const SolverEntry& entry : solver_table()) names.emplace_back(entry.name);
  return names;
}

std::string solver_list() {
  const SolverEntry automatic = find_solver("auto", Loss::crf());
  std::string list = fmt::format("Solvers:\n  {:<14} {}\n", automatic.name, automatic.summary);
  for (const SolverEntry& entry : solver_table()) {
    std::string limits;
    if (entry.losses == Losses::smooth) limits = "finite beta";
    if (entry.losses == Losses::maximum) limits = "svm";
    if (entry.needs_cliques) limits += ", not all structures";
    list += fmt::format("  {:<14} {}{}\n", entry.name, entry.summary,
                        limits.empty() ? "" : fmt::format(" ({})", limits));
  }
  list +=
      "  smo,eg         a sequence: each solver runs until it is close or slow, then the next continues\n";
  return list;
}

Option TrainingOptions::add_training_option(Command command, std::string_view name) {
  OptionRow row = *of_training.table().find(name);
  row.default_value = of_training.get(name);  // race has others
  return command.add_option(
      row, [this, name = row.name](const std::string& text) { of_training.set(name, text); });
}

void TrainingOptions::add_to(Command command) {
  command.add_option("TRAIN", train, "training data, one file or several; '-' is standard input").required();
  command.group(kTraining);
  command.add_option("--dev", dev, "held-out data to evaluate on at every report").metavar("FILE");
  std::vector<std::string> names{"crf", "svm", "softmax-margin", "perceptron"};
  if (in_rounds) names.insert(names.end(), {"ramp", "risk"});
  // These two are logged as they are typed, and looked at when all options are known.
  Option of_loss =
      command.add_option(*train_option_table().find("loss"), [this](const std::string& text) { loss = text; })
          .offer(names);
  if (!in_rounds) of_loss.description(fmt::format("{}, or BETA,GAMMA", fmt::join(names, ", ")));
  Option of_l1 = add_training_option(command, "l1");
  if (l1_is_advanced) of_l1.advanced();
  add_training_option(command, "l1_ratio").default_str("");
  command.add_option(*train_option_table().find("solver"), [this](const std::string& text) { solver = text; })
      .description("auto, or one that --help-all lists")
      .offer_list(names_of_solvers());
  for (const char* name : {"gap", "passes", "seconds", "threads", "seed", "report_every"})
    add_training_option(command, name);
  if (in_rounds) {
    for (const char* name : {"outer_gap", "outer_rounds"}) {
      const OptionRow& row = *train_option_table().find(name);
      command.add_option(row, [this, &row](const std::string& text) {
        of_training.set(row.name, text);
        of_rounds = row.argument();
      });
    }
  }

  if (task.options().find("memory") == nullptr) add_training_option(command, "memory").advanced();

  command.group(kOutput);
  command.add_option("--log", log, "write a log of the run, one JSON object per line").metavar("FILE");
  Option page =
      command.add_option("--report", report, "write a page that shows the run and its model in the browser")
          .metavar("FILE");
  if (report_is_advanced) page.advanced();
  command
      .add_flag("--require-gap", require_gap,
                "exit with status 3 if the model misses --gap; the model is saved anyway")
      .advanced();
  command.add_flag("-q,--quiet", quiet, "print nothing but errors");

  command.group(kSolverOptions);
  static const std::vector<OptionRow> rows = SolverArguments().rows();  // every task has them
  for (const OptionRow& row : rows) {
    command.add_option(
        row, [this, name = row.name](const std::string& text) { solver_arguments.give(name, text); });
  }
}

void TrainingOptions::add_task_options(Command command) {
  command.group(fmt::format("Options of {}", task.name));
  of_task.emplace(task.options());
  command.add_options(*of_task);
}

std::size_t TrainingOptions::memory_limit() const {
  const OptionRow* own = task.options().find("memory");
  if (own == nullptr) return given().memory;
  const Json of_inference = of_task->get("memory");
  return of_inference == own->default_value ? 0 : of_inference.get<std::size_t>();
}

void TrainingOptions::check_reading(const ReadingProgress& file) const {
  MemoryLimit::check(memory_limit(), file.name, "fewer examples (--first N), or a larger --memory");
}

std::string TrainingOptions::reason_for_rounds() const {
  if (!task.latent.empty() && of_task->get(task.latent).get<bool>()) return fmt::format("--{}", task.latent);
  const Loss of_run = checked_loss();
  return of_run.difference ? fmt::format("--loss {}", of_run.name()) : "";
}

void TrainingOptions::check_rounds() const {
  if (of_rounds.empty() || !reason_for_rounds().empty()) return;
  const std::string uncertain = task.latent.empty() ? "" : fmt::format("--{}, ", task.latent);
  throw Error(fmt::format("{0}: no effect; expected {1}--loss ramp, risk or delta,BETA,GAMMA, or no {0}",
                          of_rounds, uncertain));
}

std::vector<std::string> TrainingOptions::solver_names() const {
  std::vector<std::string> names(1);
  for (const char c : solver) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

Threads TrainingOptions::threads() const {
  return given().threads == 0 && fleet_if_joined() ? Threads() : Threads::of(given().threads);
}

Loss TrainingOptions::checked_loss() const { return Loss::parse(loss); }

void TrainingOptions::check_solver() const { find_solver(solver, checked_loss()); }

void TrainingOptions::check_regularizer(const Regularizer& regularizer) const {
  const Loss of_run = checked_loss();
  espalier::check_regularizer(find_solver(solver, of_run), of_run, regularizer);
  const Json own = of_task->log();
  const auto given = [&](const char* name) { return own.contains(name) && !own.at(name).empty(); };
  if (regularizer.sparse() && given("kernel") && !own.at("kernel").get<std::string>().empty())
    throw Error(
        "--l1: not with --kernel, whose weights are not those of attributes; expected one of the two");
  if (!given("l1_except")) return;
  if (!regularizer.sparse()) throw Error("--l1-except: no effect without --l1; expected --l1, or none");
  if (!(regularizer.l2 > 0))
    throw Error("--l2 0: not with --l1-except, whose weights nothing would hold; expected a number > 0");
}

SolverSettings TrainingOptions::checked_settings(std::span<const SolverEntry> solvers) const {
  SolverSettings settings;
  solver_arguments.apply(solvers, settings);
  settings.stopping.gap = given().gap;
  settings.stopping.passes = given().passes;
  settings.stopping.seconds = given().seconds;
  settings.seed = given().seed;
  settings.threads = given().threads;
  settings.report_every = given().report_every;
  return settings;
}

TrainOptions TrainingOptions::checked_train_options() const {
  const SolverEntry entry = find_solver(solver, checked_loss());
  return checked_train_options({&entry, 1});
}

TrainOptions TrainingOptions::checked_train_options(std::span<const SolverEntry> solvers) const {
  of_task->check_effective();
  check_rounds();
  TrainOptions result = given();
  result.loss = checked_loss();
  result.solver = solver;
  if (fleet_if_joined()) result.threads = threads();
  result.solver_options = checked_settings(solvers);
  result.checkpoint = {checkpoint, checkpoint_every, resume};
  result.memory = memory_limit();
  return result;
}

void TrainingOptions::check_outputs() const {
  if (report == "-") throw Error("--report -: found standard output; expected the name of a file");
  for (const std::string& path : {output, log, report}) {
    if (!path.empty()) check_writable(path);
  }
  check_model_name(output);
  if (output == "-" && isatty(STDOUT_FILENO) != 0)
    throw Error("--output -: standard output is a terminal; expected a file or a pipe");
  if (checkpoint.empty()) return;
  if (checkpoint == "-") throw Error("--checkpoint -: found standard output; expected the name of a file");
  check_model_name(checkpoint);
  std::error_code ignored;
  const bool exists = std::filesystem::exists(checkpoint, ignored);
  if (exists && !resume) {
    throw Error::in(checkpoint, "already exists", "expected --resume to continue from it, or another name");
  }
  if (!exists && resume) {
    throw Error::in(checkpoint, "no such file",
                    "expected the checkpoint of an interrupted run; a run that ends removes its checkpoint");
  }
  if (!resume) check_writable(checkpoint);
}

bool TrainingOptions::check_gap(const Certificate& certificate, Display& display) const {
  const double reached = certificate.relative_gap();
  if (!require_gap || std::abs(reached) <= given().gap) return true;
  display.warn(
      fmt::format("--require-gap: relative gap {:.2g}; expected at most {:g}", reached, given().gap));
  return false;
}

std::unique_ptr<TrainingSet> TrainingOptions::read_data(Reading reading) const {
  const auto name = [](const std::string& file) { return file == "-" ? "standard input" : file; };
  std::optional<NothingToSave> until_read("while reading " + train_name());
  reading.loss = checked_loss();
  reading.group_by = group_by;
  auto data = read_training(task, train, *of_task, reading);
  if (dev.empty()) return data;
  until_read.emplace("while reading " + name(dev));
  data->read_dev(dev);
  return data;
}

Json TrainingOptions::to_json() const {
  Json json{{"version", ESPALIER_VERSION}, {"task", task.name}};
  if (train.size() == 1) {
    json["train"] = train.front();
  } else {
    json["train"] = train;
  }
  if (!dev.empty()) json["dev"] = dev;
  const TrainOptions& now = given();
  json.update({{"loss", loss}, {"solver", solver}, {"gap", now.gap}, {"passes", now.passes}});
  if (now.l1 > 0) json["l1"] = now.l1;
  if (now.l1_ratio > 0) json["l1_ratio"] = now.l1_ratio;
  if (std::isfinite(now.seconds)) json["seconds"] = now.seconds;
  if (!init.empty()) json["init"] = init;
  if (resume) json["resume"] = checkpoint;
  json.update({{"seed", now.seed}, {"threads", threads().number}});
  json.update(solver_arguments.log(solver_names()));
  json["report_every"] = now.report_every;
  if (now.repeat > 1) json["repeat"] = now.repeat;
  if (now.patience > 0) json["patience"] = now.patience;
  if (now.bits < 32) json["bits"] = now.bits;
  json.update(of_task->log());
  if (now.memory > 0) json["memory"] = now.memory;
  if (!reason_for_rounds().empty())
    json.update({{"outer_gap", now.rounds.gap}, {"outer_rounds", now.rounds.rounds}});
  return json;
}

void add_checkpoint_options(Command command, TrainingOptions& options) {
  command.group(kTraining);
  Option checkpoint = command
                          .add_option("--checkpoint", options.checkpoint,
                                      "save what an interrupted run needs to continue; removed at the end")
                          .metavar("FILE")
                          .advanced();
  command
      .add_option("--checkpoint-every", options.checkpoint_every,
                  "with --checkpoint: minimum number of seconds between two of them, at reports")
      .metavar("N")
      .advanced()
      .capture_default_str()
      .check(number_from_zero())
      .needs(checkpoint);
  command
      .add_flag(
          "--resume", options.resume,
          "continue from --checkpoint: the same command again; --passes, --seconds and --gap may differ")
      .advanced()
      .needs(checkpoint);
}

void L2Limits::add_to(Command command) {
  command.group(kTraining);
  command.add_option("--l2-max", max, "with --l2 auto: the largest value to try")
      .advanced()
      .check(positive_number());
  command.add_option("--l2-min", min, "with --l2 auto: the smallest value to try")
      .advanced()
      .check(positive_number());
}

double parse_l2(const std::string& text, double l1) {
  const auto l2 = parse_double(text);
  if (l2 && *l2 == 0 && l1 > 0) return 0;
  if (!l2 || !(*l2 > 0)) {
    throw Error(fmt::format("--l2: found {}; {}", in_quotes(text),
                            text.size() > 1 && nearest_name(text, std::vector<std::string>{"auto"})
                                ? "did you mean auto?"
                            : l2 && *l2 == 0 ? "expected a number > 0, or --l1 with it"
                                             : "expected a number > 0, or auto"));
  }
  return *l2;
}

std::string edge_warning(double best, const L2Range& range) {
  switch (edge_of(best, range)) {
    case L2Edge::none:
      return "";
    case L2Edge::smallest:
      return fmt::format(
          "this is the smallest value of the search (--l2-min {:.6g}); smaller ones may be better",
          range.min);
    case L2Edge::largest:
      return fmt::format(
          "this is the largest value of the search (--l2-max {:.6g}); larger ones may be better", range.max);
  }
  return "";
}

void add_path_options(Command command, PathOptions& options) {
  command.group(kTraining);
  command.add_option("--l2-max", options.l2_max, "the first and largest l2")
      .capture_default_str()
      .check(positive_number());
  command.add_option("--l2-min", options.l2_min, "the smallest l2")
      .capture_default_str()
      .check(positive_number());
  command.add_option("--factor", options.factor, "ratio of each l2 to the one before")
      .capture_default_str()
      .check(positive_number());
}

}  // namespace espalier::cli
