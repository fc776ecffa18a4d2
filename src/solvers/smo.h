#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/base/threads.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"
#include "learning/clique_state.h"

namespace espalier {

struct SmoOptions : SmoTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  Threads threads;          // two and more that share visits give the same bits, one gives others
  double report_every = 5;  // passes at most between two reports
};

// Throws Error if the loss has a finite beta or is the perceptron's, or the problem's structure has no clique
// marginals.
void check_smo(const Problem& problem, const Loss& loss);

// Sequential minimal optimisation on clique marginals (Taskar et al., as Bartlett et al. 2004 compare it with
// EG), for beta = infinity and problems with Problem::factored(). Starts from the state as it is:
// CliqueState::start_at_gold is where to begin, for each bit of mass elsewhere takes a visit to move. Leaves
// the duals in `state`, without their entropy, and theta = w(u)/l2 in `theta`.
Summary smo(const Objective& objective, const SmoOptions& options, CliqueState& state, Weights& theta,
            const Observer& observer = {});

}  // namespace espalier
