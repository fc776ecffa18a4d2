#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/task_commands.h"
#include "cli/training.h"
#include "cli/validators.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

struct TrainArguments : TrainingOptions {
  TrainArguments() {
    l1_is_advanced = report_is_advanced = false;
    in_rounds = true;
  }
  std::string l2 = "1";
  L2Limits limits;
};

int train(const TrainArguments& arguments) {
  if (arguments.l2 == "auto") {
    if (!arguments.init.empty()) {
      throw Error("--init: not with --l2 auto, which starts each value from another one; expected --l2 X");
    }
    if (arguments.given().repeat > 1) {
      throw Error("--repeat: not with --l2 auto, which trains several models itself; expected --l2 X");
    }
    if (arguments.given().patience > 0) {
      throw Error(
          "--patience: not with --l2 auto, which starts each value from another one; expected --l2 X");
    }
    if (arguments.dev.empty())
      throw Error("--l2 auto: no held-out data to choose l2 on; expected --dev FILE");
    return train_search(arguments, arguments.limits.range());
  }
  const double l2 = parse_l2(arguments.l2, arguments.given().l1 + arguments.given().l1_ratio);
  if (arguments.limits.given()) {
    throw Error("--l2-max, --l2-min: no effect without --l2 auto; expected --l2 auto, or neither of them");
  }
  return train_one(arguments, l2);
}

std::string_view without_last_newline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

void add_train(Command program, Action& action) {
  Command command = program.add_subcommand("train", "train a model and save it with its certificate");
  command.footer(
      "Examples:\n"
      "  espalier train tag train.txt --dev dev.txt --l2 auto -o model.esp\n"
      "  espalier train classify train.svm --dev dev.svm --l2 auto -o model.esp\n"
      "  espalier train parse train.conllu --dev dev.conllu --l2 auto -o model.esp");
  add_task_commands<TrainArguments>(command, [&](Command subcommand, const TaskEntry& task,
                                                 const std::shared_ptr<TrainArguments>& arguments) {
    subcommand.group(kTraining);
    subcommand.add_option("--l2", arguments->l2, "regularisation l2/2 |theta|^2; auto: the best on --dev")
        .metavar("X|auto")
        .capture_default_str();
    arguments->limits.add_to(subcommand);
    subcommand
        .add_option("--init", arguments->init,
                    "start from this model; its attributes and labels are matched by name")
        .metavar("FILE")
        .advanced();
    arguments->add_training_option(subcommand, "repeat");
    arguments->add_training_option(subcommand, "patience").default_str("").check(whole_number_from(1));
    add_checkpoint_options(subcommand, *arguments);
    subcommand.group(kOutput);
    subcommand.add_option("-o,--output", arguments->output, "where to save the model")
        .metavar("FILE")
        .required();
    arguments->add_training_option(subcommand, "bits");
    subcommand.footer(fmt::format("Examples:\n{}", without_last_newline(task.train_examples)));
    subcommand.add_advanced_footer(fmt::format(
        "More examples:\n"
        "  espalier train {0} train.txt --init old.esp -o new.esp\n"
        "  espalier train {0} train.txt -o model.esp --checkpoint run.ckpt            (Ctrl-C)\n"
        "  espalier train {0} train.txt -o model.esp --checkpoint run.ckpt --resume   continues\n"
        "'--l2 auto' tries decades downwards from 10, and upwards, until the error on --dev clearly "
        "rises; then\nvalues between the best one and its neighbours.\n",
        task.name));
    subcommand.callback([arguments, &action] { action = [arguments] { return train(*arguments); }; });
  });
}

}  // namespace espalier::cli
