#pragma once

#include <cstddef>
#include <functional>

#include "espalier/learning/objective.h"
#include "solvers/averaged_weights.h"
#include "solvers/online_options.h"

namespace espalier {

struct OnlineVisits {
  // Changes the weights by what example i has to say. False where scores are not finite: then the run has
  // failed.
  std::function<bool(std::size_t i, Workspace& ws)> visit;
  // A lower bound of the optimum that the solver knows of, if it knows of any.
  std::function<double()> bound = {};
};

// What online solvers share: visits in shuffled passes from the weights in theta, reports of the mean
// weights, and the end of the run. Leaves the weights of the last report in theta.
Summary online_passes(const Objective& objective, const OnlineOptions& options, const OnlineVisits& visits,
                      AveragedWeights& weights, Weights& theta, const Observer& observer);

}  // namespace espalier
