#include "solvers/margin_scale.h"

#include <utility>

#include "espalier/learning/certificate.h"
#include "learning/certify.h"

namespace espalier {

ValuedWeights scaled_for_margins(const Objective& objective, const Weights& theta, Sweep& sweep) {
  const double norm = objective.regularizer.value(objective.problem, theta);
  ValuedWeights best{evaluate_primal(objective, theta, sweep), theta};
  // From half a rounding of a float to hundreds of them, and as long as the norm alone is not worse.
  constexpr double kFirst = 0x1p-25, kLast = 0x1p-17, kFactor = 1.25;
  for (double longer = kFirst; longer <= kLast && (1 + longer) * norm < best.primal; longer *= kFactor) {
    ValuedWeights next;
    next.theta.assign(theta, 1 + longer);
    next.primal = evaluate_primal(objective, next.theta, sweep);
    if (next.primal < best.primal) best = std::move(next);
  }
  return best;
}

}  // namespace espalier
