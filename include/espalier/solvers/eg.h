#pragma once

#include <cstdint>
#include <optional>

#include "espalier/learning/dual_state.h"
#include "espalier/learning/gold_log_odds.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/schedule.h"

namespace espalier {

class OptionTable;

enum class EgStep {
  automatic,  // by slope and curvature along the update
  paper,      // section 7: eta_ini on 10 % of the data, halved on failure, grown by 1.05
  safe,       // the theorem's eta, from a bound on the features: never a failure, rarely fast
};
enum class EgStart {
  gold,     // near the gold outputs, s_i = -kappa p_i, kappa being EgTuning::log_odds
  uniform,  // s_i = 0
  warm,     // where the state is: another l2's optimum, a resumed run
};
// Whether the first passes of a cold start are made at a larger l2, where a small one would be slow (section 7.1.1).
enum class EgAnneal {
  automatic,  // from an l2 by the size of the features, halved with every pass; with automatic steps only
  none,
  paper,  // 10 l2 for 5 passes, then l2(1 + 9 0.7^(t - 5)) in pass t, as in Figure 8; with any steps
};

// What is eg's own to choose.
struct EgTuning {
  Sampling sampling = Sampling::gap;
  EgStep step = EgStep::automatic;
  // Positive: steps of this size, whatever they do to the dual, instead of `step` (Bartlett et al. 2004, section 5).
  std::optional<double> eta{};
  EgStart start = EgStart::gold;
  double log_odds = kGoldLogOdds;
  EgAnneal anneal = EgAnneal::automatic;
  // Where a run makes its DualState: without the marginals of every example. It halves the memory, and adds an inference to each
  // visit.
  bool recompute = false;
};
const OptionTable& eg_options();  // of EgTuning

struct EgOptions : EgTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  std::size_t threads = 1;  // only with 1 does the same seed give the same bits
  // Passes between two reports; twice as many at most, where the end is near. A report costs about two passes of time.
  double report_every = 5;
};

// Throws Error for the one loss that EG is not for, the perceptron's.
void check_eg_loss(const Loss& loss);

// Online exponentiated gradient on the dual (Collins et al. 2008, Figure 3), for every beta in (0, inf] and
// gamma >= 0. Leaves the duals in `dual` and theta = w(u)/l2 in `theta`.
Summary eg(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
           const Observer& observer = {});

}  // namespace espalier
