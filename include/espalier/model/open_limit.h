#pragma once

#include <cstddef>
#include <string>

namespace espalier {

// Throws Error where this process would have more than `limit` bytes in memory with this model open: before
// it is opened. 0: no limit. Weights that are zero may take no room in the file; here they do.
void check_memory_to_open(const std::string& path, std::size_t limit);

}  // namespace espalier
