#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/team.h"
#include "solvers/eg_worker.h"

namespace espalier {

// The workers of a run. One visits a round of examples in its order. Several share it out among themselves:
// each takes the next examples that nobody has taken, looks at weights that the others are changing, and adds
// its own change to them.
class EgCrew {
 public:
  // After a visit: whether there should be no more, given the trials so far. Where it may take its time, it
  // also looks at the clock.
  using Over = std::function<bool(std::size_t trials, bool take_time)>;

  enum class Work { on_threads, in_turns };

  EgCrew(EgShared& shared, const EgOptions& options, Work work);

  void visit(std::span<const std::uint32_t> round, const Over& over);

  std::size_t skipped() const;  // visits without a step
  std::size_t trials() const;
  double gain() const;
  EgWorker& first() { return workers_.front(); }
  Team& team() { return team_; }

 private:
  void visit_alone(std::span<const std::uint32_t> round, const Over& over);
  void visit_together(std::span<const std::uint32_t> round, const Over& over);
  void visit_in_turns(std::span<const std::uint32_t> round, const Over& over);
  void prefetch(std::span<const std::uint32_t> round, std::size_t r, std::size_t workers) const;

  EgShared& shared_;
  Work work_;
  std::vector<EgWorker> workers_;
  Team team_;
  std::vector<std::atomic<std::uint8_t>> taken_;  // examples that somebody is at; a round may have one twice
};

}  // namespace espalier
