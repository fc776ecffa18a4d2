#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/base/threads.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"
#include "learning/mean_state.h"

namespace espalier {

struct FrankWolfeOptions : FrankWolfeTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  Threads threads;          // two and more that share visits give the same bits, one gives others
  double report_every = 5;  // passes at most between two reports
};

// Throws Error for a loss of finite beta, and for the perceptron's.
void check_frank_wolfe_loss(const Loss& loss);

// Block-coordinate Frank-Wolfe on the dual (Lacoste-Julien et al. 2013, Algorithm 4), for beta = infinity and
// every structure. Starts from the means as they are, which for a new MeanState is the gold outputs. Leaves
// the duals in `means`, and in `theta` w(mu)/l2 or a mean of what it was of late.
Summary frank_wolfe(const Objective& objective, const FrankWolfeOptions& options, MeanState& means,
                    Weights& theta, const Observer& observer = {});

}  // namespace espalier
