#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/training.h"
#include "espalier/base/error.h"
#include "espalier/base/parse_number.h"

namespace espalier::cli {

void add_train(CLI::App& program, Action& action) {
  CLI::App* train = program.add_subcommand("train", "train a model and save it with its certificate");
  train->require_subcommand(1);
  train->footer("Example:\n  espalier train classify train.svm --dev dev.svm --l2 auto -o model.esp");

  struct Arguments : TrainingOptions {
    std::string l2 = "1";
    PathOptions path;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* classify =
      train->add_subcommand("classify", "one label an example: LIBSVM, CRFsuite or IDX (MNIST) files");
  arguments->add_to(*classify);
  arguments->add_classify_to(*classify);
  classify->add_option("-o,--output", arguments->output, "the model")->required();
  classify
      ->add_option("--l2", arguments->l2,
                   "regularisation l2/2 |theta|^2 against the sum of losses, or 'auto': the best on --dev")
      ->capture_default_str();
  add_path_options(*classify, arguments->path);
  classify->footer(
      "Examples:\n"
      "  espalier train classify train.svm --l2 1 -o model.esp\n"
      "  espalier train classify train.svm --loss svm --l2 10 -o model.esp\n"
      "  espalier train classify train.svm.gz --dev dev.svm.gz --l2 auto -o model.esp\n"
      "  espalier train classify train-images.gz,train-labels.gz --gap 1e-6 -o digits.esp\n\n"
      "--l2-max, --l2-min and --factor say which values 'auto' tries.");
  classify->callback([arguments, &action] {
    action = [arguments] {
      arguments->task = "classify";
      if (arguments->l2 == "auto") {
        if (arguments->dev.empty())
          throw Error("--l2 auto: no held-out data to choose by; expected --dev FILE");
        return train_path(*arguments, arguments->path, false);
      }
      const auto l2 = parse_double(arguments->l2);
      if (!l2 || !(*l2 > 0)) {
        throw Error(fmt::format("--l2: {} is no regularisation; expected a number > 0, or auto",
                                in_quotes(arguments->l2)));
      }
      return train_one(*arguments, *l2);
    };
  });
}

}  // namespace espalier::cli
