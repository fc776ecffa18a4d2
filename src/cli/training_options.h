#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "cli/command_line.h"
#include "cli/display.h"
#include "espalier/base/input_files.h"
#include "espalier/base/json.h"
#include "espalier/learning/certificate.h"
#include "espalier/learning/loss.h"
#include "espalier/selection/cccp.h"
#include "espalier/selection/path.h"
#include "espalier/solvers/registry.h"
#include "espalier/solvers/solver_arguments.h"
#include "espalier/tasks/registry.h"
#include "espalier/train/train.h"
#include "selection/l2_search.h"

namespace espalier::cli {

// Groups of options in the help.
inline constexpr const char* kTraining = "Training";
inline constexpr const char* kOutput = "Output";

// What `train`, `path`, `cross-validate` and `race` have in common, as it was typed.
struct TrainingOptions {
  TaskEntry task;
  std::vector<std::string> train;
  std::string dev, output, log, report;
  std::string init, checkpoint;
  std::string group_by;  // cross-validate
  std::string loss = "crf", solver = "auto";
  SolverArguments solver_arguments;
  OptionValues of_training{train_option_table()};  // but for loss, solver and l2
  bool l1_is_advanced = true;      // in the help: not where whoever comes from another program looks for it
  bool report_is_advanced = true;  // in the help, where that of a command is full
  bool in_rounds = false;  // also objectives that are not convex: only where one value of l2 is trained with
  bool quiet = false, require_gap = false, resume = false;
  double checkpoint_every = 60;         // seconds
  std::optional<OptionValues> of_task;  // those that are its own

  // The training data, for messages.
  std::string train_name() const { return InputFiles(train).name(); }
  // Adds an option of the library's table of training: its name, help, range and default are those of the
  // table.
  Option add_training_option(Command command, std::string_view name);
  // What these options say.
  const TrainOptions& given() const { return of_training.as<TrainOptions>(); }
  // Where nobody says how many, one for each processor; or one where each of several ranks would take them
  // all.
  Threads threads() const;

  // Adds the options that every task has; those of this task alone. The task is set.
  void add_to(Command command);
  void add_task_options(Command command);

  // Bytes that the run may take: also where the task has an option for the memory of its inference, if that
  // was given. 0: no limit.
  std::size_t memory_limit() const;
  // While data are read. Throws Error where that takes more.
  void check_reading(const ReadingProgress& file) const;

  // The option that makes training go in rounds, as it was given: that of gold outputs which may not all be
  // known, or a loss that is a difference. Empty: there is none.
  std::string reason_for_rounds() const;

  // Everything that can be wrong before the data is read. Throws Error.
  Loss checked_loss() const;
  // Without what a run starts from. Options of solvers are those of its own, or of several.
  TrainOptions checked_train_options() const;
  TrainOptions checked_train_options(std::span<const SolverEntry> solvers) const;
  void check_solver() const;
  // Of the first l2 and l1 of the run.
  void check_regularizer(const Regularizer& regularizer) const;
  // An unwritable place for the model or the log is found out before hours of training, not after them.
  void check_outputs() const;

  // False, and said, if the gap had to be met and was not.
  bool check_gap(const Certificate& certificate, Display& display) const;

  // With what takes the run's options to know added to `reading`.
  std::unique_ptr<TrainingSet> read_data(Reading reading) const;
  Json to_json() const;

 private:
  SolverSettings checked_settings(std::span<const SolverEntry> solvers) const;
  std::vector<std::string> solver_names() const;  // those of a sequence of solvers
  void check_rounds() const;

  std::string of_rounds;  // an option of rounds that was given
};

// Weights that were interrupted before their first pass was over are those that training started from, or
// little better: they are not worth the model that they would replace, whatever the run went on from.
// `passes` are those of this run alone.
bool stopped_in_vain(Status status, double passes);
// What to say then.
std::string nothing_saved(double passes);

// All solvers, a line each, with what they are for.
std::string solver_list();
std::vector<std::string> names_of_solvers();  // auto, too

// The options of interrupted runs, for `train` and `path`.
void add_checkpoint_options(Command command, TrainingOptions& options);

// Where a search for l2 may look, as it was typed, for `train --l2 auto` and `cross-validate`.
struct L2Limits {
  std::optional<double> max, min;

  void add_to(Command command);
  bool given() const { return max || min; }
  L2Range range() const { return {min.value_or(L2Range().min), max.value_or(L2Range().max)}; }
};

// One value of l2; 0 only with l1. Throws Error.
double parse_l2(const std::string& text, double l1);

// What to tell the user where the best l2 of a search is the last one that it may try; else nothing.
std::string edge_warning(double best, const L2Range& range);

// The options of the l2 sequence of `path`.
void add_path_options(Command command, PathOptions& options);

}  // namespace espalier::cli
