#include "tasks/tag/attributes.h"

#include "base/output.h"
#include "cli/commands.h"
#include "cli/validators.h"
#include "espalier/base/error.h"

namespace espalier::cli {

void add_attributes(Command program, Action& action) {
  Command command =
      program.add_subcommand("attributes", "write the built-in attributes of tagging as a CRFsuite file");
  struct Arguments {
    std::string input = "-", output = "-";
    std::size_t label_column = 0;
    bool unlabelled = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("INPUT", arguments->input, "file of columns; default: standard input");
  command.add_option("-o,--output", arguments->output, "where to write; default: standard output")
      .metavar("FILE");
  command
      .add_option("--label-column", arguments->label_column,
                  "column of the label, counted from 1; default: the last")
      .metavar("N")
      .check(whole_number_from(1));
  command.add_flag("--unlabelled", arguments->unlabelled, "there is no column of labels");
  command.footer(
      "Examples:\n"
      "  espalier attributes train.txt -o train.crfsuite\n"
      "  espalier train tag train.crfsuite --format crfsuite -o tagger.esp\n"
      "  espalier attributes new.txt --unlabelled | espalier predict tagger.esp");
  command.callback([arguments, &action] {
    action = [arguments] {
      if (arguments->unlabelled && arguments->label_column > 0)
        throw Error("--unlabelled: given with --label-column; expected one of the two");
      TagAttributesOptions options;
      options.labelled = !arguments->unlabelled;
      if (arguments->label_column > 0) options.label_column = arguments->label_column - 1;
      OutputFile output(arguments->output);
      write_tag_attributes(arguments->input, options, [&](std::string_view text) { output.write(text); });
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
