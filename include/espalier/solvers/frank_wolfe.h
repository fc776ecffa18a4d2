#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/learning/mean_state.h"
#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/schedule.h"

namespace espalier {

class OptionTable;

// What is frank-wolfe's own to choose.
struct FrankWolfeTuning {
  Sampling sampling = Sampling::gap;
  // Each visit also finds nearly the best weights for the outputs that the example's duals are a mixture of; or else it is the
  // paper's, which only moves towards one more.
  bool corrective = true;
  // Weights and duals are means over all visits, the k-th with weight k: a smoother primal early on, a worse dual later.
  bool average = false;
  // Weights are a mean over about the last pass where that has a lower primal. The duals stay what they are. Not with `average`.
  bool recent_mean = true;
};
const OptionTable& frank_wolfe_options();  // of FrankWolfeTuning

struct FrankWolfeOptions : FrankWolfeTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;
  std::size_t threads =
      1;  // of certificates; visits are made by one, and the result is the same with any number
  double report_every = 5;  // passes at most between two reports
};

// Throws Error for a loss of finite beta, and for the perceptron's.
void check_frank_wolfe_loss(const Loss& loss);

// Block-coordinate Frank-Wolfe on the dual (Lacoste-Julien et al. 2013, Algorithm 4), for beta = infinity and every structure.
// Starts from the means as they are, which for a new MeanState is the gold outputs. Leaves the duals in `means`, and in `theta`
// w(mu)/l2 or a mean of what it was of late.
Summary frank_wolfe(const Objective& objective, const FrankWolfeOptions& options, MeanState& means,
                    Weights& theta, const Observer& observer = {});

}  // namespace espalier
