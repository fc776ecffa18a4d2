#pragma once

#include <optional>
#include <span>

#include "espalier/base/progress.h"

namespace espalier {

// How many passes a run still takes to a relative gap, if the gap goes on falling as it did of late: log gap = a - b passes,
// fitted to the reports of the last half of `history`. A run that slows down, as most do, takes longer. 0 where the last report
// is there already; nullopt where the gap does not fall, where fewer than three of those reports have a gap to take the logarithm
// of, and for a gap of 0, which no such line reaches. Depends on nothing but passes and gaps.
std::optional<double> passes_to_gap(std::span<const Progress> history, double gap);

}  // namespace espalier
