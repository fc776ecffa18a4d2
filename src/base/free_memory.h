#pragma once

namespace espalier {

// Hands memory that was freed back to the system, where the allocator would keep it: worth its time after
// work that took much of it, and before work that takes more in other pieces.
void return_free_memory();

}  // namespace espalier
