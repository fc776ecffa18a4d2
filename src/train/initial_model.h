#pragma once

#include <string>

#include "espalier/model/model.h"
#include "espalier/solvers/registry.h"
#include "espalier/tasks/task.h"
#include "solvers/training.h"

namespace espalier {

// What a run starts from, given another model's weights, matched by name, and in a sentence what matched.
// Throws Error if the model is of another task, has no label or no attribute of this data, or its weights
// mean something else, since a setting is another.
struct InitialTraining {
  Training training;
  std::string text;
};
InitialTraining start_from_model(const Model& model, const TrainingSet& data, const Objective& objective,
                                 const SolverEntry& solver, const SolverSettings& settings);

}  // namespace espalier
