#pragma once

#include <cstddef>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"

namespace espalier {

struct BmrmOptions {
  StoppingRule stopping;
  std::size_t threads = 1;  // the result is the same with any number of them
};

// Bundle method for regularised risk minimisation (Teo et al. 2010) on the primal, for every loss of the
// family. Starts from theta and leaves the best weights there. Throws Error for the perceptron's loss.
Summary bmrm(const Objective& objective, const BmrmOptions& options, Weights& theta,
             const Observer& observer = {});

}  // namespace espalier
