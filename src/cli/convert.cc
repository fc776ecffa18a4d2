#include <fmt/format.h>

#include "cli/commands.h"
#include "model/make_model.h"
#include "tasks/tag/convert.h"

namespace espalier::cli {

void add_convert(Command program, Action& action) {
  Command command =
      program.add_subcommand("convert", "make a model of one that CRFsuite, Wapiti or CRF++ trained");
  struct Arguments {
    std::string model, output;
  };
  const auto arguments = std::make_shared<Arguments>();
  command
      .add_option(
          "DUMP", arguments->model,
          "what 'crfsuite dump' printed, a model of Wapiti, or the text model of 'crf_learn -t'; plain, "
          ".gz or .zst")
      .required();
  command.add_option("-o,--output", arguments->output, "where the model goes").required();
  command.footer(
      "Examples:\n"
      "  crfsuite dump old.model > old.dump\n"
      "  espalier convert old.dump -o tagger.esp\n"
      "  espalier predict tagger.esp test.txt\n\n"
      "The model predicts what the other program predicts, with the same probabilities, from the same files. "
      "Those of\n"
      "columns may have any number of them from what the template looks at on; the label, where there is "
      "one, is "
      "the last.");
  command.callback([arguments, &action] {
    action = [arguments] {
      const ConvertedTagger tagger(arguments->model);
      const Model model = make_model(tagger);
      model.save(arguments->output);
      fmt::print(stderr, "{}: {}; saved {}\n", model.info().solver, tagger.describe(), arguments->output);
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
