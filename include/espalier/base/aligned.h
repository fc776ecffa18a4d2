#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace espalier {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

// An allocator that starts every array on a cache line, so that padded rows never straddle two, and asks for
// huge pages where an array is large: online solvers visit examples in random order, and with small pages
// most visits would begin by waiting for an address translation.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT: allocators convert
  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    void* p = ::operator new(bytes, alignment(n));
#ifdef MADV_HUGEPAGE
    if (bytes >= kHugePage) madvise(p, bytes, MADV_HUGEPAGE);  // a wish: it does not matter if it is refused
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) { ::operator delete(p, alignment(n)); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }

 private:
  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t{n * sizeof(T) >= kHugePage ? kHugePage : kCacheLine};
  }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace espalier
