#include "learning/deadline.h"

#include <algorithm>
#include <limits>

namespace espalier {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
thread_local Deadline* outermost = nullptr;

}  // namespace

Deadline::Deadline(const std::atomic<bool>* stop, double seconds, double grace)
    : stop_(stop),
      grace_(grace),
      seconds_(seconds),
      changed_at_(now()),
      out_of_time_at_(changed_at_ + seconds),
      stopped_at_(kNever) {
  if (!outermost) outermost = this;
}

Deadline::~Deadline() {
  if (outermost == this) outermost = nullptr;
}

Deadline* Deadline::current() { return outermost; }

void Deadline::pause() {
  if (!running_) return;
  running_ = false;
  const double time = now();
  trained_ += time - changed_at_;
  changed_at_ = time;
  // What is certified now may be the last thing that there is time for, or not.
  if (trained_ < seconds_) out_of_time_at_.store(kNever, std::memory_order_relaxed);
}

void Deadline::resume() {
  if (running_) return;
  running_ = true;
  changed_at_ = now();
  out_of_time_at_.store(changed_at_ + seconds_ - trained_, std::memory_order_relaxed);
}

double Deadline::seconds_paused() const { return running_ ? 0 : now() - changed_at_; }

bool Deadline::over() const {
  if (!enabled_.load(std::memory_order_relaxed)) return false;
  if (stopped()) {
    const double time = now();
    double before = kNever;
    if (stopped_at_.compare_exchange_strong(before, time)) return false;
    return time > before + grace_;
  }
  const double end = out_of_time_at_.load(std::memory_order_relaxed);
  // Who gives an hour waits for a certificate longer than who gives a second.
  return end < kNever && now() > end + std::max(grace_, seconds_);
}

}  // namespace espalier
