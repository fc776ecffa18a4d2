// Bundle method for regularised risk minimisation. L_i is convex, so it lies above its tangent at theta, with
//   delta = pi_i - z_i,   offset = L_i(theta) - (F_i'theta).delta,
// pi_i a best output where beta is infinite. There the offset is gamma cost_i(pi_i), and the plane is below
// the loss whether pi_i is the best one or not. bundle_method.cc does the rest.

#include "solvers/bmrm.h"

#include <numeric>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/eg.h"
#include "learning/certify.h"
#include "learning/rounding.h"
#include "solvers/bundle_method.h"
#include "solvers/euclidean.h"

namespace espalier {

Summary bmrm(const Objective& objective, const BmrmOptions& options, Weights& theta,
             const Observer& observer) {
  check_eg_loss(objective.loss);
  check_euclidean("bmrm", objective.problem);
  BundleOracle oracle;
  oracle.exact = [&](std::size_t i, const Weights& at, DoubleOut delta, Workspace& ws) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<double>(delta.size());
    const double loss = example_loss(objective, i, at, s, delta, ws);
    const double size = implied_size(loss, s, delta) + objective.loss.inverse_beta();
    const double cost = objective.loss.smooth() ? 0 : expected_cost(objective, i, delta, ws);
    objective.problem.add_gold(i, -1.0, delta);
    const double offset =
        objective.loss.smooth() ? loss - std::inner_product(s.begin(), s.end(), delta.begin(), 0.0) : cost;
    // A plane is kept for weights with much smaller scores: it has to be below the loss for certain.
    const double error = objective.loss.smooth() ? objective.loss.beta * size : 0;
    return ExamplePlane{loss, offset - sure_rounding(squared_rounding(s.size(), size, error))};
  };
  return minimise_by_planes(objective, options.stopping, options.threads, oracle, theta, observer);
}

}  // namespace espalier
