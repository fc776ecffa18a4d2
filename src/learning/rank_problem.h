#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fleet/communicator.h"
#include "learning/forwarding_problem.h"
#include "learning/rank_blocks.h"

namespace espalier {

// The share of one rank of a problem, with the weights of all: examples first() .. first() + size() - 1 of
// total_size(). Ranks have consecutive shares, in their order.
class RankProblem final : public ForwardingProblem {
 public:
  // All examples that this rank has of its own: others have others. All ranks make one at the same time.
  RankProblem(const Problem& own, Communicator& fleet)
      : ForwardingProblem(own),
        fleet_(fleet),
        first_(fleet.sum_before(own.size())),
        total_(fleet.sum(own.size())),
        blocks_(*this, fleet) {}

  // Where every rank has all examples: its share, with about as many statistics as others.
  static RankProblem share_of(const Problem& whole, Communicator& fleet) {
    std::vector<std::size_t> before(whole.size() + 1);
    for (std::size_t i = 0; i < whole.size(); ++i) before[i + 1] = before[i] + 1 + whole.num_statistics(i);
    const auto begin_of = [&](std::size_t rank) {
      const std::size_t least = before.back() * rank / fleet.size();
      return static_cast<std::size_t>(std::lower_bound(before.begin(), before.end(), least) - before.begin());
    };
    return {whole, fleet, begin_of(fleet.rank()), begin_of(fleet.rank() + 1)};
  }

  Communicator* fleet() const override { return &fleet_; }
  std::size_t total_size() const override { return total_; }
  std::size_t first() const { return first_; }
  const RankBlocks& blocks() const { return blocks_; }

  // What a problem with a fleet is.
  static const RankProblem& of(const Problem& problem) { return dynamic_cast<const RankProblem&>(problem); }

 private:
  RankProblem(const Problem& whole, Communicator& fleet, std::size_t begin, std::size_t end)
      : ForwardingProblem(whole, numbers(begin, end)),
        fleet_(fleet),
        first_(begin),
        total_(whole.size()),
        blocks_(*this, fleet) {}

  static std::vector<std::uint32_t> numbers(std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> all(end - begin);
    std::iota(all.begin(), all.end(), static_cast<std::uint32_t>(begin));
    return all;
  }

  Communicator& fleet_;
  std::size_t first_, total_;
  RankBlocks blocks_;
};

}  // namespace espalier
