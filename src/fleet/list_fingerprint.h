#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fingerprint.h"
#include "fleet/communicator.h"

namespace espalier {

// A fingerprint of a list of which every rank has a part, in their order, or one process all (nullptr): the
// sum of what its items have, each with its number in the list, so that it does not matter who has which.
// add(i, fingerprint) adds item i of this part. All ranks call it at the same time.
template <class Add>
std::uint64_t list_fingerprint(std::size_t size, Communicator* fleet, const Add& add) {
  const std::size_t before = fleet ? fleet->sum_before(size) : 0;
  std::size_t sum = 0;
  Fingerprint item;
  for (std::size_t i = 0; i < size; ++i) {
    item.clear();
    const std::size_t number = before + i;
    item.add_bytes({reinterpret_cast<const char*>(&number), sizeof(number)});
    add(i, item);
    sum += item.value();
  }
  return sum_over(fleet, sum);
}

}  // namespace espalier
