#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "espalier/base/workspace.h"

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

  // Refuses at once what add() would in the end: k outputs of at least so many bytes each, or all that exist,
  // where those are fewer. With scores that are all alike, log Z is the logarithm of their number.
  template <class Structure>
  static void check(const Structure& structure, std::span<const double> s, std::size_t k, std::size_t bytes,
                    Workspace& ws) {
    if (k <= kMost / bytes) return;
    Workspace::Frame frame(ws);
    const auto alike = frame.take<double>(s.size()), mu = frame.take<double>(s.size());
    constexpr double kExcluded = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < s.size(); ++j) alike[j] = s[j] == kExcluded ? kExcluded : 0;
    const double log_count = structure.log_partition(std::span<const double>(alike), mu, ws);
    if (std::exp(log_count) * static_cast<double>(bytes) > static_cast<double>(kMost)) refuse();
  }

 private:
  [[noreturn]] static void refuse();

  std::size_t bytes_ = 0;
};

}  // namespace espalier
