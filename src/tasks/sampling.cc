#include "espalier/tasks/sampling.h"

#include "base/random.h"

namespace espalier {

std::uint64_t seed_of_item(std::uint64_t seed, std::size_t item) { return Random(seed).next() + item; }

}  // namespace espalier
