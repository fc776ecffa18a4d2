#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/base/threads.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"
#include "learning/clique_state.h"

namespace espalier {

struct SdcaOptions : SdcaTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  Threads threads;          // two and more that share visits give the same bits, one gives others
  double report_every = 5;  // passes at most between two reports
};

// Throws Error if the loss has an infinite beta, or the problem's structure has no clique marginals.
void check_sdca(const Problem& problem, const Loss& loss);

// Stochastic dual coordinate ascent on clique marginals (Le Priol et al. 2018), for finite beta and problems
// with Problem::factored(). Starts from the state as it is, which for a new one is near the gold outputs.
// Leaves the duals in `state` and theta = w(u)/l2 in `theta`.
Summary sdca(const Objective& objective, const SdcaOptions& options, CliqueState& state, Weights& theta,
             const Observer& observer = {});

}  // namespace espalier
