#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/learning/problem.h"
#include "fleet/communicator.h"

namespace espalier {

// Which weights the examples of which rank change, in blocks of neighbouring ones: whole rows, 16 weights or
// more, and how often. Most blocks are those of rare attributes, which the examples of one rank alone have:
// nobody else need hear of their changes. The others are shared, and go to all.
class RankBlocks {
 public:
  // Of the examples of this rank. All ranks make one at the same time.
  RankBlocks(const Problem& own, Communicator& fleet);

  Communicator& fleet() const { return fleet_; }
  std::size_t count() const { return (num_values_ + block_ - 1) / block_; }
  // The weights of a block, in a span of all. The last one may be shorter.
  template <class Real>
  std::span<Real> of(std::span<Real> w, std::size_t block) const {
    return w.subspan(block * block_, std::min(block_, w.size() - block * block_));
  }
  std::size_t size() const { return block_; }  // weights of one

  // Those that examples of several ranks change, the same on all: first those that are changed most often.
  std::span<const std::uint32_t> shared() const { return shared_; }
  // How many of them are changed at least 2^level times in a visit to every example, of all ranks.
  std::size_t shared_from(std::size_t level) const {
    return level < shared_from_.size() ? shared_from_[level] : 0;
  }
  // Those that this rank alone changes, in ascending order.
  std::span<const std::uint32_t> own() const { return own_; }

  // Sums over all ranks of what each has added to its copy of w. What was there before has to be the same on
  // all ranks, and begin() makes it count once.
  template <class Real>
  void begin(BasicWeights<Real>& w) const;
  template <class Real>
  void add_up(BasicWeights<Real>& w) const;

 private:
  struct Parcels {
    explicit Parcels(std::size_t ranks) : out(ranks), in(ranks) {}
    std::vector<Communicator::Parcel> out, in;
  };
  template <class Real>
  void add_up_shared(std::span<Real> values, std::span<const std::uint32_t> blocks, Parcels& parcels) const;
  template <class Real>
  void tell_own(std::span<Real> values, std::span<const std::uint32_t> blocks, Parcels& parcels) const;
  std::size_t pieces_of(std::size_t blocks) const;
  std::vector<std::uint32_t> count_changes(const Problem& own) const;
  void find_shared(const std::vector<std::uint32_t>& changes);

  Communicator& fleet_;
  std::size_t num_values_, block_;
  std::vector<std::uint32_t> shared_, own_;
  std::vector<std::size_t> shared_from_;
  std::size_t most_own_ = 0;  // that one rank alone changes
};

}  // namespace espalier
