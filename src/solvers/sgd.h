#pragma once

#include <cstdint>
#include <functional>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"

namespace espalier {

struct SgdOptions {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  // The error of weights on held-out data, by which eta_0 is chosen after one pass; without it the objective
  // decides.
  std::function<double(const Weights&)> dev_error;
};

// Stochastic (sub)gradient descent on the primal with the schedule eta_0 / (1 + k/n) (Collins et al. 2008,
// section 7.1.3). Chooses eta_0 from 1, 0.1, ..., 0.0001 by one pass each from theta, and continues with the
// best from where its pass ended; all five count as passes. Leaves the last weights in theta. An eta_0 whose
// weights do not stay finite is out; if all are, Status::failed.
Summary sgd(const Objective& objective, const SgdOptions& options, Weights& theta,
            const Observer& observer = {});

}  // namespace espalier
