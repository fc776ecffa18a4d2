#include "espalier/train/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "learning/certify.h"
#include "model/make_model.h"
#include "train/recertify.h"

namespace espalier {

Model round_and_certify(const Model& model, int bits, TrainingSet& data, std::size_t threads) {
  const std::string& name = model.name();
  if (model.info().task != data.task()) {
    throw Error::in(name, fmt::format("a model of the task {}", model.info().task),
                    fmt::format("expected one of the task {}", data.task()));
  }
  const Certificate& before = model.certificate();
  if (data.latent_gold() != nullptr)
    throw Error::in(name, "gold outputs that are not all known, which training completed in its own way",
                    "expected known ones, or no data");
  if (model.info().loss.difference)
    throw Error::in(
        name,
        fmt::format("a model of loss {}, whose last round its file does not have", model.info().loss.name()),
        "expected none, or no data");
  const Objective objective = objective_of(model, data);
  const bool slack = model.info().slack_rescaling;
  const Rescaling rescaling = slack ? Rescaling::slack : Rescaling::margin;
  Sweep sweep(threads);
  const double primal = evaluate_primal(objective, rescaling, weights_on(data, model), sweep);
  if (!(std::abs(primal - before.primal) <= rounding_bound(objective, before.primal))) {
    throw Error::in(name,
                    fmt::format("an objective of {:.10g} on the data, where the model has {:.10g}", primal,
                                before.primal),
                    "expected the data and the options of its training");
  }
  const Model rounded = model.rounded(bits);
  const Weights theta = weights_on(data, rounded);
  double dual = before.dual;
  // Both bound the same optimum.
  if (!slack) dual = std::max(dual, certify_implied(objective, theta, sweep).dual);
  return with_certificate(rounded,
                          certificate_of_rounded(objective, rescaling, theta, dual, before.passes, sweep));
}

}  // namespace espalier
