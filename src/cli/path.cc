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
      "path", "train for a decreasing sequence of l2, each from the last one's optimum");
  command.footer(
      "Examples:\n"
      "  espalier path tag train.txt --dev dev.txt -o best.esp\n"
      "  espalier path classify train.svm --dev dev.svm -o best.esp\n"
      "  espalier path parse train.conllu --dev dev.conllu -o best.esp");
  add_task_commands<PathArguments>(command, [&](Command subcommand, const TaskEntry& task,
                                                const std::shared_ptr<PathArguments>& arguments) {
    subcommand.get_option("--dev").required();
    subcommand.add_option("-o,--output", arguments->output, "save the model that is best on --dev");
    add_path_options(subcommand, arguments->path);
    add_checkpoint_options(subcommand, *arguments);
    subcommand.footer(fmt::format(
        "Examples:\n{}\n"
        "Prints a line for each l2: passes for it and in all, relative gap, objective, quality on --dev.",
        task.path_examples));
    subcommand.callback([arguments, &action] {
      action = [arguments] {
        if (arguments->output == "-") {
          throw Error("--output -: standard output is where the table goes; expected the name of a file");
        }
        return train_path(*arguments, arguments->path);
      };
    });
  });
}

}  // namespace espalier::cli
