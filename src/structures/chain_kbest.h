#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "structures/chain.h"

namespace espalier {

// Calls visit(y, score) for the k best sequences of a chain, best first; for all that are possible, if there
// are not k. y is valid during the call. Throws Error where finding them takes too much memory (KbestMemory).
using VisitSequence = std::function<void(std::span<const std::uint32_t> y, double score)>;
void for_each_best(const Chain& chain, std::span<const double> s, std::size_t k, const VisitSequence& visit);

}  // namespace espalier
