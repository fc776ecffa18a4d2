#include "train/recertify.h"

#include <fmt/format.h>

#include "base/text.h"
#include "espalier/base/error.h"
#include "learning/certify.h"
#include "solvers/violated_output.h"

namespace espalier {

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

Objective objective_of(const Model& model, const TrainingSet& data) {
  return objective_of(model, data, data.problem());
}

Objective objective_of(const Model& model, const TrainingSet& data, const Problem& problem) {
  SoftThreshold l1 = data.l1_rows();
  l1.value = model.info().l1;
  return {problem, model.info().loss.convex(), {model.info().l2.value(), l1}};
}

double evaluate_primal(const Objective& objective, Rescaling rescaling, const Weights& theta, Sweep& sweep) {
  if (rescaling == Rescaling::margin) return evaluate_primal(objective, theta, sweep);
  const Problem& problem = objective.problem;
  const double losses = sweep.sum(problem.size(), [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    const std::size_t length = problem.num_statistics(i);
    const auto s = frame.take<double>(length), chi = frame.take<double>(length);
    return problem.weight(i) * most_violated(objective, rescaling, i, theta, s, chi, ws).loss;
  });
  return objective.regularizer.value(problem, theta) + losses;
}

Certificate certificate_of_rounded(const Objective& objective, Rescaling rescaling, const Weights& theta,
                                   double dual, double passes, Sweep& sweep) {
  Certificate certificate;
  certificate.primal = evaluate_primal(objective, rescaling, theta, sweep);
  certificate.dual = dual;
  certificate.passes = passes;
  certificate.inference = objective.problem.inference();
  if (!certificate.approximate() && certificate.dual > certificate.primal)
    certificate.rounding = rounding_bound(objective, certificate.primal);
  return certificate;
}

}  // namespace espalier
