#include "cli/interrupt.h"

#include <csignal>

namespace espalier::cli {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

constexpr int kSignals[] = {SIGINT, SIGTERM};

void request_stop(int) { stop_requested.store(true); }

}  // namespace

InterruptGuard::InterruptGuard() {
  stop_requested.store(false);
  struct sigaction action = {};
  action.sa_handler = request_stop;
  // The handler is gone after its first call. Reads that a signal cuts short are taken up again.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

const std::atomic<bool>* InterruptGuard::flag() const { return &stop_requested; }

}  // namespace espalier::cli
