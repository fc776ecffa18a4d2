#pragma once

#include "espalier/solvers/eg.h"

namespace espalier::test_support {

// A run of EG, and what it leaves.
struct EgSolution {
  EgSolution(const Objective& objective, const EgOptions& options, decltype(&eg) solve = eg)
      : dual(objective.problem),
        theta(objective.problem.weight_shape()),
        summary(solve(objective, options, dual, theta, {})) {}

  DualState dual;
  Weights theta;
  Summary summary;
  const Progress& last() const { return summary.history.back(); }
};

}  // namespace espalier::test_support
