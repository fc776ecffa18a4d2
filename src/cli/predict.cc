#include <fmt/format.h>

#include <vector>

#include "base/naming_file.h"
#include "base/output.h"
#include "cli/column_models.h"
#include "cli/commands.h"
#include "cli/ending.h"
#include "cli/memory_limit.h"
#include "cli/model_options.h"
#include "cli/ranks.h"
#include "espalier/model/model.h"
#include "espalier/tasks/registry.h"

namespace espalier::cli {

void add_predict(Command program, Action& action) {
  Command command = program.add_subcommand("predict", "label new data with a model");
  struct Arguments {
    std::string model, input = "-", output = "-";
    std::vector<std::string> columns;
    ModelOptions options{&TaskEntry::predict_options};
    MemoryLimit memory;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("MODEL", arguments->model, "a model that train saved").required();
  command.add_option("INPUT", arguments->input, "the data; default: standard input");
  command.add_option("-o,--output", arguments->output, "where to write; default: standard output")
      .metavar("FILE");
  arguments->options.add_to(command, true);
  arguments->memory.add_to(command);
  command
      .add_option("--columns", arguments->columns,
                  "with --format text: a tagger for a column, as pos=POS.esp")
      .metavar("NAME=MODEL");
  command.footer(
      "Examples:\n"
      "  espalier predict tagger.esp new.txt -o tagged.txt --threads 4\n"
      "  espalier predict tagger.esp new.txt --marginals entity --min-confidence 0.5\n"
      "  espalier predict classifier.esp new.svm --json --marginals\n"
      "  espalier predict tagger.esp letter.txt --format text --columns pos=POS.esp --json\n"
      "  espalier predict parser.esp new.conllu --format tree --kbest 2\n\n"
      "Output: for columns, the lines of the input with the label as one more column; for parse, with head\n"
      "and relation in their columns; for treebank, one bracketed tree per line; for align, sentences and\n"
      "links; otherwise one label per line. --kbest writes '# RANK PROBABILITY' above each output, from 0.");
  command.callback([arguments, &action] {
    action = [arguments] {
      arguments->memory.check_model(arguments->model);
      const Model model(arguments->model);
      warn_if_far(arguments->model, model.info());
      // A model of a task that is in no table does not load.
      PredictOptions options = arguments->options.of(*find_task(model.info().task));
      options.warning = complain;
      const ColumnModels columns(arguments->columns, model.info().task);
      options.columns = columns.taggers();
      OutputFile output(is_first_rank() ? arguments->output : "-");
      const ReadingObserver observer = arguments->memory.observer();
      work_on_ranks(model.info().task, arguments->input, [&] {
        naming_file(arguments->input, [&] {
          model.predictor().predict(arguments->input, options, [&](std::string_view piece) {
            arguments->memory.check(arguments->input);
            output.write(piece);
          });
        });
      });
      if (!is_first_rank()) return kSuccess;
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
