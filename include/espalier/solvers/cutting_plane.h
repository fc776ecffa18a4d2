#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"

namespace espalier {

class OptionTable;

enum class Slacks {
  one,  // a plane below the sum of all losses
  n,    // planes below the loss of each example
};
enum class Rescaling {
  margin,  // max_y gamma cost(y) + theta.F_i(chi(y) - z_i): the loss of the family
  slack,   // max_y cost(y)(gamma + theta.F_i(chi(y) - z_i))
};

// What is cutting-plane's own to choose.
struct CuttingPlaneTuning {
  Slacks slacks = Slacks::n;
  Rescaling rescaling = Rescaling::margin;
  // Slacks::one: outputs of each example that are remembered, so that planes can be made of them without inference. It takes
  // fewer passes (on 10,000 images, 39 instead of 162 to a gap of 1e-2 with 5 of them), but more time where scores cost as
  // much as inference, as they do for images, chains and trees of first order.
  std::size_t cache = 0;
};
const OptionTable& cutting_plane_options();  // of CuttingPlaneTuning

struct CuttingPlaneOptions : CuttingPlaneTuning {
  StoppingRule stopping;
  std::uint64_t seed = 1;   // of the order in which Slacks::n visits examples
  std::size_t threads = 1;  // the result is the same with any number of them
};

// Throws Error for a loss that is no maximum, for the perceptron's, and for slack rescaling of a problem that cannot find
// its maximum.
void check_cutting_plane(const Objective& objective, const CuttingPlaneOptions& options);

// Cutting planes for max-margin problems (SVM-struct: Tsochantaridis et al. 2005, Joachims et al. 2009). Starts from theta
// and leaves the best weights there. With Rescaling::slack, reports are certificates of
//   l2/2 |theta|^2 + sum_i omega_i max_y cost_i(y)(gamma + theta.F_i(chi(y) - z_i)),
// which is not the objective that certify() knows.
Summary cutting_plane(const Objective& objective, const CuttingPlaneOptions& options, Weights& theta,
                      const Observer& observer = {});

}  // namespace espalier
