#pragma once

#include <atomic>
#include <chrono>

namespace espalier {

// Thrown by sweeps that a Deadline ends; whoever set it catches it.
struct SweepGivenUp {};

// When a run that was told to end gives up what it is doing. A solver notices a stop, or that its time is
// over, after the next example, and then certifies the weights that it has: a sweep or two over all examples.
// Where those take longer than a grace period, nobody waits for them. While a deadline lives, sweeps that its
// thread makes throw SweepGivenUp once it is over.
class Deadline {
 public:
  // After a stop: less than systems wait between SIGTERM and SIGKILL (Docker 10 s, Slurm and Kubernetes 30
  // s).
  static constexpr double kGrace = 5;

  // `seconds` of training, on a clock that pause() and resume() drive; `stop` may be null.
  Deadline(const std::atomic<bool>* stop, double seconds, double grace = kGrace);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // The outermost one of this thread; nullptr: there is none.
  static Deadline* current();

  // Certification and evaluation take no training time.
  void pause();
  void resume();
  double seconds_paused() const;
  // While there is nothing to fall back to that is worth less than the wait, nothing is given up.
  void enable(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }

  // Whether what still runs is to be given up. Safe to ask from any thread, before every example.
  bool over() const;
  double grace() const { return grace_; }
  bool stopped() const { return stop_ && stop_->load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  static double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

  const std::atomic<bool>* stop_;
  double grace_, seconds_, trained_ = 0, changed_at_;  // when the clock was started or stopped
  bool running_ = true;
  std::atomic<bool> enabled_{true};
  std::atomic<double> out_of_time_at_;      // infinity: not as long as the clock stands still
  mutable std::atomic<double> stopped_at_;  // when the stop was noticed; infinity: not yet
};

}  // namespace espalier
