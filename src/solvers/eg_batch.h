#pragma once

#include <cstddef>

#include "espalier/learning/dual_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/eg.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"

namespace espalier {

struct EgBatchOptions : EgBatchTuning {
  StoppingRule stopping;
  std::size_t threads = 1;  // the result is the same with any number of them
  double report_every = 5;  // passes at most between two reports; a report costs about a pass of time
};

// Batch exponentiated gradient on the dual (Collins et al. 2008, Figure 1), for every beta in (0, inf] and
// gamma >= 0. Leaves the duals in `dual` and theta = w(u)/l2 in `theta`.
Summary eg_batch(const Objective& objective, const EgBatchOptions& options, DualState& dual, Weights& theta,
                 const Observer& observer = {});

// The same iterates without stored duals: one more vector of weights implies them all (Bartlett et al. 2004,
// section 3). Starts from uniform distributions.
Summary eg_batch(const Objective& objective, const EgBatchOptions& options, Weights& theta,
                 const Observer& observer = {});

}  // namespace espalier
