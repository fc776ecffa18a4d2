#include "espalier/train/verify.h"

#include <fmt/format.h>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "cli/validators.h"
#include "espalier/train/read.h"

namespace espalier::cli {
namespace {

struct VerifyArguments {
  std::string model, data;
  VerifyOptions options;
  bool json = false;
  ModelOptions of_data{&TaskEntry::options};
};

std::string describe_bound(const Certificate& certificate) {
  return fmt::format("dual {:.10g}, gap {:.3g}, relative {:.2e}", certificate.dual, certificate.gap(),
                     certificate.relative_gap());
}

std::string describe_verdict(const Verification& found, const Model& model) {
  switch (found.verdict) {
    case Verdict::other_data:
      return "these are not the data that the model was trained on";
    case Verdict::other_objective:
      return "the objective at these weights is not what the file says";
    case Verdict::false_bound:
      return fmt::format(
          "there are weights with an objective of {:.10g}, below the dual that the file claims",
          found.lowest);
    case Verdict::unproven:
      return fmt::format(
          "the objective is what the file says, but of its gap only {:.3g} times as much was "
          "proven; try more --passes",
          found.proven.gap() / found.claimed->gap());
    case Verdict::nothing_claimed:
      return "the file says nothing to compare this with";
    case Verdict::agrees:
      break;
  }
  if (found.proven.approximate()) return "agrees: the objective, which is approximate, is what the file says";
  if (!found.claimed) return "agrees: the objective, which is not convex, is what the file says";
  return fmt::format(
      "agrees: the objective is what the file says, and at most {:.3g} above the lowest "
      "possible one{}",
      found.proven.gap(),
      model.info().certificate->inference == Inference::relaxed ? " of the relaxed problem" : "");
}

std::string describe_data(const Verification& found) {
  if (!found.same_data) return "the model does not say what it was trained on";
  return *found.same_data ? "those that the model was trained on" : "not those that the model was trained on";
}

std::string describe(const VerifyArguments& arguments, const Model& model, const TrainingSet& data,
                     const Verification& found) {
  std::string text = fmt::format("model        {}\n", arguments.model);
  text += fmt::format("data         {}: {}\n", arguments.data, data.describe());
  text += fmt::format("             {}\n", describe_data(found));
  text += fmt::format("objective    {:.12g} at these weights", found.objective);
  if (found.claimed_objective) text += fmt::format(", claimed {:.12g}", *found.claimed_objective);
  text += '\n';
  if (found.proven.approximate()) {
    text += "             approximate, as inference is: nothing bounds it\n";
  } else {
    if (found.claimed) text += fmt::format("claimed      {}\n", describe_bound(*found.claimed));
    text += fmt::format("proven       {}, after {:.2f} passes\n", describe_bound(found.proven),
                        found.proven.passes);
    if (data.problem().kernel() != nullptr)
      text += "             for the values of the kernel in single precision\n";
    if (model.info().objective) text += "             of the convex problem that these weights imply\n";
  }
  return text + fmt::format("verdict      {}\n", describe_verdict(found, model));
}

Json to_json(const Certificate& certificate) {
  Json json{{"primal", certificate.primal},
            {"dual", certificate.dual},
            {"gap", certificate.gap()},
            {"relative_gap", certificate.relative_gap()},
            {"passes", certificate.passes}};
  return json;
}

Json to_json(const VerifyArguments& arguments, const Verification& found) {
  Json json{{"model", arguments.model}, {"data", arguments.data}};
  json["verdict"] = to_string(found.verdict);
  json["same_data"] = found.same_data ? Json(*found.same_data) : Json();
  json["objective"] = found.objective;
  json["claimed_objective"] = found.claimed_objective ? Json(*found.claimed_objective) : Json();
  json["claimed"] = found.claimed ? to_json(*found.claimed) : Json();
  json["proven"] = to_json(found.proven);
  json["rounding"] = found.rounding;
  json["lowest"] = found.lowest;
  if (found.proven.approximate()) json["approximate"] = true;
  if (found.proven.inference == Inference::relaxed) json["relaxed"] = true;
  return json;
}

int status_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::agrees:
      return kSuccess;
    case Verdict::unproven:
    case Verdict::nothing_claimed:
      return kMissedGap;
    default:
      return kRefuted;
  }
}

int verify(VerifyArguments& arguments) {
  const Model model(arguments.model);
  const InterruptGuard interrupt;
  const NothingToSave until_verified("before the model was verified");
  Reading reading;
  reading.stop = interrupt.flag();
  reading.threads = Threads::of(arguments.options.threads);
  const auto data = read_training_of(model, arguments.data, arguments.of_data.of_training_of(model), reading);
  arguments.options.stop = interrupt.flag();
  const Verification found = espalier::verify(model, *data, arguments.options);
  OutputFile output("-");
  output.write(arguments.json ? to_json(arguments, found).dump() + '\n'
                              : describe(arguments, model, *data, found));
  output.commit();
  return status_of(found.verdict);
}

}  // namespace

void add_verify(Command program, Action& action) {
  Command command = program.add_subcommand(
      "verify", "prove a model's duality gap anew, from its weights and training data");
  const auto arguments = std::make_shared<VerifyArguments>();
  command.add_option("MODEL", arguments->model, "a model that train saved").required();
  command.add_option("DATA", arguments->data, "the data that it was trained on; '-' is standard input")
      .required();
  command
      .add_option("--passes", arguments->options.passes,
                  "maximum number of passes over the data that look for a bound as good as the claimed one")
      .metavar("X")
      .check(number_from_zero())
      .capture_default_str();
  command.add_option("--threads", arguments->options.threads, "number of threads; 0: one for each processor")
      .check(whole_number_from(0))
      .capture_default_str();
  command.add_flag("--json", arguments->json, "print one JSON object");
  command.group("How DATA was read, where the model does not say");
  arguments->of_data.add_to(command, false);
  command.footer(
      "Examples:\n"
      "  espalier verify tagger.esp train.txt\n"
      "  espalier verify parser.esp train.conllu --json\n\n"
      "It recomputes the objective at the model's weights, and a bound that no weights are below,\n"
      "without trusting what the file says of either. Exit status: 0 if all is as the file says, and\n"
      "a gap of at most three times its own was proven; 3 if no such gap was found, or the file claims\n"
      "none; 4 if the weights, the data or the bound are not what the file says.");
  command.callback([arguments, &action] { action = [arguments] { return verify(*arguments); }; });
}

}  // namespace espalier::cli
