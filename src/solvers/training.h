#pragma once

#include <optional>

#include "espalier/features/weights.h"
#include "espalier/learning/dual_state.h"
#include "learning/clique_state.h"
#include "learning/mean_state.h"

namespace espalier {

// What a run starts from and leaves behind. Dual solvers keep their duals as a warm start for the next l2,
// each in its way.
struct Training {
  Weights theta;
  std::optional<DualState> dual;       // scores
  std::optional<MeanState> means;      // expected statistics
  std::optional<CliqueState> cliques;  // clique marginals
};

}  // namespace espalier
