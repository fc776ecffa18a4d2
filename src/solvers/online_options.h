#pragma once

#include <cstdint>

#include "espalier/solvers/run.h"

namespace espalier {

// What the online solvers (dca, mira, perceptron) have in common. They visit all examples in a new random
// order each pass, have no learning rate, and store no duals: reports certify the weights by the dual point
// that those imply, or by a better one seen before. None of them converges when it continues; the gap says
// how far the weights are.
struct OnlineOptions {
  StoppingRule stopping;
  std::uint64_t seed = 1;  // of the orders
  double report_every =
      5;  // passes between two reports; a report costs a pass of time, and several for a maximum
  // The weights reported and left in theta: the mean of all that visits met, or the last ones.
  bool average = true;
};

}  // namespace espalier
