#include <fmt/format.h>

#include "base/naming_file.h"
#include "base/output.h"
#include "cli/commands.h"
#include "cli/ending.h"
#include "cli/memory_limit.h"
#include "cli/model_options.h"
#include "cli/ranks.h"
#include "cli/validators.h"
#include "espalier/model/model.h"

namespace espalier::cli {

void add_eval(Command program, Action& action) {
  Command command = program.add_subcommand("eval", "measure a model on labelled data");
  struct Arguments {
    std::string model, gold;
    EvaluateOptions options;
    bool json = false;
    MemoryLimit memory;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("MODEL", arguments->model, "a model that train saved").required();
  command.add_option("GOLD", arguments->gold, "labelled data; '-' is standard input").required();
  command
      .add_option("--format", arguments->options.format, "format of GOLD; default: that of the training data")
      .metavar("NAME")
      .offer(words_of_tasks(&TaskEntry::options, "format"));
  command.add_option("--threads", arguments->options.threads, "number of threads; 0: one for each processor")
      .check(whole_number_from(0))
      .capture_default_str();
  arguments->memory.add_to(command);
  command.add_flag("--json", arguments->json, "print one JSON object; rates are fractions");
  command.footer(
      "Examples:\n"
      "  espalier eval tagger.esp test.txt\n"
      "  espalier eval classifier.esp test.svm --json\n"
      "  espalier eval parser.esp test.conllu --threads 1\n\n"
      "Tagging: accuracy, and precision, recall and F1 of chunks as conlleval counts them. Classification:\n"
      "error and confusion table. Parsing: how many words have the right head (UAS), and also the right\n"
      "relation (LAS). Word alignment: alignment error rate (AER), precision and recall.");
  command.callback([arguments, &action] {
    action = [arguments] {
      arguments->memory.check_model(arguments->model);
      const Model model(arguments->model);
      warn_if_far(arguments->model, model.info());
      if (model.info().bits < 32 && !model.info().certificate)
        complain(fmt::format("{}: {}", arguments->model, no_certificate(model.info())));
      arguments->options.warning = complain;
      const ReadingObserver observer = arguments->memory.observer();
      Evaluation evaluation;
      work_on_ranks(model.info().task, arguments->gold, [&] {
        evaluation = naming_file(
            arguments->gold, [&] { return model.predictor().evaluate(arguments->gold, arguments->options); });
      });
      if (!is_first_rank()) return kSuccess;
      OutputFile output("-");
      output.write(arguments->json ? evaluation.report.dump() + '\n' : evaluation.text);
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
