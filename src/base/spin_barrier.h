#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "base/relax.h"
#include "espalier/base/threads.h"

namespace espalier {

// Where threads wait for one another many thousand times a second. They spin, since to sleep and be woken
// takes longer than what they wait for; where there are more of them than cores, whoever waits gives its core
// away.
class SpinBarrier {
 public:
  explicit SpinBarrier(std::size_t threads)
      : threads_(static_cast<std::uint32_t>(threads)), spins_(threads <= processors() ? kSpins : 0) {}

  // Returns once all threads have called it. What they wrote before is seen by all of them then. Until then
  // it calls meanwhile(), which tells whether it did something.
  template <class Meanwhile>
  void wait(const Meanwhile& meanwhile) {
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      waiting_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (std::uint32_t spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
      if (meanwhile()) {
        spins = 0;
      } else if (spins < spins_) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
  }
  void wait() {
    wait([] { return false; });
  }

 private:
  // Some tens of microseconds: longer than visits differ, shorter than a time slice.
  static constexpr std::uint32_t kSpins = 2000;

  const std::uint32_t threads_, spins_;
  alignas(64) std::atomic<std::uint32_t> waiting_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace espalier
