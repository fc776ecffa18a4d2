#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/train/read.h"
#include "espalier/train/round.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "tasks/tag/convert.h"

namespace espalier::cli {
namespace {

struct ConvertArguments {
  std::string model, output, data;
  int bits = 32;
  ModelOptions of_data{&TaskEntry::options};
};

std::string describe_rounded(const Model& model) {
  if (model.info().bits == 32) return "";
  const std::string text = fmt::format("; rounded to {} bits: ", model.info().bits);
  if (const auto& certificate = model.info().certificate)
    return text + fmt::format("relative gap {:.2g}", certificate->relative_gap());
  return text + "no certificate";
}

struct Converted {
  std::string from;  // in words
  Model model;
};

Converted convert_foreign(const ConvertArguments& arguments) {
  if (!arguments.data.empty())
    throw Error::in("--data", "given for a model that another program trained, which has no certificate",
                    "expected a model of this one");
  const ConvertedTagger tagger(arguments.model);
  const Model model = make_model(tagger);
  return {fmt::format("{}: {}", model.info().solver, tagger.describe()), model.rounded(arguments.bits)};
}

Converted round_own(const ConvertArguments& arguments) {
  const Model model(arguments.model);
  if (arguments.bits == 32) {
    throw Error::in(arguments.model, "a model of espalier",
                    "expected --bits 16, or a model of CRFsuite, Wapiti or CRF++");
  }
  const std::string from = fmt::format("{}: {}", arguments.model, model.predictor().describe());
  if (arguments.data.empty()) return {from, model.rounded(arguments.bits)};
  const InterruptGuard interrupt;
  const NothingToSave until_certified("before the model was certified");
  Reading reading;
  reading.stop = interrupt.flag();
  const auto data = read_training_of(model, arguments.data, arguments.of_data.of_training_of(model), reading);
  return {from, round_and_certify(model, arguments.bits, *data)};
}

int convert(const ConvertArguments& arguments) {
  if (arguments.data.empty() && arguments.of_data.given())
    throw Error("options of training data without --data; expected --data FILE, or none of them");
  if (!arguments.data.empty() && arguments.bits == 32)
    throw Error("--data: no effect without --bits; expected --bits 16, or no --data");
  const Converted converted =
      is_model_file(arguments.model) ? round_own(arguments) : convert_foreign(arguments);
  converted.model.save(arguments.output);
  // The model is there: a standard error that cannot be written is no reason to fail.
  std::fputs(
      fmt::format("{}{}; saved {}\n", converted.from, describe_rounded(converted.model), arguments.output)
          .c_str(),
      stderr);
  return kSuccess;
}

}  // namespace

void add_convert(Command program, Action& action) {
  Command command = program.add_subcommand(
      "convert", "convert a model of CRFsuite, Wapiti or CRF++; store any model in 16 bits a weight");
  const auto arguments = std::make_shared<ConvertArguments>();
  command
      .add_option(
          "MODEL", arguments->model,
          "the output of 'crfsuite dump', a Wapiti model, or the text model of 'crf_learn -t'; may be "
          "compressed; with --bits, also a model that train saved")
      .required();
  command.add_option("-o,--output", arguments->output, "where to save the model").metavar("FILE").required();
  command.add_option("--bits", arguments->bits, "bits of each weight, 16 or 32; 16: the nearest such weights")
      .capture_default_str()
      .check(bits_of_weights())
      .offer({"16", "32"});
  command
      .add_option(
          "--data", arguments->data,
          "with --bits 16: the model's training data, to certify the rounded weights; read with the options "
          "of its training")
      .metavar("FILE");
  command.group("How --data was read, where the model does not say");
  arguments->of_data.add_to(command, false);
  command.footer(
      "Examples:\n"
      "  crfsuite dump old.model > old.dump\n"
      "  espalier convert old.dump -o tagger.esp\n"
      "  espalier predict tagger.esp test.txt\n"
      "  espalier convert --bits 16 tagger.esp -o small.esp\n"
      "  espalier convert --bits 16 --data train.txt tagger.esp -o small.esp\n\n"
      "A converted model makes the same predictions as the other program, with the same probabilities,\n"
      "from the same files. Files of columns need at least those that the template uses; a label is the\n"
      "last one. Rounded weights have no certificate, unless --data is there to compute it.");
  command.callback([arguments, &action] { action = [arguments] { return convert(*arguments); }; });
}

}  // namespace espalier::cli
