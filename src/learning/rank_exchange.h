#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/team.h"
#include "espalier/base/memory.h"
#include "fleet/communicator.h"
#include "learning/rank_blocks.h"

namespace espalier {

// How copies of weights that several ranks change come together: what each has changed in shared blocks since
// they were last exchanged is added up, in the order of ranks, so that all have the same bits. Blocks that a
// rank has not changed are not sent. Nothing is allocated once the largest exchange was made.
class RankExchange {
 public:
  // Refers to all of them. All ranks make one at the same time.
  RankExchange(const RankBlocks& blocks, Weights& w, Team& team);

  // The weights were set, to the same on all ranks.
  void restart();

  // |Delta_k|^2 of all ranks k, added up, and |sum_k Delta_k|^2.
  struct Norms {
    double own = 0, sum = 0;
  };
  // w <- w' + sum_k Delta_k in the first `blocks` of the shared blocks, where Delta_k = (w_k - w')/times is
  // what rank k has changed since w', when they were last exchanged. `sums` are added up over the ranks, too.
  Norms exchange(std::size_t blocks, double times, std::span<double> sums);

  // The shared blocks of which this rank computes what all of them want to know.
  std::span<const std::uint32_t> own_part() const {
    return blocks_.shared().subspan(part_of(blocks_.shared().size(), fleet_.rank()),
                                    part_of(blocks_.shared().size(), fleet_.rank() + 1) -
                                        part_of(blocks_.shared().size(), fleet_.rank()));
  }

 private:
  // Changes of some blocks as they are sent: numbers for all ranks, a bit for each block that did change, and
  // the changes of those.
  struct Message;

  std::size_t part_of(std::size_t blocks, std::size_t rank) const { return blocks * rank / fleet_.size(); }
  std::span<float> weights_of(std::size_t k) const { return blocks_.of(w_.values(), blocks_.shared()[k]); }
  float* base_of(std::size_t k) { return base_.data() + k * blocks_.size(); }
  std::string_view write_changes(Communicator::Parcel& to, std::size_t first, std::size_t last, double times);
  std::string_view write_sums(Communicator::Parcel& to, std::span<const Message> parts);
  template <class Call>
  void for_each_sum(std::span<const Message> parts, const Call& call);
  double apply(std::span<const Message> parts);

  const RankBlocks& blocks_;
  Communicator& fleet_;
  Weights& w_;
  Team& team_;
  AlignedVector<float> base_;  // w', of each shared block
  std::vector<double> numbers_;
  std::vector<Communicator::Parcel> outbox_, inbox_, sums_inbox_;
  Communicator::Parcel sums_outbox_;
  std::vector<double> norms_;  // of each word of 64 blocks
};

}  // namespace espalier
