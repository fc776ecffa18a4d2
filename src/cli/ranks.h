#pragma once

#include <string>

#include "fleet/launched.h"

namespace espalier::cli {

// The ranks that mpirun or srun started this process with; nullptr: it was started by itself. Joined by the
// first who asks. Only rank 0 has standard output and standard error from then on.
LaunchedFleet* joined_fleet();
// Whoever has joined, without joining.
LaunchedFleet* fleet_if_joined();
// Leaves it, before the program ends.
void leave_fleet();

// Whether this process is the one that speaks and writes.
bool is_first_rank();

}  // namespace espalier::cli
