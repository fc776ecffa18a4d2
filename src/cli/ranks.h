#pragma once

#include <functional>
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

// work() goes through a file with a model of a task: on all ranks, which share the work, where they can (see
// tasks/blocks_on_ranks.h), else on rank 0 alone. Returns on all of them once it is done; what came of it is
// on rank 0.
void work_on_ranks(const std::string& task, const std::string& file, const std::function<void()>& work);

}  // namespace espalier::cli
