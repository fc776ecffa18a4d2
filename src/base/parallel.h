#pragma once

#include <cstddef>

#include "base/team.h"

namespace espalier {

// What Team::run does, with threads for this one job.
inline void run_in_parallel(std::size_t workers, const Team::Job& job) {
  if (workers > 0) Team(workers).run(job);
}

}  // namespace espalier
