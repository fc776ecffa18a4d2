#pragma once

#include <string_view>

#include "espalier/solvers/registry.h"
#include "espalier/train/train.h"

namespace espalier {

// What a solver is told, without what depends on data.
SolverSettings solver_settings(const TrainOptions& options);

// Throws Error if options ask for what belongs to one run: an initial model, a checkpoint, several seeds.
// `what` says where they are not for.
void refuse_options_of_one_run(const TrainOptions& options, std::string_view what);

}  // namespace espalier
