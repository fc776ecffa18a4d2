#pragma once

#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/training_options.h"
#include "espalier/tasks/registry.h"

namespace espalier::cli {

// Adds a subcommand for each task, with the options that all of them have and its own; `add_more` adds what is
// special to `command`, given the task's subcommand and where its options go.
template <class Arguments, class AddMore>
void add_task_commands(Command command, const AddMore& add_more) {
  command.require_subcommand();
  for (const TaskEntry& task : task_table()) {
    Command subcommand = command.add_subcommand(std::string(task.name), std::string(task.summary));
    const auto arguments = std::make_shared<Arguments>();
    arguments->task = task;
    arguments->add_to(subcommand);
    arguments->add_task_options(subcommand);
    add_more(subcommand, task, arguments);
    subcommand.footer(subcommand.get_footer() + "\n\n" + solver_list());
  }
}

}  // namespace espalier::cli
