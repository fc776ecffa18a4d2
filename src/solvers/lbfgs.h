#pragma once

#include <cstddef>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"

namespace espalier {

struct LbfgsOptions {
  StoppingRule stopping;
  std::size_t threads = 1;  // the result is the same with any number of them
  bool keep_best_dual =
      true;          // false: a report has the dual of its own weights, also where an earlier one was better
  int history = 10;  // pairs of vectors kept, as in Collins et al. 2008
};

// L-BFGS on the primal, by liblbfgs in double precision. Every point that a line search tries is a pass.
// Starts from theta and leaves the best weights there. Throws Error if beta is infinite.
Summary lbfgs(const Objective& objective, const LbfgsOptions& options, Weights& theta,
              const Observer& observer = {});

}  // namespace espalier
