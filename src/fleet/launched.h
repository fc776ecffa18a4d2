#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fleet/communicator.h"

namespace espalier {

// What the environment says of who started this process: with how many others. nullopt: nobody who starts
// several.
std::optional<std::size_t> launched_ranks();

// The ranks that mpirun or srun started.
class LaunchedFleet : public Communicator {
 public:
  // What rank 0 says before it ends all, of a rank that failed, with its own words, or that has ended without
  // any (then there are none).
  std::function<void(std::size_t rank, const std::string& words)> report{};

  // Ends all ranks because of what went wrong on this one, which rank 0 reports. Does not return.
  [[noreturn]] virtual void fail(const std::string& words, int status) = 0;

 protected:
  using Communicator::Communicator;
};

// Joins the others. nullptr where there are none: the process was started by itself. Throws Error where there
// are some and it has no way to reach them.
std::unique_ptr<LaunchedFleet> join_launched_fleet();

}  // namespace espalier
