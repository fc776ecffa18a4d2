#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/team.h"
#include "espalier/base/memory.h"
#include "fleet/communicator.h"
#include "learning/rank_blocks.h"
#include "solvers/eg_worker.h"

namespace espalier {

// eg on several ranks, each with the duals of its own examples and a copy of all weights (CoCoA+: Ma et al.
// 2015, arXiv 1502.03508). In a round, rank k visits examples of its own, and counts each change of w that it
// makes sigma times, in the weights that it looks at as in what it believes to gain, as if the others made
// changes like its own:
//   w_k = w + sigma Delta_k
// Then the changes are added up, w <- w + sum_k Delta_k. What that is worth is known exactly, however many
// threads made the visits and whatever they knew of each other: each visit tells what it does to its
// example's part of the dual, and the rest is
//   g*(w + sum_k Delta_k) - g*(w) = (w.sum_k Delta_k + |sum_k Delta_k|^2/2) / l2       without l1
// A round after which the dual is lower is taken back half way, as often as that is so.
//
// sigma has to be rho = |sum_k Delta_k|^2 / sum_k |Delta_k|^2, which is between 0 and the number of ranks,
// where it is safe whatever the data, and about 1 where ranks have nothing in common. It follows what rounds
// measure.
//
// A round goes over the blocks of weights that its visits may change, and over no others: what they were is
// put aside, and of those that several ranks have (learning/rank_blocks.h) the changes are sent to the rank
// that adds them up, and the sums to all. Blocks that one rank alone has stay with it until a certificate.
class EgRanks {
 public:
  // Refers to all of them. All ranks make one at the same time.
  EgRanks(const RankBlocks& blocks, EgShared& shared, Team& team);

  // What all ranks together have done, as of their last meeting.
  struct Sums {
    std::size_t trials = 0;  // the visits' inferences
    double gain = 0;         // of the dual
    double proxies = 0;
    bool stop = false;  // one of them was asked to
  };
  const Sums& sums() const { return sums_; }
  Communicator& fleet() const { return fleet_; }
  // How many parts a quarter of a pass is visited in: what there is to exchange after each. For the quarter
  // to come; counts of the one before decide it.
  std::size_t plan_parts();

  // Before a round of visits to these examples, and after it. `trials` are all inferences of this rank.
  void begin(std::span<const std::uint32_t> round);
  Communicator::Round meet(std::size_t trials, bool stop);
  // The sums alone, where nothing was visited.
  void add_up(std::size_t trials, bool stop);

 private:
  // What a rank tells with its sums of changes. Of all of them it is the sum.
  struct Totals {
    double trials = 0, proxies = 0, entropies = 0, stop = 0;
    double conjugate = 0, absolute = 0;  // of the dual but for g*, and its size
    double rounding = 0;                 // how much of it the visits' may be
    double own_norms = 0, norm = 0;      // |Delta_k|^2, |sum_k Delta_k|^2
    double g = 0;                        // g*(w + sum_k Delta_k) - g*(w)
    double visited = 0, exchanged = 0;   // work
  };
  Totals own_totals(std::size_t trials, bool stop) const;
  void take(const Totals& totals);

  std::span<float> start_of(std::size_t k) { return part_of(start_, k); }
  std::span<float> change_of(std::size_t k) { return part_of(change_, k); }
  std::span<float> part_of(AlignedVector<float>& all, std::size_t k) const {
    return {all.data() + k * blocks_.size(), blocks_.of(shared_.w.values(), touched_[k]).size()};
  }
  // change_ <- (w - start)/times, |change|^2; blocks that others have, too, are as they were at the start.
  void part_changes(double times);
  double conjugate_change(std::size_t block, std::span<const float> w, std::span<const float> change) const;
  // Adds up what the ranks have in change_; by how much the dual changes.
  double exchange(Totals& totals);
  std::string add_up_part(const std::vector<std::string>& parts, Totals& totals);
  void apply();
  // Takes this round back, and half of it where `half`; returns what that does to the dual but for g*.
  EgShared::ConjugateChange take_back(bool half);
  void adapt(const Communicator::Round& round);

  const RankBlocks& blocks_;
  Communicator& fleet_;
  EgShared& shared_;
  Team& team_;

  // The blocks that this round may change: first those that are shared, then the others.
  RankBlocks::Marks marks_;
  std::vector<std::uint32_t> touched_, places_;  // places_: which of the shared ones
  AlignedVector<float> start_, change_;
  std::vector<double> norms_;        // |change|^2 of each
  std::vector<std::string> summed_;  // what each rank has added up
  AlignedVector<float> sum_;         // of the shared blocks that this one adds up
  std::vector<std::uint8_t> has_sum_;

  std::vector<std::uint32_t> visited_;  // of this round, each once
  std::vector<std::uint32_t> seen_;     // the round in which an example was last visited
  std::vector<float> scores_;           // what theirs were before
  std::size_t more_trials_ = 0;         // of halves
  std::size_t meetings_ = 0, parts_;
  double visited_work_ = 0;                         // of the round at hand
  double visited_since_ = 0, exchanged_since_ = 0;  // by all ranks, since the last plan
  double sigma_, rho_ = 1;                          // rho_: as last measured
  Sums sums_;
  Workspace ws_;
};

}  // namespace espalier
