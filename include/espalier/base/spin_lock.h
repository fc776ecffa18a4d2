#pragma once

#include <atomic>
#include <thread>

namespace espalier {

// A lock for work that takes less time than it would to sleep and wake up.
class SpinLock {
 public:
  void lock() {
    for (int tries = 1; locked_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries % kTries == 0) std::this_thread::yield();  // whoever has it may not even be running
      relax();
    }
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  static constexpr int kTries = 32;
  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  std::atomic<bool> locked_{false};
};

}  // namespace espalier
