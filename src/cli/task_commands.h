#pragma once

#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/training_options.h"
#include "espalier/tasks/registry.h"

namespace espalier::cli {

// Adds a subcommand for each task. Its options are, in this order, those of the task, those that `add_own`
// adds, which are special to `command`, and those that all commands have in common, some of which `adjust`
// changes or takes away.
template <class Arguments, class AddOwn, class Adjust>
void add_task_commands(Command command, const AddOwn& add_own, const Adjust& adjust) {
  command.require_subcommand();
  for (const TaskEntry& task : task_table()) {
    Command subcommand = command.add_subcommand(std::string(task.name), std::string(task.summary));
    const auto arguments = std::make_shared<Arguments>();
    arguments->task = task;
    arguments->add_task_options(subcommand);
    add_own(subcommand, task, arguments);
    arguments->add_to(subcommand);
    adjust(subcommand, *arguments);
    subcommand.add_advanced_footer(solver_list());
  }
}
template <class Arguments, class AddOwn>
void add_task_commands(Command command, const AddOwn& add_own) {
  add_task_commands<Arguments>(command, add_own, [](Command, Arguments&) {});
}

}  // namespace espalier::cli
