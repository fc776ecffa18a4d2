#include "espalier/train/read.h"

#include <utility>

#include "base/naming_file.h"
#include "espalier/solvers/eg.h"
#include "tasks/parse/training.h"

namespace espalier {
namespace {

// A model that is soon good enough: eg.
Weights train_roughly(const Problem& problem, const RoughRun& run) {
  EgOptions options;
  options.stopping.gap = run.gap;
  options.stopping.passes = run.passes;
  options.stopping.stop = run.stop;
  options.threads = run.threads;
  DualState dual(problem);
  Weights theta(problem.weight_shape());
  eg({problem, Loss::crf(), run.l2}, options, dual, theta);
  return theta;
}

}  // namespace

std::unique_ptr<TrainingSet> read_training(const TaskEntry& task, const std::string& path,
                                           const OptionValues& options, Reading reading) {
  if (!reading.train_roughly) reading.train_roughly = train_roughly;
  return naming_file(path, [&] { return task.read(path, options, reading); });
}

std::unique_ptr<TrainingSet> read_parse_training(const std::string& path, const ParseOptions& options) {
  return read_parse_training(path, options, train_roughly);
}

std::unique_ptr<TrainingSet> make_parse_training(const ParseData& data, const ParseOptions& options,
                                                 const ParseData* dev) {
  return make_parse_training(data, options, dev, train_roughly);
}

}  // namespace espalier
