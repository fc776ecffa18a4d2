#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ending.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/base/output.h"
#include "espalier/model/model.h"

namespace espalier::cli {

namespace {

// The value may be left out, so what stands behind the option is taken for it.
Check label_or_entity() {
  return [](std::string& text) {
    if (text == "label" || text == "entity") return std::string();
    return fmt::format("found {}; expected label or entity; INPUT goes before --marginals", in_quotes(text));
  };
}

}  // namespace

void add_predict(Command program, Action& action) {
  Command command = program.add_subcommand("predict", "label new data with a model");
  struct Arguments {
    std::string model, input = "-", output = "-";
    std::string marginals;
    PredictOptions options;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("MODEL", arguments->model, "a model that train saved").required();
  command.add_option("INPUT", arguments->input, "the data; default: standard input");
  command.add_option("-o,--output", arguments->output, "where to; default: standard output");
  command.add_option(
      "--format", arguments->options.format,
      "of INPUT; default: that of the training data; parse: tree draws trees for people; treebank: "
      "brackets, tagged (WORD_TAG WORD_TAG ...) or words");
  command
      .add_option("--marginals", arguments->marginals,
                  "add the probability of every label, in parsing of every likely head; 'entity': of every "
                  "chunk that is "
                  "predicted")
      .may_lack_value()
      .default_str("label")
      .type_name("[label|entity]")
      .check(label_or_entity());
  command
      .add_option("--kbest", arguments->options.kbest,
                  "the K best labels, label sequences or trees, each with its probability (its score, for "
                  "beta = inf)")
      .check(whole_number_from(1));
  command
      .add_option(
          "--min-confidence", arguments->options.min_confidence,
          "tagging: chunks that are less probable become O (tokens _, where labels are no chunk tags)")
      .check(probability());
  command
      .add_option(
          "--forced", arguments->options.forced,
          "tagging: the column, counted from 1, with labels to keep: LABEL, A|B for one of several, _ "
          "for any; 'label': the label's own")
      .type_name("COLUMN");
  command.add_option("--encoding", arguments->options.encoding,
                     "tagging: write the labels of chunks as iob1, bio or bioes; default: the model's");
  command.add_option("--threads", arguments->options.threads, "tagging and parsing: how many to use")
      .check(whole_number_from(1))
      .capture_default_str();
  command.footer(
      "Examples:\n"
      "  espalier predict tagger.esp new.txt -o tagged.txt --threads 4\n"
      "  espalier predict tagger.esp --marginals < new.txt\n"
      "  espalier predict tagger.esp new.txt --marginals entity --min-confidence 0.5\n"
      "  espalier predict tagger.esp partly.txt --forced 3\n"
      "  espalier predict classifier.esp new.svm --kbest 3\n"
      "  espalier predict parser.esp new.conllu -o parsed.conllu --threads 4\n"
      "  espalier predict parser.esp new.conllu --format tree --kbest 2\n"
      "  espalier predict phrases.esp tagged.txt --format tagged\n\n"
      "Tagging columns writes the lines that it read, with the label as one more column; parsing, with the "
      "head "
      "and the\n"
      "relation in their columns; treebank, a tree in brackets a line; anything else, one label a line. "
      "--kbest writes each label sequence or "
      "tree "
      "below a line\n"
      "'# RANK PROBABILITY', ranks from 0.");
  command.callback([arguments, &action] {
    arguments->options.marginals = arguments->marginals == "label";
    arguments->options.entities = arguments->marginals == "entity";
    action = [arguments] {
      const Model model(arguments->model);
      warn_if_far(arguments->model, model.info());
      OutputFile output(arguments->output);
      model.predictor().predict(arguments->input, arguments->options,
                                [&](std::string_view piece) { output.write(piece); });
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
