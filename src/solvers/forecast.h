#pragma once

#include <optional>
#include <span>

namespace espalier {

// A gap, absolute or relative, after so many passes.
struct GapAt {
  double passes, gap;
};

// How many passes a run still takes to a gap, if the best gap so far keeps falling as it did of late: log gap
// = a - b passes, fitted to the last half of the passes. A run that slows down, as most do, takes longer. 0
// where the last gap is there already; nullopt where the best gap does not fall, where fewer than three
// points have a gap to take the logarithm of, and for a gap of 0, which no such line reaches. Depends on
// nothing but passes and gaps.
std::optional<double> passes_to_gap(std::span<const GapAt> history, double gap);

}  // namespace espalier
