#include "fleet/launched.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/parse_number.h"
#include "espalier/base/error.h"

#ifdef ESPALIER_MPI
#include "fleet/mpi_fleet.h"
#endif

namespace espalier {
namespace {

std::optional<std::size_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  const auto number = parse_double(text);
  if (!number || !(*number >= 1)) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

}  // namespace

// Of Open MPI's mpirun, of others that speak PMI (MPICH's, srun), and of srun itself. A batch script of Slurm
// has SLURM_NTASKS, too, but is no step.
std::optional<std::size_t> launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const auto ranks = number_in_environment(name)) return ranks;
  }
  return std::nullopt;
}

#ifdef ESPALIER_MPI

std::unique_ptr<LaunchedFleet> join_launched_fleet() {
  const auto ranks = launched_ranks();
  if (!ranks) return nullptr;
  std::unique_ptr<LaunchedFleet> fleet = join_mpi_fleet();
  if (fleet->size() != *ranks) {
    throw Error(
        fmt::format("started as one of {} ranks, of which MPI sees {}; expected mpirun of the MPI that "
                    "espalier was built "
                    "with, or an srun that speaks PMIx",
                    *ranks, fleet->size()));
  }
  if (fleet->size() == 1) return nullptr;
  return fleet;
}

#else

std::unique_ptr<LaunchedFleet> join_launched_fleet() {
  const auto ranks = launched_ranks();
  if (!ranks || *ranks == 1) return nullptr;
  throw Error(
      fmt::format("started as one of {} ranks; expected one process, or an espalier that was built with "
                  "-DESPALIER_MPI=ON",
                  *ranks));
}

#endif

}  // namespace espalier
