#pragma once

#include <memory>
#include <span>
#include <string>

#include "espalier/base/input_files.h"
#include "espalier/model/model.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/registry.h"

namespace espalier {

// Training data of any task, by its row in the table. Throws Error for what it cannot read, and Stopped where
// reading.stop was set.
std::unique_ptr<TrainingSet> read_training(const TaskEntry& task, const InputFiles& files,
                                           const OptionValues& options, Reading reading = {});

// An option as it is typed.
struct TypedOption {
  std::string name, text;
};
// The options that a model's training data were read with, as it says, or else as they are given here. Throws
// Error for options that are none of its task, and for given ones without an effect.
OptionValues reading_options(const Model& model, std::span<const TypedOption> given = {});
// The data that a model was trained on, for whoever certifies it. What training has to learn before it has a
// problem, such as which heads a parser prunes, is the model's.
std::unique_ptr<TrainingSet> read_training_of(const Model& model, const std::string& path,
                                              const OptionValues& options, Reading reading = {});

// The same for dependency trees, which need a simpler model to prune heads before there is a problem to
// train. Throws Stopped where options.stop was set.
std::unique_ptr<TrainingSet> read_parse_training(const InputFiles& files, const ParseOptions& options);
// What read_parse_training() makes of a file. `dev` is held-out data. None of them need outlive the result.
// Throws Error if relations are to be learnt and a word has none.
std::unique_ptr<TrainingSet> make_parse_training(const ParseData& data, const ParseOptions& options = {},
                                                 const ParseData* dev = nullptr);

}  // namespace espalier
