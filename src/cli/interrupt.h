#pragma once

#include <atomic>

namespace espalier::cli {

// While one of these lives, the first Ctrl-C (or SIGTERM) sets a flag that training looks at; the second one ends the program.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  const std::atomic<bool>* flag() const;
  bool interrupted() const { return flag()->load(); }
};

}  // namespace espalier::cli
