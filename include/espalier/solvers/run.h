#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

#include "espalier/base/progress.h"
#include "espalier/features/weights.h"
#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"

namespace espalier {

// When a solver stops. It always leaves weights with their true certificate, whatever stopped it.
struct StoppingRule {
  double gap = 1e-3;  // relative: (primal - dual) / primal
  double passes = 1000;
  double seconds = std::numeric_limits<double>::infinity();  // of training, without certification
  const std::atomic<bool>* stop = nullptr;                   // set by Ctrl-C; looked at after every example
  std::function<void(double passes)> tick{};  // called now and then between reports: a sign of life
  Progress
      before{};  // what this run continues with: reports count passes and seconds on from it, limits do not

  bool interrupted() const { return stop && stop->load(std::memory_order_relaxed); }
  // What is left of it for another solver that continues from `now`, a report of a run under this rule.
  StoppingRule rest(const Progress& now) const;
};

// Called at every report with the weights that the report certifies.
using Observer = std::function<Control(const Progress&, const Weights& theta)>;

// The certificate, with the rounding that explains a dual above its primal. Throws Error for one that is
// false: of exact inference, with a dual above the primal by more than rounding_bound().
Certificate checked(const Objective& objective, Certificate certificate);
// How a run ended, in a sentence; `why` it stalled.
std::string describe_ending(Status status, const Progress& last, const std::string& why = {});

// What every solver shares: a clock that leaves certification out, the history of reports, and the decision
// to stop.
class Run {
 public:
  // Refers to all of them.
  Run(const Objective& objective, const StoppingRule& rule, const Observer& observer);

  // Training seconds so far. pause() and resume() bracket certification and evaluation.
  double seconds() const;
  void pause();
  void resume();

  // True once the rule's passes or seconds are used up or the run is interrupted: certify, report and finish.
  // Reads the clock and gives the sign of life, so not after every visit. Of several ranks, all ask at the
  // same time and get the same answer: the clock is rank 0's, and an interrupt of one is one of all.
  bool exhausted(double passes) const;
  // The same as far as this rank alone knows, for what may end early on it alone.
  bool exhausted_here(double passes) const;

  // Records a certificate (the clock must be paused) and asks the observer. True: the run is over. The
  // certificate is checked().
  bool report(Certificate certificate, const Weights& theta);
  // Ends the run as stalled: no step improves the objective any more.
  void stall(const std::string& why);

  const std::vector<Progress>& history() const { return summary_.history; }
  // The finished summary: its message is a sentence with the gap reached.
  Summary finish();

 private:
  using Clock = std::chrono::steady_clock;
  const Objective& objective_;
  const StoppingRule& rule_;
  const Observer& observer_;
  Clock::time_point started_, resumed_;
  double trained_ = 0;
  bool running_ = true;
  Summary summary_;
};

}  // namespace espalier
