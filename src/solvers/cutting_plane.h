#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"
#include "espalier/solvers/solver_options.h"

namespace espalier {

struct CuttingPlaneOptions : CuttingPlaneTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;   // of the order in which Slacks::n visits examples
  std::size_t threads = 1;  // the result is the same with any number of them
};

// Throws Error for a loss that is not a maximum, for the perceptron's, and for slack rescaling of a problem
// that cannot find its maximum.
void check_cutting_plane(const Objective& objective, const CuttingPlaneOptions& options);

// Cutting planes for max-margin problems (SVM-struct: Tsochantaridis et al. 2005, Joachims et al. 2009).
// Starts from theta and leaves the best weights there. With Rescaling::slack, reports are certificates of
//   l2/2 |theta|^2 + sum_i omega_i max_y cost_i(y)(gamma + theta.F_i(chi(y) - z_i)),
// which is not the objective that certify() knows.
Summary cutting_plane(const Objective& objective, const CuttingPlaneOptions& options, Weights& theta,
                      const Observer& observer = {});

}  // namespace espalier
