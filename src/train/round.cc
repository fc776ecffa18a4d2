#include "espalier/train/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "learning/certify.h"
#include "model/make_model.h"
#include "train/recertify.h"

namespace espalier {
namespace {

Weights weights_on(const TrainingSet& data, const Model& model) {
  Weights theta(data.problem().weight_shape());
  model.predictor().for_each_weight([&](const WeightName& name, float weight) {
    if (weight == 0) return;
    float* place = data.find_weight(name, theta);
    if (place == nullptr) {
      throw Error::in(model.name(),
                      fmt::format("a weight of {} with the label {}, which the data do not have",
                                  in_quotes(name.attribute), in_quotes(name.label)),
                      "expected the data and the options of its training");
    }
    *place = weight;
  });
  return theta;
}

}  // namespace

Certificate certificate_of_rounded(const Objective& objective, const Weights& theta, double dual,
                                   double passes, Sweep& sweep) {
  Certificate certificate;
  certificate.primal = evaluate_primal(objective, theta, sweep);
  certificate.dual = dual;
  certificate.passes = passes;
  certificate.inference = objective.problem.inference();
  if (!certificate.approximate() && certificate.dual > certificate.primal)
    certificate.rounding = rounding_bound(objective, certificate.primal);
  return certificate;
}

Model round_and_certify(const Model& model, int bits, TrainingSet& data, std::size_t threads) {
  const std::string& name = model.name();
  if (model.info().task != data.task()) {
    throw Error::in(name, fmt::format("a model of the task {}", model.info().task),
                    fmt::format("expected one of the task {}", data.task()));
  }
  const Certificate& before = model.certificate();
  if (model.describe().at("settings").contains("kernel"))
    throw Error::in(name, "a model with a kernel, whose coefficients have no names to match",
                    "expected one without, or no data");
  if (data.latent_gold() != nullptr)
    throw Error::in(name, "gold outputs that are not all known, which training completed in its own way",
                    "expected known ones, or no data");
  SoftThreshold l1 = data.l1_rows();
  l1.value = model.info().l1;
  const Objective objective{data.problem(), model.info().loss, {model.info().l2.value(), l1}};
  Sweep sweep(threads);
  const double primal = evaluate_primal(objective, weights_on(data, model), sweep);
  if (!(std::abs(primal - before.primal) <= rounding_bound(objective, before.primal))) {
    throw Error::in(name,
                    fmt::format("an objective of {:.10g} on the data, where the model has {:.10g}", primal,
                                before.primal),
                    "expected the data and the options of its training");
  }
  const Model rounded = model.rounded(bits);
  const Weights theta = weights_on(data, rounded);
  // Both bound the same optimum.
  const double dual = std::max(before.dual, certify_implied(objective, theta, sweep).dual);
  return with_certificate(rounded, certificate_of_rounded(objective, theta, dual, before.passes, sweep));
}

}  // namespace espalier
