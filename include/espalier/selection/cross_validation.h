#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "espalier/selection/path.h"

namespace espalier {

// The examples 0, ..., n - 1 dealt out to k folds of nearly equal size after shuffling; each fold in ascending order. Throws
// Error unless 2 <= k <= n.
std::vector<std::vector<std::uint32_t>> make_folds(std::size_t n, std::size_t k, std::uint64_t seed);

// How good weights are on held-out examples: what selection minimises, and the same as people say it.
struct HeldOutScore {
  double badness = 0, value = 0;
};

// One value of l2, over the folds.
struct CrossValidatedValue {
  double l2 = 0;
  std::size_t folds = 0;           // that got to it
  double mean = 0, deviation = 0;  // of HeldOutScore::value; sample standard deviation over folds
  double badness = 0;              // mean
  double badness_error = 0;        // its standard error
  double passes = 0;               // of all folds
};

struct CrossValidation {
  std::vector<CrossValidatedValue> values;  // those that some fold got to
  // Among the values that the most folds got to: the one of least mean badness, and the largest l2 whose mean is within
  // one standard error of it. Of equals the first, with the largest l2.
  std::size_t best = 0, simplest = 0;
  Status status = Status::not_run;  // of the first fold that did not get through its path, if there is one
};

// Trains a regularisation path on all folds but one, for each of them, and rates its weights on that one. Folds run in parallel; results
// depend on neither `threads` nor timing. A value that a fold was stopped at does not count. `score` is called from many
// threads at once, `finished` by one at a time.
CrossValidation cross_validate(
    const Problem& problem, const Loss& loss, const PathOptions& options, const SolverEntry& solver,
    const SolverSettings& settings, const std::vector<std::vector<std::uint32_t>>& folds, std::size_t threads,
    const std::function<HeldOutScore(std::size_t fold, const Weights&)>& score,
    const std::function<void(std::size_t fold, const PathPoint&, const Progress&)>& finished = {});

}  // namespace espalier
