#pragma once

#include <atomic>
#include <thread>

namespace espalier {

// A lock for work that takes less time than it would to sleep and wake up.
class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace espalier
