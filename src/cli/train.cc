#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/task_commands.h"
#include "cli/training.h"
#include "cli/validators.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

struct TrainArguments : TrainingOptions {
  std::string l2 = "1";
  L2Limits limits;
};

int train(const TrainArguments& arguments) {
  if (arguments.l2 == "auto") {
    if (!arguments.init.empty()) {
      throw Error("--init: not with --l2 auto, whose values start from each other; expected --l2 X");
    }
    if (arguments.repeat > 1) {
      throw Error("--repeat: not with --l2 auto, which trains one model after the other; expected --l2 X");
    }
    if (arguments.dev.empty()) throw Error("--l2 auto: no held-out data to choose by; expected --dev FILE");
    return train_search(arguments, arguments.limits.range());
  }
  const double l2 = parse_l2(arguments.l2);
  if (arguments.limits.given()) {
    throw Error("--l2-max, --l2-min: not with one value of l2; expected --l2 auto, or neither");
  }
  return train_one(arguments, l2);
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
    subcommand.add_option("-o,--output", arguments->output, "the model").required();
    subcommand
        .add_option("--l2", arguments->l2,
                    "regularisation l2/2 |theta|^2 against the sum of losses, or 'auto': the best on --dev")
        .capture_default_str();
    arguments->limits.add_to(subcommand);
    subcommand.add_option("--init", arguments->init,
                          "start from this model; its attributes and labels are matched by name");
    subcommand
        .add_option("--repeat", arguments->repeat,
                    "train so often, with seeds from --seed on, and keep the model with the best dual")
        .capture_default_str()
        .check(whole_number_from(1));
    add_checkpoint_options(subcommand, *arguments);
    subcommand.footer(fmt::format(
        "Examples:\n{0}"
        "  espalier train {1} train.txt --init old.esp -o new.esp\n"
        "  espalier train {1} train.txt -o model.esp --checkpoint run.ckpt            Ctrl-C "
        "saves, and then\n"
        "  espalier train {1} train.txt -o model.esp --checkpoint run.ckpt --resume   goes on\n"
        "'auto' goes from 1 downwards by decades, and upwards, until --dev has clearly turned, then "
        "looks closer.",
        task.train_examples, task.name));
    subcommand.callback([arguments, &action] { action = [arguments] { return train(*arguments); }; });
  });
}

}  // namespace espalier::cli
