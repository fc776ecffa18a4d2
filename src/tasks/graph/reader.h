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

#include "base/input.h"
#include "espalier/base/json.h"
#include "espalier/features/dictionary.h"
#include "espalier/tasks/graph.h"

namespace espalier {

class GraphBuilder;

// What nodes and cliques of one type have in common: their labels, their features, what is forbidden.
struct GraphNodeType {
  std::string name;
  Dictionary labels, features;
};
struct GraphCliqueType {
  std::string name;
  std::vector<std::uint32_t> nodes;  // the types of its nodes
  Dictionary features;
  std::vector<std::vector<std::uint32_t>> forbidden;  // joint labellings that no clique of the type has
};
struct GraphTypes {
  std::vector<GraphNodeType> nodes;
  std::vector<GraphCliqueType> cliques;

  // Their place in the lists above, or the size of the list.
  std::size_t find_node_type(std::string_view name) const;
  std::size_t find_clique_type(std::string_view name) const;
};

// One line of a file.
struct GraphRecord {
  static constexpr std::uint32_t kUnknownLabel = ~0u;
  using Features = std::vector<std::pair<std::uint32_t, float>>;  // each at most once
  struct Node {
    std::uint32_t type;
    Features features;
    std::vector<std::uint32_t> allowed;                  // labels; none: all of the type
    float cost = 1;                                      // of a wrong label
    std::vector<std::pair<std::uint32_t, float>> costs;  // of single labels
    std::uint32_t gold = kUnknownLabel;
  };
  struct Clique {
    std::uint32_t type;
    std::vector<std::uint32_t> nodes;
    Features features;
    std::vector<std::vector<std::uint32_t>> forbidden;
  };
  std::vector<Node> nodes;
  std::vector<Clique> cliques;
  double weight = 1;
  std::size_t line = 0;
  Json json;  // as it was read
};

struct GraphReadOptions {
  bool needs_labels = true;
  bool nodes_only = false;  // cliques are read over
};

// The attribute of nodes and cliques that name no features; its value is 1.
inline constexpr std::string_view kConstantFeature = "constant";

// JSON Lines, one graph per line (docs/formats.md). Throws Error::at for what it cannot read.
class GraphReader {
 public:
  // Types grow with what is read.
  GraphReader(const std::string& path, const GraphReadOptions& options, GraphTypes& types);
  // Types are those of a model: other types are errors, other features are left out, other labels unknown.
  GraphReader(const std::string& path, const GraphReadOptions& options, const GraphTypes& types);
  ~GraphReader();

  // False at the end of the file.
  bool next(GraphRecord& record);
  // The last one by the names that the file has, with its labels if those are needed: for GraphData.
  const LabelledGraph& graph() const { return graph_; }
  // The lines that declare types, seen since the last graph; for those who write what they read.
  std::span<const std::string> declarations() const { return declarations_; }
  const std::string& name() const { return lines_.name(); }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  void declare_types(const Json& json);
  void declare_type(const std::string& name, const Json& json);
  void read_graph(const Json& json);
  void read_node(const Json& json);
  void read_clique(const Json& json);
  void read_labels(const Json& json);
  std::vector<std::string> read_names(const Json& json, const std::string& where, const char* what) const;
  std::optional<LabelledGraph::Features> read_features(const Json& json, const std::string& where) const;
  std::vector<std::vector<std::string>> read_forbidden(const Json& json, const std::string& where,
                                                       std::size_t num_nodes) const;

  LineReader lines_;
  GraphReadOptions options_;
  std::unique_ptr<GraphBuilder> builder_;
  LabelledGraph graph_;
  std::vector<std::string> declarations_;
  bool any_graph_ = false;
};

}  // namespace espalier
