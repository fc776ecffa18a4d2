#pragma once

#include <cstddef>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"

namespace espalier {

struct ExtragradientOptions : ExtragradientTuning {
  StoppingRule stopping;
  std::size_t threads = 1;   // the result is the same with any number of them
  double report_every = 10;  // passes at most between two reports; a report costs about a pass of time
};

// Extragradient on the saddle point of weights and duals, with Bregman projections (Taskar et al. 2006).
// Starts from uniform distributions and leaves averaged weights in `theta`. Throws Error if beta is finite.
Summary extragradient(const Objective& objective, const ExtragradientOptions& options, Weights& theta,
                      const Observer& observer = {});

}  // namespace espalier
