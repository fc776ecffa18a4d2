#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/string_buffer.h"
#include "espalier/features/dictionary.h"

namespace espalier {

// Dictionaries that grow at the same time, one a worker, and the one that they are to be merged into. Parts
// of a file that are merged in its order, each with the names that its worker had not met in parts before,
// number names as one reader of the whole file would: in the order of their first appearance.

// The names of a dictionary from number `begin` on.
inline StringBuffer names_from(const Dictionary& dictionary, std::size_t begin) {
  StringBuffer names;
  for (std::size_t id = begin; id < dictionary.size(); ++id)
    names.add(dictionary.name(static_cast<std::uint32_t>(id)));
  return names;
}

// Appends the id that each name has in a dictionary, which takes in those that are new.
inline void merge_names(const StringBuffer& names, Dictionary& into, std::vector<std::uint32_t>& ids) {
  // Memory answers in parallel where the slots of several names are asked for before the first one is looked
  // at.
  constexpr std::size_t kAtOnce = 32;
  std::uint32_t hashes[kAtOnce];
  for (std::size_t begin = 0; begin < names.size(); begin += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, names.size() - begin);
    for (std::size_t j = 0; j < n; ++j) {
      hashes[j] = Dictionary::hash(names[begin + j]);
      into.prefetch(hashes[j]);
    }
    for (std::size_t j = 0; j < n; ++j) ids.push_back(into.add(names[begin + j], hashes[j]));
  }
}

}  // namespace espalier
