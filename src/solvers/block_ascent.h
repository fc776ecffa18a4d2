#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/solvers/run.h"
#include "solvers/crew.h"
#include "solvers/schedule.h"
#include "solvers/visits.h"

namespace espalier {

struct BlockAscentRule {
  const StoppingRule& stopping;
  Sampling sampling;
  std::uint64_t seed;
  double report_every;
  bool share_visits;  // among the threads of the team
  Settled settled = Settled::watched;
};

// What solvers that improve the dual one example at a time, and see each example's exact gap as they do so,
// have in common: which example comes next, and when the sum of gaps is worth a certificate. Blocks has
//   std::unique_ptr<Visitor> visitor()            whose visits are steps, for one of its threads
//   Weights& weights()                            w(u), which the crew changes
//   Follower follower()                           what follows them
//   Team& team()
//   Certificate certify()                         of theta(), with everything recomputed in double precision
//   const Weights& theta()
template <class Blocks>
class BlockAscent {
 public:
  BlockAscent(Blocks& blocks, const Objective& objective, const BlockAscentRule& rule,
              const Observer& observer)
      : blocks_(blocks),
        rule_(rule),
        run_(objective, rule.stopping, observer),
        visits_(rule.stopping, run_, objective.problem.size()),
        schedule_(rule.sampling, objective.problem.size(), rule.seed, rule.settled),
        gaps_(objective.problem.size(), 0.0f),
        crew_(
            objective.problem, blocks.weights(), blocks.team(), rule.share_visits,
            [&blocks] { return blocks.visitor(); }, blocks.follower()) {}

  // Requires the dual's value at the start.
  Summary ascend(double dual) {
    dual_ = dual;
    for (bool over = false; !over;) {
      visit(schedule_.next_round(gaps_));
      if (visits_.exhausted() || certificate_is_due()) over = report();
    }
    return run_.finish();
  }

 private:
  void visit(std::span<const std::uint32_t> round) {
    if (visits_.exhausted()) return;
    crew_.visit(round, [this](std::size_t i, const BlockStep& step) {
      gaps_[i] = static_cast<float>(step.gap);
      dual_ += step.gain;
      visits_.count(step.inferences);
      return visits_.exhausted();
    });
  }

  double sum_of_gaps() const {
    double sum = 0;
    for (const float gap : gaps_) sum += gap;
    return sum;
  }

  // When the gap is probably small enough, or none has been measured for a while. Nothing here may depend on
  // the clock, or a run could not be repeated to the bit.
  bool certificate_is_due() const {
    const double since = visits_.passes() - certified_at_;
    if (since >= rule_.report_every) return true;
    if (since < kLeastPassesBetween) return false;
    const double gap = ratio_ * sum_of_gaps();
    return gap <= rule_.stopping.gap * std::max(0.0, dual_ + gap);
  }

  bool report() {
    run_.pause();
    Certificate certificate = blocks_.certify();
    certificate.passes = certified_at_ = visits_.passes();
    dual_ = certificate.dual;
    const double gaps = sum_of_gaps();
    if (gaps > 0) ratio_ = std::clamp(certificate.gap() / gaps, 0.1, 1000.0);
    const bool over = run_.report(certificate, blocks_.theta());
    run_.resume();
    return over;
  }

  // A certificate takes about two passes of time.
  static constexpr double kLeastPassesBetween = 0.2;

  Blocks& blocks_;
  const BlockAscentRule& rule_;
  Run run_;
  Visits visits_;
  Schedule schedule_;
  std::vector<float> gaps_;  // of each example when it was last visited
  Crew crew_;
  double dual_ = 0;
  double ratio_ = 1;  // true gap over the sum of those, as last measured
  double certified_at_ = 0;
};

}  // namespace espalier
