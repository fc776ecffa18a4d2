#include "report/certificate.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/run_summary.h"

namespace espalier {
namespace {

Json numbers_of(const Certificate& certificate) {
  return {{"primal", certificate.primal},
          {"dual", certificate.dual},
          {"gap", certificate.gap()},
          {"relative_gap", certificate.relative_gap()},
          {"passes", certificate.passes}};
}

// The facts of a model's file that are no certificate, in one list.
Json facts_of(const Model& model) {
  const Json described = model.describe();
  Json facts{{"task", fmt::format("{}: {}", model.info().task, model.predictor().describe())}};
  for (const char* key : {"loss", "rescaling", "l2", "l1", "solver"}) {
    if (described.contains(key)) facts[key] = described.at(key);
  }
  const WeightCount weights = model.count_weights();
  facts["weights"] = fmt::format("{} of {} are not zero, {} bits each", grouped(weights.nonzero),
                                 grouped(weights.all), model.info().bits);
  if (described.contains("data")) facts["training data"] = described.at("data");
  for (const char* part : {"reading", "settings"}) {
    if (!described.contains(part)) continue;
    for (const auto& [key, value] : described.at(part).items()) {
      if (!facts.contains(key)) facts[key] = value;
    }
  }
  return facts;
}

}  // namespace

std::string certificate_sentence(const ModelInfo& info) {
  if (!info.l2) return fmt::format("This model was {}: it has no certificate.", info.solver);
  if (!info.certificate)
    return fmt::format("The weights were rounded to {} bits after training: they have no certificate.",
                       info.bits);
  const Certificate& of = *info.certificate;
  if (of.approximate())
    return "Inference was approximate, so these numbers are estimates, and the gap bounds nothing.";
  std::string text =
      of.gap() == 0
          ? fmt::format("The objective at these weights is {:.6g}, and no weights have a lower one.",
                        of.primal)
          : fmt::format(
                "The objective at these weights is {:.6g}. No weights have one below {:.6g}, so more "
                "training can lower it by at most {:.2g} %.",
                of.primal, of.dual, 100 * of.relative_gap());
  if (of.inference == Inference::relaxed)
    text += " This is said of the relaxed problem, whose losses are upper bounds.";
  if (info.objective)
    text += fmt::format(
        " This is said of the last round's convex problem: {}, and the problem as a whole is not convex.",
        info.loss.difference ? "the loss is a difference" : "labels were uncertain");
  return text;
}

Json certificate_of(const Model* model, std::span<const RunEvents> runs) {
  Json result;
  if (model != nullptr) {
    result["sentence"] = certificate_sentence(model->info());
    if (model->info().certificate) result["numbers"] = numbers_of(*model->info().certificate);
    result["model"] = facts_of(*model);
  } else {
    result["sentence"] = "No model was saved. The charts show how near the optimum the runs came.";
  }
  result["runs"] = Json::array();
  for (const RunEvents& run : runs) result["runs"].push_back(summary_of(run));
  return result;
}

}  // namespace espalier
