#pragma once

#include <memory>
#include <span>
#include <string>

#include "cli/command_line.h"
#include "cli/training_options.h"
#include "espalier/base/json.h"

namespace espalier::cli {

// What the command line knows of a task: the options that are its own, and examples of their use.
struct TaskCommand {
  std::string_view name;
  void (*add_options)(Command command, TrainingOptions& options);
  std::unique_ptr<TrainingSet> (*read)(const TrainingOptions& options, const Reading& reading);
  // Those options, for the log of a run.
  void (*describe)(const TrainingOptions& options, Json& json);
  const char *train_examples, *path_examples;
  const char* groups =
      nullptr;  // of --group-by: what may say which examples belong together, if anything may
};

std::span<const TaskCommand> task_commands();
// Both require a name in the table.
const TaskCommand& task_command(std::string_view name);
std::string task_summary(std::string_view name);

// Adds a subcommand for each task, with the options that all of them have and its own; `add_more` adds what is
// special to `command`, given the task's subcommand and where its options go.
template <class Arguments, class AddMore>
void add_task_commands(Command command, const AddMore& add_more) {
  command.require_subcommand();
  for (const TaskCommand& task : task_commands()) {
    Command subcommand = command.add_subcommand(std::string(task.name), task_summary(task.name));
    const auto arguments = std::make_shared<Arguments>();
    arguments->task = task.name;
    arguments->add_to(subcommand);
    subcommand.group("Options of " + std::string(task.name));
    task.add_options(subcommand, *arguments);
    subcommand.group("Options");
    add_more(subcommand, task, arguments);
    subcommand.footer(subcommand.get_footer() + "\n\n" + solver_list());
  }
}

}  // namespace espalier::cli
