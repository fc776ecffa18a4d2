#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/output.h"
#include "cli/commands.h"

namespace espalier::cli {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int> guards{0};
std::atomic<const std::string*> nothing_to_save{nullptr};  // the line to end with
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
                  std::atomic<const std::string*>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

constexpr int kSignals[] = {SIGINT, SIGTERM};

// Only what is async-signal-safe, on whatever thread it comes.
void handle(int) {
  const std::string* line = nothing_to_save.load();
  const int needed = line != nullptr ? 2 : 1;
  if (guards.load() >= needed && !stop_requested.exchange(true)) return;
  remove_temporary_files();
  const std::string_view text = line != nullptr ? std::string_view(*line) : "espalier: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(kInterrupted);
}

}  // namespace

void end_at(int signal) {
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;  // reads that a signal cuts short are taken up again
  sigaction(signal, &action, nullptr);
}

void end_at_interrupts() {
  for (const int signal : kSignals) end_at(signal);
}

InterruptGuard::InterruptGuard() {
  if (guards.fetch_add(1) > 0) return;
  stop_requested.store(false);
  std::signal(SIGPIPE, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
  if (guards.fetch_sub(1) == 1) std::signal(SIGPIPE, SIG_DFL);
}

const std::atomic<bool>* InterruptGuard::flag() { return &stop_requested; }

NothingToSave::NothingToSave(const std::string& when) : before_(nothing_to_save.load()) {
  // Never freed: the handler may be reading one on another thread.
  static std::deque<std::string> lines;
  lines.push_back("espalier: interrupted " + when + "; nothing was saved\n");
  nothing_to_save.store(&lines.back());
}

NothingToSay::NothingToSay() : before_(nothing_to_save.load()) {
  static const std::string nothing;
  nothing_to_save.store(&nothing);
}

NothingToSay::~NothingToSay() { nothing_to_save.store(before_); }

NothingToSave::~NothingToSave() { nothing_to_save.store(before_); }

void save_model(const Model& model, const std::string& path) {
  std::error_code ignored;
  std::optional<NothingToSave> until_read;
  if (std::filesystem::is_fifo(path, ignored)) until_read.emplace("while waiting for a reader of " + path);
  model.save(path);
}

}  // namespace espalier::cli
