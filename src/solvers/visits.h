#pragma once

#include <cstddef>

#include "espalier/solvers/run.h"

namespace espalier {

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
    // Reading the clock takes a good part of a visit to a small example.
    if (count_ < next_look_) return false;
    next_look_ = count_ + 64;
    return run_.exhausted_here(passes());
  }
  // What all ranks agree on (Run::exhausted).
  bool exhausted_everywhere() const { return run_.exhausted(passes()); }

 private:
  const StoppingRule& rule_;
  const Run& run_;
  std::size_t num_examples_, count_ = 0, next_look_ = 0;
};

}  // namespace espalier
