#pragma once

#include <cstddef>

#include "espalier/learning/objective.h"
#include "espalier/solvers/solver_options.h"
#include "solvers/online_options.h"

namespace espalier {

struct MiraOptions : OnlineOptions, MiraTuning {};

// Margin-infused relaxed algorithm (Crammer et al. 2006, section 8; Martins et al. 2010, section 4): each
// visit moves theta as little as it takes for the gold output to beat k others by their costs, and by
// omega_i/l2 at most. Starts from theta and leaves the averaged weights there. Throws Error if beta is finite
// (dca is its like for such losses), or if k > 1 and the problem has no k-best outputs.
Summary mira(const Objective& objective, const MiraOptions& options, Weights& theta,
             const Observer& observer = {});

}  // namespace espalier
