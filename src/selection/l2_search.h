#pragma once

#include <optional>
#include <span>

#include "espalier/selection/path.h"
#include "selection/path_run.h"

namespace espalier {

// A value that was tried, and its error on held-out data.
struct L2Trial {
  double l2 = 0, dev_error = 0;
};

// The value to try next, or nullopt once the best is found. It depends on nothing but the trials so far, so
// that a search may stop and continue. From 10, or the nearest decade, it goes down by decades as long as
// each is worthwhile, better than all before it by more than kWorthwhile of their error, and the next one is
// forecast to be, if gains go on to shrink as they did. It goes up until one is worse than the best by more
// than kClearlyWorse of its error, or two are no better. Then it looks closer, unless the best and the two
// nearest to it differ by less than kWorthwhile: between the best and its neighbours, first half and then a
// quarter of a decade away.
std::optional<double> next_l2(std::span<const L2Trial> trials, const L2Range& range);
// Set by hand on the five data sets of docs/tutorial.md, to go no further down than paid there.
inline constexpr double kWorthwhile = 0.03, kClearlyWorse = 0.05;

// While a search looks for l2, it optimises values to this gap, or to that of the run if it is larger. The
// one that is chosen then gets the gap of the run. At 1e-2 the metric of the value chosen moved on the way to
// it by as much as values differ (CoNLL-2000, CoNLL-2003, letter-scale); at 1e-3 searches took half as many
// passes again, to no avail.
inline constexpr double kSearchGap = 3e-3;

// Whether the best value is at an end of the range: there may be better ones beyond it.
enum class L2Edge { none, smallest, largest };
L2Edge edge_of(double best, const L2Range& range);
const char* to_string(L2Edge edge);

// Makes the training of a path that of the value nearest to l2, of the last and the best one; that of the
// best is kept for later. One that was at l2 already continues.
void start_from_nearest(PathInProgress& path, double l2);

// The search by held-out data, from the beginning or from where `path` is, in the memory of two sets of
// duals: of the value that is being optimised and of the best so far. A value starts from the nearer of them.
// The points are in the order of the trials; the best one is at the gap of the run unless that was stopped.
// As with a path, a stop leaves the points so far.
void search_l2(PathInProgress& path, const PathRun& run, const L2Range& range);

}  // namespace espalier
