#pragma once

#include <cstdint>
#include <span>

#include "structures/chain.h"

namespace espalier {

// The largest cost(y)(margin + s.chi(y)) of all sequences y, where label j at position t costs costs[t L +
// j]; and chi of a sequence that has it. Sequences that cost nothing have 0, whatever their score. Requires a
// chain without n-grams.
double best_by_cost(const Chain& chain, std::span<const double> s, std::span<const std::uint32_t> costs,
                    double margin, std::span<double> chi, Workspace& ws);

}  // namespace espalier
