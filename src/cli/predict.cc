#include "cli/commands.h"
#include "cli/validators.h"
#include "espalier/base/output.h"
#include "espalier/model/model.h"

namespace espalier::cli {

void add_predict(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("predict", "label new data with a model");
  struct Arguments {
    std::string model, input = "-", output = "-";
    PredictOptions options;
  };
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("MODEL", arguments->model, "a model that train saved")->required();
  command->add_option("INPUT", arguments->input, "the data; default: standard input");
  command->add_option("-o,--output", arguments->output, "where to; default: standard output");
  command->add_option("--format", arguments->options.format, "of INPUT; default: that of the training data");
  command->add_flag("--marginals", arguments->options.marginals, "add the probability of every label");
  command
      ->add_option(
          "--kbest", arguments->options.kbest,
          "the K best labels or label sequences, each with its probability (its score, for beta = inf)")
      ->check(whole_number_from(1));
  command->footer(
      "Examples:\n"
      "  espalier predict tagger.esp new.txt -o tagged.txt\n"
      "  espalier predict tagger.esp --marginals < new.txt\n"
      "  espalier predict classifier.esp new.svm --kbest 3\n\n"
      "Tagging columns writes the lines that it read, with the label as one more column; anything else, one "
      "label a\n"
      "line. --kbest writes each label sequence below a line '# RANK PROBABILITY', ranks from 0.");
  command->callback([arguments, &action] {
    action = [arguments] {
      const Model model(arguments->model);
      OutputFile output(arguments->output);
      model.predictor().predict(arguments->input, arguments->options,
                                [&](std::string_view piece) { output.write(piece); });
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
