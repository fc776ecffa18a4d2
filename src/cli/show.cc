#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/validators.h"
#include "espalier/base/output.h"
#include "espalier/model/model.h"

namespace espalier::cli {
namespace {

std::string describe(const std::string& path, const Model& model, std::size_t top) {
  const ModelInfo& info = model.info();
  const Certificate& certificate = info.certificate;
  std::string text;
  text += fmt::format("model        {}\n", path);
  text += fmt::format("task         {}: {}\n", info.task, model.predictor().describe());
  text += fmt::format("loss         {}, l2 {}\n", info.loss.name(), info.l2);
  text += fmt::format("solver       {}, {:.2f} passes\n", info.solver, certificate.passes);
  text += fmt::format("primal       {:.6f}   the objective at these weights\n", certificate.primal);
  text += fmt::format("dual         {:.6f}   no weights have a lower one\n", certificate.dual);
  text +=
      fmt::format("gap          {:.3g}, relative {:.2e}\n", certificate.gap(), certificate.relative_gap());
  if (top > 0) text += fmt::format("\nheaviest weights of each label\n{}", model.predictor().strongest(top));
  return text;
}

}  // namespace

void add_show(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("show", "tell what a model is: settings, certificate, strongest features");
  struct Arguments {
    std::string model;
    std::size_t top = 5;
    bool weights = false, json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("MODEL", arguments->model, "a model that train saved")->required();
  command->add_option("--top", arguments->top, "how many features of each label")
      ->capture_default_str()
      ->check(whole_number_from(0));
  CLI::Option* json =
      command->add_flag("--json", arguments->json, "settings and certificate as one JSON object");
  command
      ->add_flag("--weights", arguments->weights,
                 "every weight instead: attribute TAB label TAB weight (of transitions: attribute TAB label "
                 "before TAB "
                 "label TAB weight)")
      ->excludes(json);
  command->footer(
      "Examples:\n"
      "  espalier show tagger.esp --top 10\n"
      "  espalier show model.esp --weights > weights.tsv");
  command->callback([arguments, &action] {
    action = [arguments] {
      const Model model(arguments->model);
      OutputFile output("-");
      if (arguments->json) {
        output.write(model.describe().dump() + '\n');
      } else if (arguments->weights) {
        output.write(model.predictor().all_weights());
      } else {
        output.write(describe(arguments->model, model, arguments->top));
      }
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
