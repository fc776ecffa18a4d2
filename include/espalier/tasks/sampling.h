#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier {

// What draws of one item of a file or a list begin with. It depends on where the item is, not on who labels
// it; and no two items of one seed, nor the same ones of two, have the same.
std::uint64_t seed_of_item(std::uint64_t seed, std::size_t item);

}  // namespace espalier
