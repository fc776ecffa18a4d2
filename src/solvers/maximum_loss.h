#pragma once

#include <string_view>

#include "espalier/learning/loss.h"

namespace espalier {

// Throws Error if the loss has a finite beta, for solvers of maxima alone. `expected` names what the user may
// do instead.
void check_maximum_loss(std::string_view solver, const Loss& loss,
                        std::string_view expected = "expected one with infinite beta");

}  // namespace espalier
