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
  std::string kernel;                 // as docs/kernels.md has them; empty: none, and weights of attributes
  std::size_t kernel_memory = std::size_t{1} << 30;  // bytes for its matrix
};

struct ClassifyPredictOptions {
  std::optional<std::string> format{};  // default: the one that the model was trained on
  bool marginals = false;               // the probability of every label
  std::size_t kbest = 0;                // the k best labels with their scores; 0: just the best
  std::size_t threads = 1;              // at least 1; one is used: reading takes longer than labelling
};

inline constexpr int kClassifyVersion = 2;        // with a kernel
inline constexpr int kLinearClassifyVersion = 1;  // without

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_classify_training(const std::string& path, const ClassifyOptions& options);
std::unique_ptr<Predictor> load_classify_predictor(const StoredTask& stored);

}  // namespace espalier
