#pragma once

#include <atomic>
#include <thread>

#include "base/relax.h"

namespace espalier {

// A lock for work that takes less time than it would to sleep and wake up.
class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) {
      // Looking leaves the line where it is; trying would take it from whoever has the lock.
      for (int looks = 1; locked_.load(std::memory_order_relaxed); ++looks) {
        if (looks % kLooks == 0) std::this_thread::yield();  // whoever has it may not even be running
        relax();
      }
    }
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  static constexpr int kLooks = 32;

  alignas(64) std::atomic<bool> locked_{false};  // nothing else on its cache line
};

}  // namespace espalier
