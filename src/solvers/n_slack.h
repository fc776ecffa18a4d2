#pragma once

#include "solvers/cutting_plane.h"

namespace espalier {

// Slacks::n of cutting_plane(), which has checked what it is given.
Summary n_slack(const Objective& objective, const CuttingPlaneOptions& options, Weights& theta,
                const Observer& observer);

}  // namespace espalier
