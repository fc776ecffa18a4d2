#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/task.h"
#include "selection/path_run.h"

namespace espalier {

class RankProblem;

// What makes a run the run that it is: task, loss, l2 (one or all of a path), solver, the task's settings,
// and fingerprints of the training data and of whatever else defines the objective. Flat: each key says by
// its name what differs. How long to train, random numbers and threads are no part of it.
Json run_identity(const TrainingSet& data, const Loss& loss, const Json& l2, std::string_view solver);

// The weights that were best on held-out data so far, with the report that certifies them.
struct BestOnDev {
  Weights theta;
  Progress progress;
  double dev_error = 0;
  std::string headline;
  std::size_t reports_since = 0;  // that were not better
};

// A run on its way. One value of l2 is a path that has no points yet.
struct Checkpoint {
  PathInProgress path;
  std::vector<std::string> headlines;      // how good each of its points is, for people
  std::optional<BestOnDev> best_on_dev{};  // of a run that looks at them (TrainOptions::patience)
};

// In the container of models, atomically: duals (scores and curvatures; marginals follow from them) or
// weights, passes and seconds, and of a path the finished values with the best weights.
//
// Of several ranks, each writes the duals of its examples to a file of its own beside it; then rank 0 writes
// this one, which names them, and removes those of the one before. All ranks call it with their shares.
void save_checkpoint(const std::string& file, const Json& identity, const Checkpoint& checkpoint,
                     const RankProblem* share = nullptr);
// With the files of ranks, if it has some. Whatever is not there need not be removed.
void remove_checkpoint(const std::string& file);

// Whoever wrote it, one rank or several, whoever reads takes the duals of the examples that `problem` has.
// Throws Error if the file is not a checkpoint, is damaged, or is of another run, and then says what differs.
Checkpoint load_checkpoint(const std::string& file, const Json& identity, const Problem& problem);

}  // namespace espalier
