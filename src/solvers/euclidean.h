#pragma once

#include <string_view>

#include "espalier/base/error.h"
#include "espalier/learning/problem.h"

namespace espalier {

// For solvers that take weights for coordinates. Throws Error if they are coefficients of a kernel's
// expansion.
inline void check_euclidean(std::string_view solver, const Problem& problem) {
  if (!problem.kernel()) return;
  throw Error::in(solver, "given for a problem with a kernel", "expected a solver of the dual, such as eg");
}

}  // namespace espalier
