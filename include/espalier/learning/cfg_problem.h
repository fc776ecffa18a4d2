#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/features/span_features.h"
#include "espalier/learning/structured_problem.h"
#include "espalier/structures/cfg.h"

namespace espalier {

// A sentence with all its derivations and the right one.
struct CfgSentence {
  std::vector<SpanWord> words;
  Cfg forest;
  Derivation gold;
};

// Sentences with their derivations. The cost is the number of constituents (label, begin, end) that the gold derivation does not
// have (Bartlett et al. 2004, example 2). Requires gold derivations that are in their forests. Keeps references.
class CfgExamples {
 public:
  CfgExamples(std::span<const CfgSentence> sentences, const CfgFeatures& features);
};

}  // namespace espalier
