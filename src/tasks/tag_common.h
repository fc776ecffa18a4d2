#pragma once

#include <fmt/format.h>

#include <string>

#include "espalier/base/text.h"
#include "espalier/features/chain_features.h"
#include "espalier/tasks/tag_reader.h"

namespace espalier {

// What tagging's training set and predictor share.

inline ChainShape chain_shape(const TagDictionaries& dictionaries) {
  return {dictionaries.attributes.size(), dictionaries.transitions.size(), dictionaries.labels.size()};
}

inline std::string describe_sizes(const TagDictionaries& dictionaries) {
  return fmt::format("{} labels, {} attributes", grouped(dictionaries.labels.size()),
                     grouped(dictionaries.attributes.size()));
}

}  // namespace espalier
