#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/task.h"
#include "selection/path_run.h"

namespace espalier {

// What makes a run the run that it is: task, loss, l2 (one or all of a path), solver, the task's settings,
// and fingerprints of the training data and of whatever else defines the objective. Flat: each key says by
// its name what differs. How long to train, random numbers and threads are no part of it.
Json run_identity(const TrainingSet& data, const Loss& loss, const Json& l2, std::string_view solver);

// A run on its way. One value of l2 is a path that has no points yet.
struct Checkpoint {
  PathInProgress path;
  std::vector<std::string> headlines;  // how good each of its points is, for people
};

// In the container of models, atomically: duals (scores and curvatures; marginals follow from them) or
// weights, passes and seconds, and of a path the finished values with the best weights.
void save_checkpoint(const std::string& file, const Json& identity, const Checkpoint& checkpoint);

// Throws Error if the file is not a checkpoint, is damaged, or is of another run, and then says what differs.
Checkpoint load_checkpoint(const std::string& file, const Json& identity, const Problem& problem);

}  // namespace espalier
