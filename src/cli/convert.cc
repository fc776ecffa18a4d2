#include <fmt/format.h>

#include "cli/commands.h"
#include "model/make_model.h"
#include "tasks/tag/convert.h"

namespace espalier::cli {

void add_convert(Command program, Action& action) {
  Command command =
      program.add_subcommand("convert", "convert a model that CRFsuite, Wapiti or CRF++ trained");
  struct Arguments {
    std::string model, output;
  };
  const auto arguments = std::make_shared<Arguments>();
  command
      .add_option(
          "DUMP", arguments->model,
          "the output of 'crfsuite dump', a Wapiti model, or the text model of 'crf_learn -t'; may be "
          "compressed")
      .required();
  command.add_option("-o,--output", arguments->output, "where to save the model").metavar("FILE").required();
  command.footer(
      "Examples:\n"
      "  crfsuite dump old.model > old.dump\n"
      "  espalier convert old.dump -o tagger.esp\n"
      "  espalier predict tagger.esp test.txt\n\n"
      "The model makes the same predictions as the other program, with the same probabilities, from the\n"
      "same files. Files of columns need at least those that the template uses; a label is the last one.");
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
