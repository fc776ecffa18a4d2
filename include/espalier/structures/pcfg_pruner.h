#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/structures/cfg.h"
#include "espalier/structures/grammar.h"

namespace espalier {

// Says which symbols are likely over which spans, by a coarse probabilistic grammar: symbols with one label are one there, and
// the probabilities of its rules are relative frequencies in derivations.
class PcfgPruner {
 public:
  PcfgPruner(const Grammar& grammar, std::span<const Derivation> derivations);

  // Allows symbols whose labels stand over a span with at least this probability, given the tags. Threshold 0 allows whatever
  // the coarse grammar can derive; and where that is nothing, everything is allowed.
  SpanMask mask(const TagSets& tags, double threshold, Workspace& ws) const;
};

}  // namespace espalier
