#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/base/progress.h"
#include "espalier/train/trainer.h"
#include "solvers/forecast.h"

namespace espalier::cli {

// What a run that takes longer than some seconds will take, said soon after it began: memory, and the time of
// a pass and to the first report; and, once reports tell how its gap falls, the time that is left. Lines on
// standard error and events of the log, not results: they look at the clock.
class RunForecast {
 public:
  struct Target {
    double gap, report_every, passes, seconds;  // as options have them
  };
  // `say` takes a line, and what the log has of it.
  using Say = std::function<void(const std::string& line, const Json& event)>;
  // Seconds since some moment.
  using Clock = std::function<double()>;

  // The clock starts now.
  RunForecast(const MemoryForecast& memory, const Target& target, Say say, Clock clock = {});

  // Passes so far of this run. Nothing is said before kSoon seconds.
  void tick(double passes);
  void report(const Progress& progress);

  static constexpr double kSoon = 3, kMeasured = 1, kWorthSaying = 10;  // seconds

 private:
  MemoryForecast memory_;
  Target target_;
  Say say_;
  Clock clock_;
  double begin_;
  std::optional<double> first_pass_;  // passes at the first tick: a run may continue another one
  // The first tick after a visit: what was before it, such as an initialisation, says nothing of a pass.
  struct Start {
    double seconds, passes;
  };
  std::optional<Start> start_;
  bool said_ = false, said_end_ = false;
  std::vector<GapAt> gaps_;  // of the solver at work
};

}  // namespace espalier::cli
