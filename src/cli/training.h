#pragma once

#include <string>

#include "cli/training_options.h"

namespace espalier::cli {

// `espalier train` for one l2: reads, trains, saves. Returns the exit status.
int train_one(const TrainingOptions& options, double l2);

// `espalier path`, and `train --l2 auto`: reads, trains a path, prints its table on standard output if asked, saves the best model.
int train_path(const TrainingOptions& options, const PathOptions& path, bool print_table);

}  // namespace espalier::cli
