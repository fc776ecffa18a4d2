#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/team.h"
#include "espalier/learning/problem.h"
#include "features/row_changes.h"
#include "fleet/communicator.h"
#include "learning/deadline.h"

namespace espalier {

// Goes over all examples of a problem, with several threads, for what certificates and batch solvers sum up.
// Whatever the number of threads, the sums have the same bits. Of a rank's share they are those of all ranks,
// which all sweep at the same time. Where a Deadline of the thread that makes it is over it throws
// SweepGivenUp.
class Sweep {
 public:
  explicit Sweep(std::size_t threads = 1, Communicator* fleet = nullptr);

  Team& team() { return team_; }

  // value(i) for every example, several at a time; returns their sum.
  double sum(std::size_t n, const std::function<double(std::size_t i, Workspace& ws)>& value);
  // The same, where value(i) also fills in a delta of the example's statistics, which is added to the
  // weights: w += F_i delta_i. It ends early where go_on(examples so far) says no: the sums are worth nothing
  // then. Ranks do not ask.
  using Fill = std::function<double(std::size_t i, DoubleOut delta, Workspace& ws)>;
  double accumulate(const Problem& problem, DoubleWeights& w, const Fill& fill,
                    const std::function<bool(std::size_t examples)>& go_on = {});

 private:
  double accumulate_own(const Problem& problem, DoubleWeights& w, const Fill& fill,
                        const std::function<bool(std::size_t examples)>& go_on);
  double accumulate_alone(const Problem& problem, DoubleWeights& w, const Fill& fill,
                          const std::function<bool(std::size_t examples)>& go_on);
  double accumulate_together(const Problem& problem, DoubleWeights& w, const Fill& fill,
                             const std::function<bool(std::size_t examples)>& go_on);
  double accumulate_in_turns(const Problem& problem, DoubleWeights& w, const Fill& fill,
                             const std::function<bool(std::size_t examples)>& go_on);
  template <class Call>
  void share_out(std::size_t begin, std::size_t end, const Call& call);
  bool given_up() const { return deadline_ && deadline_->over(); }

  Team team_;
  Communicator* fleet_;
  const Deadline* deadline_;
  std::vector<Workspace> workspaces_;
  std::vector<double> values_, deltas_;
  std::vector<std::size_t> offsets_;
  std::vector<RowChanges<double>> lists_;
};

}  // namespace espalier
