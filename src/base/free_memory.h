#pragma once

#include <cstddef>

namespace espalier {

// Hands memory that was freed back to the system, where the allocator would keep it: worth its time after
// work that took much of it, and before work that takes more in other pieces.
void return_free_memory();

// Bytes that this process has in memory, and has had at most; 0 where the system does not say.
std::size_t resident_memory();
std::size_t peak_memory();
// Bytes that the machine has to give before it takes them from others; 0 where the system does not say.
std::size_t available_memory();

}  // namespace espalier
