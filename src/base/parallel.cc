#include "espalier/base/parallel.h"

#include <exception>
#include <thread>
#include <vector>

namespace espalier {

void run_in_parallel(std::size_t workers, const std::function<void(std::size_t worker)>& job) {
  std::vector<std::exception_ptr> failures(workers);
  const auto guarded = [&](std::size_t worker) {
    try {
      job(worker);
    } catch (...) {
      failures[worker] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(workers);
    for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back(guarded, worker);
    if (workers > 0) guarded(0);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace espalier
