#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "espalier/selection/cross_validation.h"
#include "espalier/solvers/registry.h"
#include "selection/l2_search.h"

namespace espalier {

// The examples 0, ..., n - 1 dealt out to k folds of nearly equal size after shuffling; each fold in
// ascending order. Throws Error unless 2 <= k <= n.
std::vector<std::vector<std::uint32_t>> make_folds(std::size_t n, std::size_t k, std::uint64_t seed);
// The same where examples of one group, such as the sentences of a document, stay together: sizes of folds
// differ by that of the largest group at most. `group_of` has a number for each example, below their count.
// Throws Error unless there are k groups.
std::vector<std::vector<std::uint32_t>> make_folds(std::span<const std::uint32_t> group_of, std::size_t k,
                                                   std::uint64_t seed);

// Values of l2, one after the other.
struct L2Sequence {
  // The one to try after others, given how bad those were; nullopt: that is all.
  std::function<std::optional<double>(std::span<const L2Trial>)> next;
  bool goes_back = false;  // to values near the best one, so that it pays to keep the duals of that
};
// Those of a path, whatever comes out.
L2Sequence sequence_of(const PathOptions& options);
// Those of a search (l2_search.h), where all folds together say how bad a value is.
L2Sequence sequence_of(const L2Range& range);

// Trains on all folds but one, for each of them, and rates the weights on that one: one value of l2 after the
// other, each fold from its own duals of the last one, or of the best where that is nearer. Folds run in
// parallel, and all of their duals are kept; results depend on neither `threads` nor timing. `passes` and
// `seconds` are limits of each fold. The value that a fold was stopped at, or ran out at, is the last one;
// where it was stopped, that fold does not count. `score` is called from many threads at once, `finished` by
// one at a time.
CrossValidation cross_validate(
    const Problem& problem, const Loss& loss, const L2Sequence& values, const SolverEntry& solver,
    const SolverSettings& settings, const std::vector<std::vector<std::uint32_t>>& folds, std::size_t threads,
    const std::function<HeldOutScore(std::size_t fold, const Weights&)>& score,
    const std::function<void(std::size_t fold, const PathPoint&, const Progress&)>& finished = {},
    const std::function<Regularizer(double l2)>& regularizer = [](double l2) { return Regularizer(l2); });

}  // namespace espalier
