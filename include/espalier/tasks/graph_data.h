#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "espalier/tasks/graph.h"
#include "espalier/tasks/labelled_graph.h"

namespace espalier {

// Labelled graphs in memory, to train on: what a file of JSON Lines has. Numbers of lines in messages are
// those of graphs, from 1.
class GraphData {
 public:
  struct NodeType {
    std::string name;
    std::vector<std::string> labels;
  };
  struct CliqueType {
    std::string name;
    std::vector<std::string> nodes;  // the types of its nodes
    std::vector<std::vector<std::string>> forbidden{};
  };

  // What a file declares before its first graph. Optional: other types and labels are added in the order in
  // which they occur.
  void declare(NodeType type) { node_types_.push_back(std::move(type)); }
  void declare(CliqueType type) { clique_types_.push_back(std::move(type)); }
  // make_graph_training() checks it, together with all other graphs and types.
  void add(LabelledGraph graph) { graphs_.push_back(std::move(graph)); }

  std::size_t size() const { return graphs_.size(); }
  const LabelledGraph& graph(std::size_t i) const { return graphs_[i]; }
  const std::vector<NodeType>& node_types() const { return node_types_; }
  const std::vector<CliqueType>& clique_types() const { return clique_types_; }

 private:
  std::vector<LabelledGraph> graphs_;
  std::vector<NodeType> node_types_;
  std::vector<CliqueType> clique_types_;
};

// What read_graph_training() makes of a file. `dev` is held-out data, whose labels may be new. None of them
// need outlive the result. Throws Error for what does not fit: a label that is missing or not allowed, a
// clique of nodes that are not there, a type of other nodes than before, ...
std::unique_ptr<TrainingSet> make_graph_training(const GraphData& data, const GraphOptions& options = {},
                                                 const GraphData* dev = nullptr);

}  // namespace espalier
