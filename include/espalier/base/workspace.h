#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/memory.h"

namespace espalier {

class SharedWork;

// Scratch memory of one thread: a stack of blocks that grows while it warms up and then allocates no more.
// Memory is taken through a Frame and handed back when the Frame ends, in reverse order.
// On a cache line of its own: workspaces of several threads lie side by side, and each changes its own all
// the time.
class alignas(kCacheLine) Workspace {
 public:
  class Frame {
   public:
    explicit Frame(Workspace& workspace)
        : workspace_(workspace), block_(workspace.block_), used_(workspace.used_) {}
    ~Frame() {
      workspace_.block_ = block_;
      workspace_.used_ = used_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    Workspace& workspace() { return workspace_; }
    // n values, uninitialised, starting on a cache line. Valid until the Frame ends.
    template <class T>
    std::span<T> take(std::size_t n) {
      static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kCacheLine);
      return {reinterpret_cast<T*>(workspace_.bytes(n * sizeof(T))), n};
    }

   private:
    Workspace& workspace_;
    std::size_t block_, used_;
  };

  // Through which other threads help with long work (base/helping.h); nullptr: nobody does.
  SharedWork* shared_work() const { return shared_work_; }
  void set_shared_work(SharedWork* shared) { shared_work_ = shared; }

  // Bytes that it has taken so far.
  std::size_t capacity() const {
    std::size_t sum = 0;
    for (const auto& block : blocks_) sum += block.size();
    return sum;
  }

 private:
  std::byte* bytes(std::size_t n) {
    n = (n + kCacheLine - 1) / kCacheLine * kCacheLine;
    while (block_ < blocks_.size() && used_ + n > blocks_[block_].size()) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) {
      const std::size_t last = blocks_.empty() ? kFirstBlock / 2 : blocks_.back().size();
      blocks_.emplace_back(n > 2 * last ? n : 2 * last);
      used_ = 0;
    }
    std::byte* start = blocks_[block_].data() + used_;
    used_ += n;
    return start;
  }

  static constexpr std::size_t kFirstBlock = 16384;
  std::vector<AlignedVector<std::byte>> blocks_;
  std::size_t block_ = 0, used_ = 0;
  SharedWork* shared_work_ = nullptr;
};

}  // namespace espalier
