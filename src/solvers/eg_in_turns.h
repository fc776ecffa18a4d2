#pragma once

#include "espalier/solvers/eg.h"

namespace espalier {

// eg() where the workers of options.threads take turns on one thread: each misses the steps of all the
// others, the most that threads can miss of one another, and nothing is left to chance. Slow; it shows how
// many workers get along.
Summary eg_in_turns(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
                    const Observer& observer = {});

}  // namespace espalier
