#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "espalier/tasks/task.h"

namespace espalier {

// Markov random fields over any graph: a label for each node.
struct GraphOptions {
  std::string inference = "auto";  // exact, bp, trw or auto: exact where it fits in memory, else trw
  std::size_t memory = std::size_t{2} << 30;  // bytes that exact inference may take
  bool nodes_only = false;                    // cliques are left out: each node for itself
  std::optional<std::size_t> first;           // only the first N training graphs
  bool maxima = false;                        // trained with an infinite beta
  std::string kernel;  // of nodes, as docs/kernels.md has them; empty: none, and weights of features
  std::size_t kernel_memory = std::size_t{1} << 30;  // bytes for its matrices
};

struct GraphPredictOptions {
  std::string format = "jsonl";  // the only one
  bool marginals = false;        // the probability of every label
  std::size_t kbest = 0;         // the k best labellings with their scores; 0: just the best
  std::size_t threads = 1;       // at least 1; the output does not depend on it
};

inline constexpr int kGraphVersion = 2;        // with a kernel
inline constexpr int kLinearGraphVersion = 1;  // without

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_graph_training(const std::string& path, const GraphOptions& options);
std::unique_ptr<Predictor> load_graph_predictor(const StoredTask& stored);

}  // namespace espalier
