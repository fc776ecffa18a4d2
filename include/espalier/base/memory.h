#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
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

// An array of zeros on cache lines, of a size that does not change. A large one comes straight from the
// system, in huge pages where it has them: nobody writes the zeros, and each page is made by the thread that
// first needs it. Where one thread wrote them first the others waited: on CoNLL-2000 that was most of what
// two threads did not do side by side.
template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    if (size > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    is_mapped() ? map() : allocate();
  }
  ZeroedArray(const ZeroedArray& other) : ZeroedArray(other.size_) { std::copy_n(other.data_, size_, data_); }
  ZeroedArray(ZeroedArray&& other) noexcept { swap(other); }
  ZeroedArray& operator=(ZeroedArray other) noexcept {
    swap(other);
    return *this;
  }
  ~ZeroedArray() {
    if (!data_) return;
    if (is_mapped()) {
      munmap(data_, bytes());
    } else {
      ::operator delete (data_, std::align_val_t{kCacheLine});
    }
  }

  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  bool is_mapped() const { return bytes() >= kHugePage; }

  void allocate() {
    data_ = static_cast<T*>(::operator new (bytes(), std::align_val_t{kCacheLine}));
    std::fill_n(data_, size_, T{});
  }
  // Whole huge pages begin on their own boundaries, so one more is asked for, and what lies around the array
  // given back.
  void map() {
    void* all =
        mmap(nullptr, bytes() + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    auto* first = static_cast<std::byte*>(all);
    const std::size_t before = (kHugePage - reinterpret_cast<std::size_t>(all) % kHugePage) % kHugePage;
    const std::size_t used = (bytes() + kSmallPage - 1) / kSmallPage * kSmallPage;
    if (before > 0) munmap(first, before);
    if (before + used < bytes() + kHugePage)
      munmap(first + before + used, bytes() + kHugePage - before - used);
    data_ = reinterpret_cast<T*>(first + before);
#ifdef MADV_HUGEPAGE
    madvise(data_, bytes(), MADV_HUGEPAGE);  // a wish: it does not matter if it is refused
#endif
  }
  void swap(ZeroedArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  static constexpr std::size_t kSmallPage = std::size_t{1} << 12;

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Asks for the cache line at p to write to it: other cores give up their copies now, not one after the other
// when stores wait for it. Compilers whose code has to run anywhere would only ask for a copy to read; where
// a processor does not know the instruction, it does nothing.
inline void prefetch_to_write(const void* p) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
#endif
}

// Two hints that an example is visited soon. Where its data lies must be known before it can be asked for, so
// a solver gives the first hint well ahead and the second one when the location has had time to arrive.
enum class Prefetch { location, contents };

}  // namespace espalier
