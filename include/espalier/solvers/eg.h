#pragma once

#include <cstdint>

#include "espalier/base/threads.h"
#include "espalier/learning/dual_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"

namespace espalier {

struct EgOptions : EgTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  Threads threads;  // two and more that share visits give the same bits, one gives others
  // Passes between two reports; twice as many at most, where the end is near. A report costs about two passes
  // of time.
  double report_every = 5;
};

// Throws Error for the one loss that EG is not for, the perceptron's.
void check_eg_loss(const Loss& loss);

// Online exponentiated gradient on the dual (Collins et al. 2008, Figure 3), for every beta in (0, inf] and
// gamma >= 0. Leaves the duals in `dual` and theta = w(u)/l2 in `theta`.
Summary eg(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
           const Observer& observer = {});

}  // namespace espalier
