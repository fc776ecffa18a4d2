#pragma once

#include <string>

#include "cli/display.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/task.h"

namespace espalier::cli {

// `--init`: what a run starts from, given another model's weights, matched by name. Says on the display what matched. Throws
// Error where the model is of another task, or has no label or no attribute of this data.
Training start_from_model(const std::string& path, const TrainingSet& data, const Objective& objective,
                          const SolverEntry& solver, Display& display);

}  // namespace espalier::cli
