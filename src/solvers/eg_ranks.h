#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/team.h"
#include "espalier/base/memory.h"
#include "fleet/communicator.h"
#include "learning/rank_blocks.h"
#include "learning/rank_exchange.h"
#include "solvers/eg_worker.h"

namespace espalier {

// eg on several ranks, each with the duals of its own examples and a copy of all weights (CoCoA+: Ma et al.
// 2015, arXiv 1502.03508). Between two meetings, rank k visits examples of its own, and counts each change of
// w that it makes sigma times, in the weights that it looks at as in what it believes to gain, as if the
// others made changes like its own:
//   w_k = w + sigma Delta_k
// When they meet, the changes are added up, w <- w + sum_k Delta_k.
//
// Blocks of weights (learning/rank_blocks.h) do not all meet as often: one that many examples change is
// exchanged at every meeting, others as often as a rank has changed them kVisitsOfBlock times, and at least
// once in a round, which is a pass or less. So what an exchange costs is a fixed part of what visits cost,
// and the rows that most steps go through are never old. Blocks that one rank alone has stay with it until a
// certificate.
//
// What a round was worth is known exactly, however many threads made the visits and whatever they knew of
// each other: each visit tells what it does to its example's part of the dual, and the rest is
//   g*(w') - g*(w),     g*(w) = |soft(w, l1)|^2/(2 l2)
// of which each rank computes a part. A round after which the dual is lower is taken back half way, as often
// as that is so.
//
// sigma has to be rho = |sum_k Delta_k|^2 / sum_k |Delta_k|^2, which is between 0 and the number of ranks,
// where it is safe whatever the data, and about 1 where ranks have nothing in common. It follows what rounds
// measure.
class EgRanks {
 public:
  // Refers to all of them. All ranks make one at the same time.
  EgRanks(const RankBlocks& blocks, EgShared& shared, Team& team);

  // What all ranks together have done, as of their last meeting.
  struct Sums {
    std::size_t trials = 0;  // the visits' inferences
    double gain = 0;         // of the dual, by the rounds that are over
    double proxies = 0;
    bool stop = false;  // one of them was asked to
  };
  const Sums& sums() const { return sums_; }
  Communicator& fleet() const { return fleet_; }

  // Parts of equal work that this rank visits some examples in, with a meeting after each: where they begin
  // and end. `quarters` of a pass they are, more or less.
  std::vector<std::size_t> parts_of(std::span<const std::uint32_t> visits, std::size_t quarters) const;

  // Before some visits, and after them. `trials` are all inferences of this rank. A round is over at the last
  // meeting of a pass, and where `end` says so.
  void begin(std::span<const std::uint32_t> visits);
  std::optional<Communicator::Round> meet(std::size_t trials, bool stop, bool end);
  // Ends the round at hand, if there is one, so that all ranks have the same weights in shared blocks, which
  // may be set to others then.
  std::optional<Communicator::Round> close(std::size_t trials);
  // The sums alone, where nothing was visited.
  void add_up(std::size_t trials, bool stop);

 private:
  void start_round();
  Communicator::Round end_round();
  void exchange(std::size_t blocks, double times);
  double round_gain();
  void take_back(bool half);
  void adapt(const Communicator::Round& round);
  void keep_own();
  void part_own();
  double half_norm() const;  // |soft(w, l1)|^2/2, this rank's part
  std::size_t meetings_of_pass() const;

  const RankBlocks& blocks_;
  Communicator& fleet_;
  EgShared& shared_;
  Team& team_;
  RankExchange exchange_;

  // The round at hand.
  bool begun_ = false;
  std::size_t meetings_ = 0;            // in it
  std::vector<std::uint32_t> visited_;  // each once
  std::vector<std::uint32_t> seen_;     // the round in which an example was last visited
  std::uint32_t round_ = 0;
  std::vector<float> scores_;      // what those of visited examples were before
  std::vector<float> own_before_;  // where sigma is not 1: weights that this rank alone changes
  RankExchange::Norms norms_;
  double half_norm_before_ = 0, half_norm_ = 0;  // of all ranks, when it began and as last computed

  std::size_t trials_ = 0, more_trials_ = 0;  // of this rank: of visits, of halves
  bool stop_ = false;                         // it was asked to
  double sigma_;
  Sums sums_;
  mutable Workspace ws_;
};

}  // namespace espalier
