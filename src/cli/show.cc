#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/output.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/ending.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "model/model_difference.h"

namespace espalier::cli {
namespace {

std::string describe(const std::string& path, const Model& model, std::size_t top) {
  const ModelInfo& info = model.info();
  std::string text;
  text += fmt::format("model        {}\n", path);
  text += fmt::format("task         {}: {}\n", info.task, model.predictor().describe());
  text += fmt::format("loss         {}{}", info.loss.name(), info.slack_rescaling ? ", rescaled slacks" : "");
  if (info.l2) text += fmt::format(", l2 {}", *info.l2);
  if (info.l1 > 0) text += fmt::format(", l1 {}", info.l1);
  text += fmt::format("\nsolver       {}", info.solver);
  if (const auto& certificate = info.certificate) {
    text += fmt::format(", {:.2f} passes\n", certificate->passes);
    if (info.objective) {
      text += fmt::format("objective    {:.10g}   at these weights; not convex, as {}\n", *info.objective,
                          info.loss.difference ? "the loss is a difference" : "labels were uncertain");
    }
    text += fmt::format("primal       {:.10g}   {}\n", certificate->primal,
                        info.objective ? "of the last round's convex problem, as what follows"
                                       : "the objective at these weights");
    text += fmt::format("dual         {:.10g}   {}\n", certificate->dual,
                        certificate->approximate() ? "approximate, as all of this: inference is"
                        : certificate->inference == Inference::relaxed
                            ? "of the relaxed problem: losses are upper bounds"
                            : "no weights have a lower one");
    text += fmt::format("gap          {:.3g}, relative {:.2e}\n", certificate->gap(),
                        certificate->relative_gap());
    if (model.describe().at("settings").contains("kernel"))
      text += "             for the values of the kernel in single precision\n";
    if (const auto warning = far_from_optimum(info)) text += fmt::format("             {}\n", *warning);
  } else {
    text += fmt::format("; {}\n", no_certificate(info));
  }
  const WeightCount weights = model.count_weights();
  text += fmt::format("weights      {} of {} are not zero{}\n", grouped(weights.nonzero),
                      grouped(weights.all), info.bits < 32 ? fmt::format(", {} bits each", info.bits) : "");
  if (top > 0) {
    // Hashed features have no names that would tell a reader anything.
    const bool named = model.predictor().attributes().size() > 0;
    const std::string strongest = model.predictor().strongest(top);
    // Nor have coefficients of a kernel.
    if (!named || !strongest.empty())
      text += fmt::format("\n{}{}", named ? "heaviest weights of each label\n" : "", strongest);
  }
  return text;
}

std::string dump(const Json& json) { return json.dump() + '\n'; }

std::string describe_setting(const Json& value) {
  if (value.is_null()) return "(none)";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Two models side by side, then what is different in their weights.
std::string describe(const std::string& first_path, const Model& first, const std::string& second_path,
                     const Model& second, const ModelDifference& difference) {
  const auto &a = first.info().certificate, &b = second.info().certificate;
  std::string text;
  const auto row = [&](std::string_view name, const std::string& x, const std::string& y) {
    text += fmt::format("{:<13} {:<24} {}\n", name, x, y);
  };
  row("model", first_path, second_path);
  row("task", first.info().task, second.info().task);
  for (const auto& setting : difference.settings) {
    row(setting.name, describe_setting(setting.first), describe_setting(setting.second));
  }
  const auto certified = [&](std::string_view name, const auto& value, const char* digits) {
    const auto describe_value = [&](const auto& certificate) {
      return certificate ? fmt::format(fmt::runtime(digits), value(*certificate)) : "(none)";
    };
    row(name, describe_value(a), describe_value(b));
  };
  certified(
      "primal", [](const Certificate& of) { return of.primal; }, "{:.10g}");
  certified(
      "dual", [](const Certificate& of) { return of.dual; }, "{:.10g}");
  certified(
      "relative gap", [](const Certificate& of) { return of.relative_gap(); }, "{:.2e}");
  certified(
      "passes", [](const Certificate& of) { return of.passes; }, "{:.2f}");
  row("labels", grouped(first.predictor().labels().size()), grouped(second.predictor().labels().size()));
  if (!difference.hashed)
    row("attributes", grouped(difference.attributes_first), grouped(difference.attributes_second));
  row("|theta|", fmt::format("{:.6g}", difference.norm_first), fmt::format("{:.6g}", difference.norm_second));
  text += fmt::format("\n|difference| {:.6g}", difference.norm_of_difference);
  if (!difference.hashed)
    text += fmt::format("; {} in common", counted(difference.attributes_common, "attribute"));
  text += '\n';
  const auto only = [&](const std::string& path, const std::vector<std::string>& labels) {
    if (!labels.empty()) text += fmt::format("labels only in {}: {}\n", path, fmt::join(labels, " "));
  };
  only(first_path, difference.labels_only_first);
  only(second_path, difference.labels_only_second);
  if (difference.hashed) return text;
  if (!difference.groups.empty()) text += "\nlargest changes of each label\n";
  for (const auto& group : difference.groups) {
    text += group.name + '\n';
    for (const auto& change : group.changes) {
      text += fmt::format("  {:>+9.4f} -> {:>+9.4f}  {}", change.first, change.second, change.attribute);
      if (!change.before.empty()) text += fmt::format("  {} -> {}", change.before, change.label);
      text += '\n';
    }
  }
  return text;
}

Json to_json(const Model& first, const Model& second, const ModelDifference& difference) {
  // Json::array, since two lists of two names each would be taken for an object.
  Json json{{"models", Json::array({first.describe(), second.describe()})}};
  json["settings"] = Json::object();
  for (const auto& setting : difference.settings) {
    json["settings"][setting.name] = Json::array({setting.first, setting.second});
  }
  json["labels_only"] = Json::array({difference.labels_only_first, difference.labels_only_second});
  json["attributes"] = {difference.attributes_first, difference.attributes_second};
  json["attributes_common"] = difference.attributes_common;
  json["norms"] = {difference.norm_first, difference.norm_second};
  json["norm_of_difference"] = difference.norm_of_difference;
  json["changes"] = Json::array();
  for (const auto& group : difference.groups) {
    for (const auto& change : group.changes) {
      Json entry{{"attribute", change.attribute}};
      if (!change.before.empty()) entry["before"] = change.before;
      entry.update({{"label", change.label}, {"weights", {change.first, change.second}}});
      json["changes"].push_back(entry);
    }
  }
  return json;
}

}  // namespace

void add_show(Command program, Action& action) {
  static constexpr std::size_t kTop = 5;
  Command command =
      program.add_subcommand("show", "describe a model: settings, certificate, strongest features");
  struct Arguments {
    std::string model, other;
    std::optional<std::uint64_t> top{};
    bool weights = false, json = false, diff = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("MODEL", arguments->model, "a model that train saved").required();
  Option other = command.add_option("OTHER", arguments->other, "with --diff: another model");
  Option top = command.add_option("--top", arguments->top, "number of features to show for each label")
                   .default_str(std::to_string(kTop))
                   .check(whole_number_from(0));
  Option json =
      command.add_flag("--json", arguments->json, "print settings and certificate as one JSON object");
  Option diff =
      command.add_flag("--diff", arguments->diff, "compare MODEL and OTHER: settings, certificates, weights")
          .needs(other);
  other.needs(diff);
  command
      .add_flag("--weights", arguments->weights,
                "print every weight: attribute TAB label TAB weight (for transitions: attribute TAB previous "
                "label TAB label TAB weight); of a kernel, coefficients of nodes")
      .excludes(top)
      .excludes(json)
      .excludes(diff);
  command.footer(
      "Examples:\n"
      "  espalier show tagger.esp --top 10\n"
      "  espalier show model.esp --weights > weights.tsv\n"
      "  espalier show --diff old.esp new.esp");
  command.callback([arguments, &action] {
    action = [arguments] {
      if (arguments->top && arguments->json && !arguments->diff)
        throw Error("--top: no effect; expected --diff, or no --json, or no --top");
      const std::size_t top = arguments->top.value_or(kTop);
      const Model model(arguments->model);
      OutputFile output("-");
      if (arguments->diff) {
        const Model other(arguments->other);
        const ModelDifference difference = compare_models(model, other, top);
        output.write(arguments->json
                         ? dump(to_json(model, other, difference))
                         : describe(arguments->model, model, arguments->other, other, difference));
      } else if (arguments->json) {
        output.write(model.describe().dump() + '\n');
      } else if (arguments->weights) {
        output.write(model.predictor().all_weights());
      } else {
        output.write(describe(arguments->model, model, top));
      }
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
