#pragma once

#include <cstddef>
#include <functional>

namespace espalier {

// Calls job(0), ..., job(workers - 1), each on a thread of its own, job(0) on the caller's, and returns once all have
// returned. An exception of a job is thrown again then; of several, that of the first worker.
void run_in_parallel(std::size_t workers, const std::function<void(std::size_t worker)>& job);

}  // namespace espalier
