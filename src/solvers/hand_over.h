#pragma once

#include <cstddef>

#include "espalier/solvers/registry.h"
#include "solvers/training.h"

namespace espalier {

// Makes what a solver that keeps `from` has left in `training` into what one that keeps `to` starts from, and
// frees the rest:
//
//   scores  from means or cliques
//           scores that have these expected statistics, moved off the boundary a little
//           from weights             the distributions that they imply
//   means   from scores, cliques     their expected statistics
//           from weights             those of the distributions that they imply
//   cliques from scores or weights   the clique marginals of those distributions, where beta is finite
//
// Weights that imply a dual below 0, that of the gold outputs, hand over none. Nor does anything where beta
// is infinite to a solver on cliques: it needs outputs without mass. Such a solver starts from its own
// beginning. Where the run is interrupted on the way, the duals are worth nothing. Returns the number of
// inferences.
std::size_t hand_over(const Objective& objective, Duals from, Duals to, const SolverSettings& settings,
                      Training& training);

}  // namespace espalier
