#pragma once

#include "espalier/learning/objective.h"
#include "solvers/online_options.h"

namespace espalier {

// Dual coordinate ascent without stored duals (Martins et al. 2010, Algorithms 1 and 2), for every beta in
// (0, inf] and gamma >= 0. In the first pass from zero weights every visit raises the dual, whose value
// bounds the optimum from then on; later passes have no such guarantee, so that this is no convergent solver.
// Starts from theta and leaves the averaged weights there.
Summary dca(const Objective& objective, const OnlineOptions& options, Weights& theta,
            const Observer& observer = {});

}  // namespace espalier
