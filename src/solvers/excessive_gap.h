#pragma once

#include <cstddef>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"

namespace espalier {

struct ExcessiveGapOptions : ExcessiveGapTuning {
  StoppingRule stopping;
  std::size_t threads = 1;  // the result is the same with any number of them
  double report_every = 5;  // passes at most between two reports; a report costs about a pass of time
};

// Excessive gap reduction with Bregman projections (Zhang et al. 2011, Algorithms 1 and 2). Starts from
// uniform distributions and leaves theta_k in `theta`. Throws Error if beta is finite.
Summary excessive_gap(const Objective& objective, const ExcessiveGapOptions& options, Weights& theta,
                      const Observer& observer = {});

}  // namespace espalier
