#include "espalier/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace espalier {

std::size_t processors() {
  // Those that a process may use are fewer under taskset, Slurm or mpirun, which the standard library may not
  // know. More than the set has room for: it cannot be asked.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    return static_cast<std::size_t>(CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

Threads Threads::of(std::size_t asked) {
  if (asked > 0) return asked;
  return {processors(), processors() >= kWorthSharing};
}

}  // namespace espalier
