#pragma once

#include <memory>
#include <string>

#include "espalier/base/input_files.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/registry.h"

namespace espalier {

// Training data of any task, by its row in the table. Throws Error for what it cannot read, and Stopped where
// reading.stop was set.
std::unique_ptr<TrainingSet> read_training(const TaskEntry& task, const InputFiles& files,
                                           const OptionValues& options, Reading reading = {});

// The same for dependency trees, which need a simpler model to prune heads before there is a problem to
// train. Throws Stopped where options.stop was set.
std::unique_ptr<TrainingSet> read_parse_training(const InputFiles& files, const ParseOptions& options);
// What read_parse_training() makes of a file. `dev` is held-out data. None of them need outlive the result.
// Throws Error if relations are to be learnt and a word has none.
std::unique_ptr<TrainingSet> make_parse_training(const ParseData& data, const ParseOptions& options = {},
                                                 const ParseData* dev = nullptr);

}  // namespace espalier
