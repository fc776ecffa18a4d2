#pragma once

#include <atomic>
#include <cstddef>

namespace espalier::test_support {

// How often memory was asked for so far, in a program whose allocator counts (counting_allocator.h).
inline std::atomic<std::size_t> allocations{0};

}  // namespace espalier::test_support
