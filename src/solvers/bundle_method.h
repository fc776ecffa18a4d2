#pragma once

#include <cstddef>
#include <functional>

#include "espalier/learning/objective.h"
#include "espalier/solvers/run.h"

namespace espalier {

// A plane below the loss of one example that touches it at theta:
//   L_i(theta') >= (F_i'theta').delta + offset for all theta', and L_i(theta) = loss.
struct ExamplePlane {
  double loss = 0, offset = 0;
};
// Fills in delta. Called by several threads, for different examples.
using ExamplePlaneAt =
    std::function<ExamplePlane(std::size_t i, const Weights& theta, DoubleOut delta, Workspace& ws)>;

struct BundleOracle {
  ExamplePlaneAt exact;  // takes an inference
  // Takes none, and need not touch the loss: its `loss` may be too low. Empty: there is no such thing.
  ExamplePlaneAt cached;
};

// Minimises l2/2 |theta|^2 + sum_i omega_i L_i(theta) by planes below the sum, each the sum of one plane for
// every example. Starts from theta and leaves the best weights there.
Summary minimise_by_planes(const Objective& objective, const StoppingRule& stopping, std::size_t threads,
                           const BundleOracle& oracle, Weights& theta, const Observer& observer);

}  // namespace espalier
