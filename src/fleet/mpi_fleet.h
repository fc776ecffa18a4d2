#pragma once

#include <memory>

#include "fleet/launched.h"

namespace espalier {

// All ranks of MPI's world, which it starts, and ends with the object. Only where the build has MPI.
std::unique_ptr<LaunchedFleet> join_mpi_fleet();

}  // namespace espalier
