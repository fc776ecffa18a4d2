#pragma once

#include "espalier/learning/objective.h"
#include "learning/sweep.h"

namespace espalier {

// Weights with their primal.
struct ValuedWeights {
  double primal;
  Weights theta;
};

// Where a maximum can be had without losses (beta = infinity, separable data), the best weights just keep all
// margins, and rounded to float they miss some of them by as much as they are rounded: losses that may be
// more than all of l2/2 |theta|^2. A multiple of theta that is longer by a few roundings keeps them. Returns
// the best of some such multiples, which may be no better than theta.
ValuedWeights scaled_for_margins(const Objective& objective, const Weights& theta, Sweep& sweep);

}  // namespace espalier
