#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace espalier::python {

// Texts that stay where they are until clear(), which keeps their memory.
class TextArena {
 public:
  void clear() { block_ = used_ = 0; }

  // Room for a text of so many bytes.
  char* take(std::size_t size) {
    while (block_ < blocks_.size() && used_ + size > blocks_[block_].size) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) {
      const std::size_t room = size > kBlock ? size : kBlock;
      blocks_.push_back({std::make_unique<char[]>(room), room});
    }
    char* const place = blocks_[block_].bytes.get() + used_;
    used_ += size;
    return place;
  }

  std::string_view copy(std::string_view text) {
    char* const place = take(text.size());
    std::memcpy(place, text.data(), text.size());
    return {place, text.size()};
  }
  // "prefix:text"
  std::string_view join(std::string_view prefix, std::string_view text) {
    char* const place = take(prefix.size() + 1 + text.size());
    std::memcpy(place, prefix.data(), prefix.size());
    place[prefix.size()] = ':';
    std::memcpy(place + prefix.size() + 1, text.data(), text.size());
    return {place, prefix.size() + 1 + text.size()};
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size;
  };

  std::vector<Block> blocks_;
  std::size_t block_ = 0, used_ = 0;  // where the next text goes
};

}  // namespace espalier::python
