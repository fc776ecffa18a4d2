#pragma once

#include <atomic>

#if defined(__SANITIZE_THREAD__)
#define ESPALIER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ESPALIER_THREAD_SANITIZER 1
#endif
#endif
#ifndef ESPALIER_THREAD_SANITIZER
#define ESPALIER_THREAD_SANITIZER 0
#endif

namespace espalier::kernels {

// One weight that other threads may be changing: relaxed atomics, which cost what plain loads and stores do.
template <class Real>
Real relaxed_load(const Real* from) {
  return std::atomic_ref(*const_cast<Real*>(from)).load(std::memory_order_relaxed);
}
template <class Real>
void relaxed_store(Real* to, Real value) {
  std::atomic_ref(*to).store(value, std::memory_order_relaxed);
}

}  // namespace espalier::kernels
