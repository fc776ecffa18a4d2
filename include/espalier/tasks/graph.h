#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/input_files.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/task.h"

namespace espalier {

// A graph whose nodes have labels, or are to get some: what a line of a file has (docs/formats.md). Nodes
// count from 0.
struct LabelledGraph {
  using Features = std::vector<std::pair<std::string, double>>;  // each at most once
  struct Node {
    std::string type = "node";
    std::optional<Features> features{};                   // none given: "constant", of the value 1
    std::vector<std::string> allowed{};                   // labels; none: all of the type
    double cost = 1;                                      // of a wrong label
    std::vector<std::pair<std::string, double>> costs{};  // of single labels
    std::optional<std::string> label{};                   // none: not known
  };
  struct Clique {
    std::string type = "clique";
    std::vector<std::uint32_t> nodes{};
    std::optional<Features> features{};
    std::vector<std::vector<std::string>> forbidden{};  // joint labellings of its nodes
  };
  std::vector<Node> nodes{};
  std::vector<Clique> cliques{};
  double weight = 1;  // how much it counts in training
};

// Markov random fields over any graph: a label for each node.
struct GraphOptions {
  std::string inference = "auto";  // exact, bp, trw or auto: exact where it fits in memory, else trw
  std::size_t memory = std::size_t{2} << 30;  // bytes that exact inference may take
  bool nodes_only = false;                    // cliques are left out: each node for itself
  std::optional<std::size_t> first;           // only the first N training graphs
  std::string kernel;  // of nodes, as docs/kernels.md has them; empty: none, and weights of features
  std::size_t kernel_memory = std::size_t{1} << 30;  // bytes for its matrices
};

struct GraphPredictOptions {
  std::string format = "jsonl";  // the only one
  bool marginals = false;        // the probability of every label
  std::size_t kbest = 0;         // the k best labellings with their scores; 0: just the best
  // Outputs drawn from the distribution of the model, with the seed, in place of the best one; 0: none.
  std::size_t samples = 0;
  std::uint64_t seed = 1;
  bool entropy = false;     // of that distribution, in nats
  bool json = false;        // JSON Lines with or without it, as there is nothing else
  std::size_t threads = 0;  // 0: one for each processor; the output does not depend on it
};

inline constexpr int kGraphVersion = 2;        // with a kernel
inline constexpr int kLinearGraphVersion = 1;  // without

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_graph_training(const InputFiles& files, const GraphOptions& options);
std::unique_ptr<Predictor> load_graph_predictor(const StoredTask& stored);

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
  // How good its labels are: what `espalier eval` says of a file. Throws Error for graphs without labels, and
  // without graphs.
  Evaluation evaluate(const GraphData& gold) const;

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
  // Error if there are none, since inference is approximate.
  bool has_kbest() const;
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);
  // Labellings drawn from the distribution of the model, independently of each other, with their scores; the
  // first of many are those of few. And the entropy of the distribution, in nats. Both throw Error where
  // inference is approximate, as kbest() does.
  std::vector<Scored> samples(std::size_t n, std::uint64_t seed);
  double entropy();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
