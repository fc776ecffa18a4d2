#pragma once

#include <vector>

#include "espalier/solvers/registry.h"

namespace espalier {

// One solver made of several, each of which gets the next one close. A stage before the last ends when its
// relative gap is below kCloseEnough, or when its gap has fallen by less than a tenth over the last kPatience
// passes; passes, seconds and reports run on. A run that continues from weights or duals at hand is close
// already: it has the last stage alone. Requires a stage.
SolverEntry solvers_in_sequence(std::vector<SolverEntry> stages);

}  // namespace espalier
