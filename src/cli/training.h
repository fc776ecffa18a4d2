#pragma once

#include <string>
#include <variant>

#include "cli/training_options.h"

namespace espalier::cli {

// `espalier train` for one l2: reads, trains, saves. Returns the exit status.
int train_one(const TrainingOptions& options, double l2);

// `espalier path`: reads, trains a path, prints its table on standard output, saves the best model.
int train_path(const TrainingOptions& options, const std::variant<PathOptions, L1Path>& path);

// `train --l2 auto`: reads, searches for l2, saves the best model.
int train_search(const TrainingOptions& options, const L2Range& range);

}  // namespace espalier::cli
