#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "espalier/features/sparse_rows.h"
#include "espalier/tasks/task.h"
#include "features/graph_features.h"
#include "features/kernel_nodes.h"
#include "learning/graph_problem.h"
#include "structures/markov_graph.h"
#include "tasks/graph/reader.h"

namespace espalier {

// All of a model of graphs but its weights.
struct GraphModel {
  GraphTypes types;
  GraphInference inference = GraphInference::automatic;
  std::size_t memory = std::size_t{2} << 30;  // bytes that exact inference may take
  bool nodes_only = false;
  // By type of nodes, what weights are coefficients of; none: weights of features.
  std::vector<std::shared_ptr<const KernelNodes>> kernels;

  // Node types first, then clique types. Throws Error naming `file` where tables are too large.
  std::vector<GraphTypeSize> sizes(const std::string& file) const;
  GraphInferenceOptions inference_options() const;
  // "pixel: 2 labels, 3 features; right of 2 nodes: 1 feature", and the kernel.
  std::string describe() const;

  TaskSections sections() const;
  static GraphModel load(const StoredTask& stored);
};

// The order of a graph's cliques: its nodes by their types, then its cliques by theirs.
struct GraphOrder {
  std::vector<std::uint32_t> nodes, cliques;
  explicit GraphOrder(const GraphRecord& record);
};

// Structures of records, made once for each shape that comes up.
class GraphShapes {
 public:
  explicit GraphShapes(const GraphModel& model) : model_(model) {}
  // Throws Error::at the record's line of `file` where inference would not fit.
  std::shared_ptr<const MarkovGraph> find(const GraphRecord& record, const GraphOrder& order,
                                          const std::string& file);

 private:
  const GraphModel& model_;
  std::unordered_map<std::string, std::shared_ptr<const MarkovGraph>> known_;
};

// Graphs as examples.
struct GraphSet {
  GraphSet(const GraphModel& model, const std::string& file);
  void add(const GraphRecord& record, GraphShapes& shapes);
  // theta is the first weight of all.
  void score(std::size_t i, const float* theta, std::span<double> s, Workspace& ws) const;

  const GraphModel& model;
  std::string file;
  GraphFeatures features;
  // Where the model has kernels, the rows of nodes by type, which need not be nodes of the kernels; features
  // have empty ones.
  std::vector<SparseRows> inputs;
  std::vector<GraphExample> examples;
};

// Nodes and graphs that are right.
class GraphScores {
 public:
  void add(std::span<const std::uint32_t> gold, std::span<const std::uint32_t> predicted);
  void add(const GraphScores& others);
  Evaluation evaluation() const;

 private:
  std::size_t nodes_ = 0, right_nodes_ = 0, graphs_ = 0, right_graphs_ = 0;
};

// Names of weights: TYPE:FEATURE with a label, or with those of all nodes of a clique. Coefficients of a
// kernel have none.
std::optional<std::size_t> find_graph_weight(const GraphModel& model, const GraphWeights& weights,
                                             const WeightName& name);
void for_each_graph_weight(const GraphModel& model, const GraphWeights& weights,
                           const std::function<void(const WeightName& name, std::size_t place)>& visit);
// Labels of all types of nodes; TYPE:FEATURE of all of them.
Dictionary all_labels(const GraphTypes& types);
Dictionary all_attributes(const GraphTypes& types);

}  // namespace espalier
