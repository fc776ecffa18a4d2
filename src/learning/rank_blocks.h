#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/team.h"
#include "espalier/learning/problem.h"
#include "features/row_changes.h"
#include "fleet/communicator.h"

namespace espalier {

// Which weights the examples of which rank change, in blocks of neighbouring ones: whole rows, 16 weights or
// more. Most blocks are those of rare attributes, which the examples of one rank alone have: nobody else need
// hear of their changes. The others are shared, and go to all.
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

  // Blocks in ascending order: shared ones, the same on all ranks, and those that this rank alone changes.
  std::span<const std::uint32_t> shared() const { return shared_; }
  std::span<const std::uint32_t> own() const { return own_; }
  // Each rank adds up a part of the shared blocks: those from here on, up to the next rank's.
  std::size_t first_shared(std::size_t rank) const { return shared_.size() * rank / fleet_.size(); }

  // Blocks that some examples change, as bits.
  class Marks {
   public:
    explicit Marks(const RankBlocks& of) : blocks_(of), bits_((of.count() + 63) / 64, 0) {}
    // Some examples of the problem that the blocks are of, with the threads of a team.
    void mark(const Problem& problem, std::span<const std::uint32_t> examples, Team& team);
    void clear() { std::ranges::fill(bits_, std::uint64_t{0}); }
    // Calls shared(k) for each that is number k of the shared ones, and own(block) for each of the others, in
    // ascending order.
    template <class Shared, class Own>
    void for_each(const Shared& shared, const Own& own) const;

   private:
    friend class RankBlocks;
    const RankBlocks& blocks_;
    std::vector<std::uint64_t> bits_;
    struct Memory {
      RowChanges<float> changes;
      AlignedVector<float> ones;
      Workspace ws;
    };
    std::vector<Memory> memory_;  // of each thread
  };

  // Sums over all ranks of what each has added to its copy of w. What was there before has to be the same on
  // all ranks, and begin() makes it count once.
  template <class Real>
  void begin(BasicWeights<Real>& w) const;
  template <class Real>
  void add_up(BasicWeights<Real>& w) const;

 private:
  void find_shared(const std::vector<std::uint64_t>& mine);

  Communicator& fleet_;
  std::size_t num_values_, block_;
  std::vector<std::uint32_t> shared_, own_;
  std::vector<std::uint64_t> shared_bits_;
  std::vector<std::uint32_t> shared_before_;  // how many there are before each word of those
};

template <class Shared, class Own>
void RankBlocks::Marks::for_each(const Shared& shared, const Own& own) const {
  for (std::size_t word = 0; word < bits_.size(); ++word) {
    const std::uint64_t of_several = blocks_.shared_bits_[word];
    for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1) {
      const std::uint64_t bit = left & -left;
      if ((of_several & bit) != 0) {
        shared(blocks_.shared_before_[word] +
               static_cast<std::size_t>(std::popcount(of_several & (bit - 1))));
      } else {
        own(64 * word + static_cast<std::size_t>(std::countr_zero(bit)));
      }
    }
  }
}

}  // namespace espalier
