#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "support/allocations.h"

// Replaces the allocator of the test program by one that counts: for one source file of the program.

namespace espalier::test_support {

inline void* counted(void* p) {
  ++allocations;
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace espalier::test_support

void* operator new(std::size_t size) {
  return espalier::test_support::counted(std::malloc(size > 0 ? size : 1));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return espalier::test_support::counted(
      std::aligned_alloc(unit, (size + unit - 1) / unit * unit + (size == 0 ? unit : 0)));
}
// std::stable_sort asks for memory so.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++espalier::test_support::allocations;
  return std::malloc(size > 0 ? size : 1);
}
// Not inlined: g++ would see free() called on what it takes for another operator new's.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
