#pragma once

#include <memory>
#include <string>

#include "espalier/tasks/parse.h"
#include "espalier/tasks/registry.h"

namespace espalier {

// read_parse_training() and make_parse_training() of train/read.h, with whom they need for the model that
// prunes heads.
std::unique_ptr<TrainingSet> read_parse_training(const InputFiles& files, const ParseOptions& options,
                                                 const RoughTrainer& train_roughly);
std::unique_ptr<TrainingSet> make_parse_training(const ParseData& data, const ParseOptions& options,
                                                 const ParseData* dev, const RoughTrainer& train_roughly);

}  // namespace espalier
