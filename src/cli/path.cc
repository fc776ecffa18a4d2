#include <fmt/format.h>

#include <optional>
#include <variant>

#include "cli/commands.h"
#include "cli/task_commands.h"
#include "cli/training.h"
#include "cli/validators.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

struct PathArguments : TrainingOptions {
  PathOptions path;
  std::optional<double> l1_max, l1_min, l2;  // of a path over l1

  std::variant<PathOptions, L1Path> values() const {
    if (!l1_max && !l1_min) {
      if (l2) throw Error("--l2: no effect in a path over l2; expected --l1-max and --l1-min with it");
      return path;
    }
    if (given().l1 > 0 || given().l1_ratio > 0)
      throw Error("--l1, --l1-ratio: no effect in a path over l1; expected neither of them");
    L1Path over_l1;
    return L1Path{l1_max.value_or(over_l1.l1_max), l1_min.value_or(over_l1.l1_min), path.factor,
                  l2.value_or(over_l1.l2)};
  }
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
        subcommand
            .add_option("--l1-max", arguments->l1_max, "a path over l1 instead: its first and largest value")
            .advanced()
            .check(positive_number());
        subcommand.add_option("--l1-min", arguments->l1_min, "the smallest l1")
            .advanced()
            .check(positive_number());
        subcommand.add_option("--l2", arguments->l2, "in a path over l1: the l2 of all (1)")
            .advanced()
            .check(number_from_zero());
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
            return train_path(*arguments, arguments->values());
          };
        });
      },
      [](Command subcommand, PathArguments&) { subcommand.get_option("--dev").required(); });
}

}  // namespace espalier::cli
