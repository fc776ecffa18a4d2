#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/progress.h"
#include "espalier/selection/cross_validation.h"

namespace espalier {

// One solver's part in a race.
struct RaceRun {
  std::string solver;
  Summary summary;  // where it is not for the structure: without reports, and the message says why
  std::vector<HeldOutScore> dev;  // of each report; empty without held-out data

  // The first report whose value on held-out data is at most `distance` from that of the best report.
  std::optional<std::size_t> first_near_best(double distance) const;
};

// The report with which a run arrived within a relative gap of the optimum. The optimum is known as an
// interval, so there may be reports that are perhaps within the gap before one that surely is.
struct Arrival {
  std::optional<std::size_t> possible, certain;
};

// Several solvers on the same problem, from the same start.
struct Race {
  std::vector<RaceRun> runs;  // of those that were begun
  bool stopped = false;       // by the observer or by Ctrl-C
  // What all runs together know: the largest dual, which is below the optimum, and the smallest primal, which
  // is above it.
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  Inference inference = Inference::exact;  // approximate: `lower` bounds nothing

  // How far a report's primal is above the optimum, relative to the primal as every tolerance is: at most, at
  // least. No report is further than its own certificate says.
  double largest_gap(const Progress& report) const;
  double smallest_gap(const Progress& report) const;
  // The relative width of what is known of the optimum. No gap below it can be told.
  double width() const;
  Arrival arrival(const RaceRun& run, double gap) const;
};

}  // namespace espalier
