#pragma once

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"

namespace espalier {

struct LbfgsOptions {
  StoppingRule stopping;
  int history = 10;  // pairs of vectors kept, as in Collins et al. 2008
};

// L-BFGS on the primal, for finite beta (liblbfgs, double precision). Starts from theta and leaves the best
// weights there.
Summary lbfgs(const Objective& objective, const LbfgsOptions& options, Weights& theta,
              const Observer& observer = {});

}  // namespace espalier
