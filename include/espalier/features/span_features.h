#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "espalier/structures/cfg.h"

namespace espalier {

// What features of spans see of a word: a hash of each of these.
enum class SpanAtom : std::uint8_t { form, shape, prefix, suffix, tag };
inline constexpr std::size_t kNumSpanAtoms = 5;

struct SpanWord {
  std::array<std::uint64_t, kNumSpanAtoms> hashes;
  std::uint64_t operator[](SpanAtom atom) const { return hashes[static_cast<std::size_t>(atom)]; }
};

// The tag is empty where it is not known.
SpanWord span_word(std::string_view form, std::string_view tag);

// All features of derivations: a weight for each rule and, by hashing, rows of weights for places: of spans and splits 2^bits
// rows with a weight for each label, of words 2^tag_bits rows with a weight for each tag (0 bits: words have one tag each).
struct CfgFeatureOptions {
  bool spans = true;  // and splits; without them a model has rules (and tags) alone
  unsigned bits = 18, tag_bits = 0;
};

class CfgFeatures {
 public:
  CfgFeatures(const GrammarIndex& index, const CfgFeatureOptions& options);

  WeightShape weight_shape() const;
  // Where the weight of a rule is: unary rule r is binaries.size() + r.
  WeightPlace rule_place(std::size_t rule) const { return {rule, 0}; }
};

}  // namespace espalier
