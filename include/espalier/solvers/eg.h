#pragma once

#include <cstdint>
#include <string_view>

#include "espalier/learning/dual_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"

namespace espalier {

enum class EgOrder {
  gap,       // by what each example's last visit says of its gap
  random,    // with replacement, as in Theorem 2
  shuffled,  // a new permutation each pass
  cyclic,    // as in the file
};
enum class EgStep {
  automatic,  // by slope and curvature along the update
  paper,      // section 7: eta_ini on 10 % of the data, halved on failure, grown by 1.05
  safe,       // the theorem's eta, from a bound on the features: never a failure, rarely fast
};
enum class EgStart {
  automatic,  // `gold` for a state that has not been trained yet, else as it is
  uniform,
  gold,
  as_is,
};

// For the command line. Each throws Error listing the names for one that is none.
EgOrder parse_eg_order(std::string_view name);
EgStep parse_eg_step(std::string_view name);
EgStart parse_eg_start(std::string_view name);

struct EgOptions {
  StoppingRule stopping;
  EgOrder order = EgOrder::gap;
  EgStep step = EgStep::automatic;
  EgStart start = EgStart::automatic;
  std::uint64_t seed = 1;
};

// Online exponentiated gradient on the dual (Collins et al. 2008, Figure 3), for every beta in (0, inf] and gamma >= 0.
// Leaves the duals in `dual` and theta = w(u)/l2 in `theta`.
Summary eg(const Objective& objective, const EgOptions& options, DualState& dual, Weights& theta,
           const Observer& observer = {});

}  // namespace espalier
