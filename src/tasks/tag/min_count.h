#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tasks/tag/reader.h"

namespace espalier {

// How often training data has each attribute, by id.
struct AttributeCounts {
  std::vector<std::uint32_t> attributes, transitions;
};

// Takes the attributes that were counted fewer than `min_count` times out of the dictionaries and the
// sequences; those left are renumbered, in the same order. The one attribute of tied transitions stays.
// Returns how many went.
std::size_t drop_rare(const AttributeCounts& counts, std::size_t min_count, TagDictionaries& dictionaries,
                      Sequences& sequences);

}  // namespace espalier
