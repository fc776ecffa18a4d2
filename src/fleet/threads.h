#pragma once

#include <cstddef>
#include <functional>

#include "fleet/communicator.h"

namespace espalier {

// Ranks that are threads of this process: for tests, and to find out how many ranks would do. Calls
// job(communicator) for each, and returns once all have returned. Where one throws, the others do as soon as
// they would wait for it, and its exception is thrown again here.
void run_ranks(std::size_t ranks, const std::function<void(Communicator&)>& job);

}  // namespace espalier
