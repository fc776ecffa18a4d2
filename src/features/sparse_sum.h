#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"

namespace espalier {

// Numbers places, which may lie far apart, by the order of their first appearance: a hash table in memory of
// a workspace.
class SparsePlaces {
 public:
  // For at most so many different places.
  SparsePlaces(std::size_t most, Workspace::Frame& frame)
      : shift_(32 - static_cast<int>(std::bit_width(2 * most + 1))),
        slots_(frame.take<Slot>(std::size_t{1} << (32 - shift_))) {
    std::fill(slots_.begin(), slots_.end(), Slot{kFree, kFree});  // whole slots: that is one long store
  }
  std::size_t size() const { return size_; }
  std::uint32_t number(std::uint32_t place) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (place * 0x9e3779b1u) >> shift_;
    while (slots_[at].number != kFree) {
      if (slots_[at].place == place) return slots_[at].number;
      at = (at + 1) & mask;
    }
    slots_[at] = {place, size_};
    return size_++;
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffu;
  struct Slot {
    std::uint32_t place, number;
  };
  int shift_;
  std::span<Slot> slots_;
  std::uint32_t size_ = 0;
};

// A vector with few places that are not zero.
template <class Real>
class SparseSum {
 public:
  SparseSum(std::size_t most, Workspace::Frame& frame)
      : places_(most, frame), values_(frame.take<Real>(most)) {}
  void add(std::uint32_t place, Real value) {
    const std::size_t before = places_.size();
    Real& sum = values_[places_.number(place)];
    sum = places_.size() > before ? value : sum + value;
  }
  double squared_norm() const {
    double sum = 0;
    for (std::size_t k = 0; k < places_.size(); ++k) sum += static_cast<double>(values_[k]) * values_[k];
    return sum;
  }

 private:
  SparsePlaces places_;
  std::span<Real> values_;
};

}  // namespace espalier
