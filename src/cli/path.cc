#include "cli/commands.h"
#include "cli/training.h"
#include "espalier/base/error.h"

namespace espalier::cli {

void add_path(CLI::App& program, Action& action) {
  CLI::App* path = program.add_subcommand(
      "path", "train for a decreasing sequence of l2, each from the last one's optimum");
  path->require_subcommand(1);
  path->footer("Example:\n  espalier path classify train.svm --dev dev.svm -o best.esp");

  struct Arguments : TrainingOptions {
    PathOptions path;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* classify =
      path->add_subcommand("classify", "one label an example: LIBSVM, CRFsuite or IDX (MNIST) files");
  arguments->add_to(*classify);
  arguments->add_classify_to(*classify);
  classify->get_option("--dev")->required();
  classify->add_option("-o,--output", arguments->output, "save the model that is best on --dev");
  add_path_options(*classify, arguments->path);
  classify->footer(
      "Examples:\n"
      "  espalier path classify train.svm --dev dev.svm\n"
      "  espalier path classify train.svm --dev dev.svm --l2-max 100 --l2-min 0.1 --factor 0.5 -o "
      "best.esp\n\n"
      "Prints a line for each l2: passes for it and in all, relative gap, objective, error on --dev.");
  classify->callback([arguments, &action] {
    action = [arguments] {
      arguments->task = "classify";
      if (arguments->output == "-") {
        throw Error("--output -: standard output is where the table goes; expected the name of a file");
      }
      return train_path(*arguments, arguments->path, true);
    };
  });
}

}  // namespace espalier::cli
