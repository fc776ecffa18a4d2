#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/string_buffer.h"
#include "espalier/features/dictionary.h"
#include "fleet/communicator.h"

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

// The same of ranks, which read consecutive parts of some files at the same time: all of them make the
// dictionary that one reader would have made. Returns the id in it of each name of this rank's own. Those of
// the ranks before are sent once, so each rank sends what is new alone.
std::vector<std::uint32_t> merge_names_of_ranks(const Dictionary& own, Dictionary& into, Communicator& fleet);

// What all ranks counted, by ids that are the same on all.
void add_up_counts(std::vector<std::uint32_t>& counts, Communicator& fleet);

}  // namespace espalier
