#pragma once

#include <memory>
#include <optional>
#include <string>

#include "espalier/tasks/task.h"

namespace espalier {

// Classification: one label an example, scored by theta_y.x; the error rate, or the mean cost where a file gives costs.
struct ClassifyOptions {
  std::optional<std::string> format;  // default: what the path looks like
  std::optional<std::size_t> first;   // only the first N training examples
  bool bias = false;                  // a constant attribute
  std::string costs;                  // a file with the cost of each gold and predicted label; empty: 0/1
};

inline constexpr int kClassifyVersion = 1;

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_classify_training(const std::string& path, const ClassifyOptions& options);
std::unique_ptr<Predictor> load_classify_predictor(const StoredTask& stored);

}  // namespace espalier
