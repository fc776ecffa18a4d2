#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/relax.h"
#include "base/spin_lock.h"
#include "espalier/base/memory.h"
#include "espalier/base/workspace.h"

namespace espalier {

// Work of one thread that others may help with while they wait, in parts whose results do not depend on who
// does them. The thread does what nobody else has begun, so that it never waits for longer than a part takes.
class alignas(kCacheLine) SharedWork {
 public:
  // Does parts 0 .. parts - 1, call(part, ws) each, of which others may do some in workspaces of their own.
  template <class Call>
  void share(std::size_t parts, Workspace& ws, const Call& call) {
    parts_.store(parts, std::memory_order_relaxed);
    call_ = &call;
    invoke_ = [](const void* of, std::size_t part, Workspace& own) {
      (*static_cast<const Call*>(of))(part, own);
    };
    next_.store(0, std::memory_order_relaxed);
    open_.store(true);
    std::exception_ptr failure = work(ws);
    // Whoever comes from now on finds it closed; whoever came before is waited for.
    open_.store(false);
    while (helping_.load() > 0) relax();
    if (!failure) failure = failure_;
    failure_ = nullptr;
    if (failure) std::rethrow_exception(failure);
  }

  // Helps if there is something to help with.
  bool help(Workspace& ws) {
    if (!open_.load(std::memory_order_relaxed) ||
        next_.load(std::memory_order_relaxed) >= parts_.load(std::memory_order_relaxed))
      return false;
    helping_.fetch_add(1);
    if (open_.load()) {
      if (const std::exception_ptr failure = work(ws)) {
        const std::lock_guard guard(lock_);
        failure_ = failure;
      }
    }
    helping_.fetch_sub(1);
    return true;
  }

 private:
  std::exception_ptr work(Workspace& ws) {
    try {
      const std::size_t parts = parts_.load(std::memory_order_relaxed);
      for (std::size_t part; (part = next_.fetch_add(1, std::memory_order_relaxed)) < parts;)
        invoke_(call_, part, ws);
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  // In one order for all threads: of the two that close it and begin to help, one sees the other.
  std::atomic<bool> open_{false};
  std::atomic<std::uint32_t> helping_{0};
  std::atomic<std::size_t> next_{0}, parts_{0};
  const void* call_ = nullptr;
  void (*invoke_)(const void*, std::size_t, Workspace&) = nullptr;
  SpinLock lock_;
  std::exception_ptr failure_;
};

// Calls call(part, ws) for parts 0 .. parts - 1, where others may help (Workspace::shared_work()).
template <class Call>
void in_parts(Workspace& ws, std::size_t parts, const Call& call) {
  if (SharedWork* shared = ws.shared_work(); shared && parts > 1) return shared->share(parts, ws, call);
  for (std::size_t part = 0; part < parts; ++part) call(part, ws);
}

}  // namespace espalier
