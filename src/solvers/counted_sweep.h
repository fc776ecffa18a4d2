#pragma once

#include <cstddef>

#include "learning/sweep.h"
#include "solvers/visits.h"

namespace espalier {

enum class Counted { yes, no };

// One sweep of a batch solver over all examples, each of which is a visit where it counts: sums as
// Sweep::accumulate has them. False if the run ended before the last example: then they are worth nothing.
inline bool counted_sweep(Sweep& sweep, Visits& visits, const Problem& problem, DoubleWeights& w,
                          const Sweep::Fill& fill, double& sum, Counted counted = Counted::yes) {
  const auto count = [&](std::size_t examples) {
    if (counted == Counted::yes) visits.count(examples);
  };
  if (problem.fleet()) {
    if (visits.exhausted_everywhere()) return false;
    sum = sweep.accumulate(problem, w, fill);
    count(problem.total_size());
    return true;
  }
  bool complete = true;
  std::size_t seen = 0;
  const auto go_on = [&](std::size_t examples) {
    count(examples - seen);
    seen = examples;
    return complete = !visits.exhausted();
  };
  sum = sweep.accumulate(problem, w, fill, go_on);
  if (complete) count(problem.size() - seen);
  return complete;
}

}  // namespace espalier
