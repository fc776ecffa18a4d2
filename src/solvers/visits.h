#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "espalier/solvers/run.h"

namespace espalier {

// How many visits to wait before the clock is read again: reading it takes a good part of a visit to a small
// example, and large ones would make it too late.
class ClockInterval {
 public:
  // Right after the clock was read.
  std::size_t next() {
    constexpr std::chrono::milliseconds kOften(20);
    constexpr std::size_t kMost = 256;
    const auto now = std::chrono::steady_clock::now();
    visits_ = now - before_ > kOften ? std::max<std::size_t>(visits_ / 4, 1) : std::min(2 * visits_, kMost);
    before_ = now;
    return visits_;
  }

 private:
  std::size_t visits_ = 1;
  std::chrono::steady_clock::time_point before_ = std::chrono::steady_clock::now();
};

// Counts visits to examples in passes, and tells before each of them whether the run may still afford it.
class Visits {
 public:
  // Refers to the rule and the run. Requires num_examples > 0.
  Visits(const StoppingRule& rule, const Run& run, std::size_t num_examples)
      : rule_(rule), run_(run), num_examples_(num_examples) {}

  void count(std::size_t visits = 1) { count_ += visits; }
  double passes() const { return static_cast<double>(count_) / static_cast<double>(num_examples_); }
  bool exhausted() {
    if (rule_.interrupted() || passes() >= rule_.passes) return true;
    if (count_ < next_look_) return false;
    next_look_ = count_ + interval_.next();
    return run_.exhausted_here(passes());
  }
  // What all ranks agree on (Run::exhausted).
  bool exhausted_everywhere() const { return run_.exhausted(passes()); }

 private:
  const StoppingRule& rule_;
  const Run& run_;
  std::size_t num_examples_, count_ = 0, next_look_ = 0;
  ClockInterval interval_;
};

}  // namespace espalier
