#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/team.h"
#include "espalier/base/memory.h"
#include "fleet/communicator.h"
#include "solvers/eg_worker.h"

namespace espalier {

// eg on several ranks, each with the duals of its own examples and a copy of all weights (CoCoA+: Ma et al.
// 2015, arXiv 1502.03508). In a round, rank k visits examples of its own, and counts each change of w that it
// makes sigma times, in the weights that it looks at as in what it believes to gain, as if the others made
// changes like its own:
//   w_k = w + sigma Delta_k
// Then the changes are added up, w <- w + sum_k Delta_k. What that is worth is known exactly, from what the
// visits promised and two norms:
//   D' - D = sum_k promised_k + sum_k [g*(w + sigma Delta_k) - g*(w)]/sigma - [g*(w + sum_k Delta_k) - g*(w)]
//          = sum_k promised_k + (sigma sum_k |Delta_k|^2 - |sum_k Delta_k|^2) / (2 l2)       without l1
// So sigma has to be rho = |sum_k Delta_k|^2 / sum_k |Delta_k|^2, which is between 0 and the number of ranks,
// where it is safe whatever the data, and about 1 where ranks have nothing in common. It follows what rounds
// measure. A round after which the dual is lower is taken back half way, as often as that is so.
class EgRanks {
 public:
  // Refers to all of them. All ranks make one at the same time.
  EgRanks(Communicator& fleet, EgShared& shared, Team& team);

  // What all ranks together have done, as of their last meeting.
  struct Sums {
    std::size_t trials = 0;  // the visits' inferences
    double gain = 0;         // of the dual
    double proxies = 0;
    bool stop = false;  // one of them was asked to
  };
  const Sums& sums() const { return sums_; }
  Communicator& fleet() const { return fleet_; }
  double sigma() const { return sigma_; }
  std::size_t meetings() const { return meetings_; }
  // How many parts a quarter of a pass is visited in: what there is to exchange after each.
  std::size_t parts() const { return parts_; }

  // Somebody else has set the weights, to the same on all ranks.
  void weights_are_new() { fresh_ = true; }
  // Before a round of visits to these examples, and after it. `trials` and `gain` are those of this rank.
  void begin(std::span<const std::uint32_t> round);
  Communicator::Round meet(std::size_t trials, double gain, bool stop);
  // The sums alone, where nothing was visited.
  void add_up(std::size_t trials, bool stop);

 private:
  // g*(w + scale Delta) - g*(w), of what change_ has as Delta.
  double conjugate_change(double scale) const;
  // Adds up what the ranks have in change_, with their entropies and costs; by how much the dual changes.
  double add_up_changes(double entropies);
  // Half of what this round has changed, as it is in change_ then; returns entropies and costs.
  double take_half();
  double take_back();
  using OwnSums = std::array<double, 4>;  // trials, proxies, entropies, stop
  OwnSums own_sums(std::size_t trials, bool stop) const;
  void take_sums(const double* sums);
  void adapt(const Communicator::Round& round);

  Communicator& fleet_;
  EgShared& shared_;
  Team& team_;
  Weights start_;   // w at the beginning of a round
  Weights change_;  // scratch: Delta_k, then their sum
  bool fresh_ = true;
  std::vector<std::uint32_t> visited_;  // of this round, each once
  std::vector<std::uint32_t> seen_;     // the round in which an example was last visited
  std::vector<float> scores_;           // what theirs were before
  std::size_t more_trials_ = 0;         // of halves
  std::size_t meetings_ = 0, parts_;
  double gain_before_ = 0, sigma_;
  double rho_ = 1;  // as last measured
  Sums sums_;
  OwnSums own_{};  // of this rank, to go with its changes
  Workspace ws_;
};

}  // namespace espalier
