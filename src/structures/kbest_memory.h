#pragma once

#include <cstddef>

namespace espalier {

// Lists of the k best outputs grow with what was asked for and with what exists, which is often astronomical.
// Whoever makes such a list adds what it takes; more than kMost throws Error, before the machine runs out of
// memory.
class KbestMemory {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 30;  // bytes

  void add(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMost) refuse();
  }

 private:
  [[noreturn]] static void refuse();

  std::size_t bytes_ = 0;
};

}  // namespace espalier
