#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/task_commands.h"
#include "cli/training.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

struct PathArguments : TrainingOptions {
  PathOptions path;
};

}  // namespace

void add_path(Command program, Action& action) {
  Command command = program.add_subcommand(
      "path", "train for a decreasing sequence of l2, each starting from the optimum of the last");
  command.footer(
      "Examples:\n"
      "  espalier path tag train.txt --dev dev.txt -o best.esp\n"
      "  espalier path classify train.svm --dev dev.svm -o best.esp\n"
      "  espalier path parse train.conllu --dev dev.conllu -o best.esp");
  add_task_commands<PathArguments>(
      command,
      [&](Command subcommand, const TaskEntry& task, const std::shared_ptr<PathArguments>& arguments) {
        add_path_options(subcommand, arguments->path);
        add_checkpoint_options(subcommand, *arguments);
        subcommand.group(kOutput);
        subcommand.add_option("-o,--output", arguments->output, "save the model that is best on --dev")
            .metavar("FILE");
        subcommand.footer(fmt::format(
            "Examples:\n{}\n"
            "Prints one line per l2: its passes and the total, relative gap, objective, quality on --dev.",
            task.path_examples));
        subcommand.callback([arguments, &action] {
          action = [arguments] {
            if (arguments->output == "-") {
              throw Error("--output -: standard output is taken by the table; expected the name of a file");
            }
            return train_path(*arguments, arguments->path);
          };
        });
      },
      [](Command subcommand, PathArguments&) { subcommand.get_option("--dev").required(); });
}

}  // namespace espalier::cli
