#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/labelled_graph.h"

namespace espalier {

struct GraphModel;
struct GraphRecord;

// Labels the nodes of graphs: what `espalier predict` does, for programs that have graphs in memory. A model
// has one (Model::graph_labeller()), const and thread-safe; each thread has a Graph of its own.
class GraphLabeller {
 public:
  class Graph;

  // Keeps references to the model and to the weights.
  GraphLabeller(const GraphModel& model, WeightsView theta, const Loss& loss)
      : model_(model), theta_(theta), loss_(loss) {}

  // False for models of beta = infinity, which have scores alone.
  bool has_probabilities() const { return loss_.smooth(); }

 private:
  const GraphModel& model_;
  WeightsView theta_;
  Loss loss_;
};

// One graph after another; what inference needs is kept for graphs of the same shape. Results are valid until
// the next set(). Functions that return probabilities throw Error if the model has none. All but size() throw
// Error before the first set(), and if constraints leave no labelling.
class GraphLabeller::Graph {
 public:
  struct Scored {
    std::vector<std::uint32_t> labels;  // of every node, by number
    double score;
  };

  // The labeller has to outlive it.
  explicit Graph(const GraphLabeller& labeller);
  ~Graph();
  Graph(Graph&&) noexcept;

  // The graph to label. Its labels, costs and weight are ignored, and so are features and labels that the
  // model does not know. Throws Error for types that it does not know, and for a graph that is malformed.
  void set(const LabelledGraph& graph);
  // A graph that was read already, from `file`, by the model's own types. It has to stay as it is.
  void set(const GraphRecord& record, std::string_view file);

  std::size_t size() const;
  // The labels that a node may have, by number.
  std::size_t num_labels(std::size_t node) const;
  std::string_view label(std::size_t node, std::uint32_t id) const;
  // The best labels.
  std::span<const std::uint32_t> labels();
  // The probability of every label of a node, where inference is approximate its belief.
  std::span<const double> marginals(std::size_t node);
  // The k best labellings with their scores, best first; and how probable one with such a score is. Throws
  // Error where there are none, since inference is approximate.
  bool has_kbest() const;
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
