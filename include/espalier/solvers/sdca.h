#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/learning/clique_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/schedule.h"

namespace espalier {

class OptionTable;

// What is sdca's own to choose.
struct SdcaTuning {
  Sampling sampling = Sampling::gap;
};
const OptionTable& sdca_options();  // of SdcaTuning

struct SdcaOptions : SdcaTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  std::size_t threads =
      1;  // of certificates; visits are made by one, and the result is the same with any number
  double report_every = 5;  // passes at most between two reports
};

// Throws Error where the loss has an infinite beta, or the problem's structure has no clique marginals.
void check_sdca(const Problem& problem, const Loss& loss);

// Stochastic dual coordinate ascent on clique marginals (Le Priol et al. 2018), for finite beta and problems with
// Problem::factored(). Starts from the state as it is, which for a new one is near the gold outputs. Leaves the duals in
// `state` and theta = w(u)/l2 in `theta`.
Summary sdca(const Objective& objective, const SdcaOptions& options, CliqueState& state, Weights& theta,
             const Observer& observer = {});

}  // namespace espalier
