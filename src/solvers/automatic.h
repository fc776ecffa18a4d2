#pragma once

#include "espalier/solvers/registry.h"

namespace espalier {

// `--solver auto`: starts with the solver that is fastest on healthy problems of this structure and loss,
// forecasts from its gaps what is left to do, and changes to another where that one promises, or is forecast,
// to be there much sooner. Duals and the best weights and bound so far are kept: whoever finds them, they
// count for the certificate. Every decision depends on passes and gaps alone, never on the clock.
// For the perceptron's loss it is the perceptron.
SolverEntry automatic_solver(const Loss& loss);

}  // namespace espalier
