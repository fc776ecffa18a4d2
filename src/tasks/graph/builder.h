#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/graph.h"
#include "tasks/graph/reader.h"

namespace espalier {

// Makes records of graphs: finds the numbers of types, labels and features by their names, and all that is
// wrong.
class GraphBuilder {
 public:
  // Throws Error, and knows where.
  using Fail = std::function<void(const std::string& found, const std::string& expected)>;

  // Types grow with the graphs.
  GraphBuilder(const GraphReadOptions& options, GraphTypes& types, Fail fail)
      : options_(options), types_(types), growing_(&types), fail_(std::move(fail)) {}
  // Types are those of a model: other types are errors, other features are left out, other labels unknown.
  GraphBuilder(const GraphReadOptions& options, const GraphTypes& types, Fail fail)
      : options_(options), types_(types), fail_(std::move(fail)) {}

  // Whether types grow: a model has its own, and no use for declarations.
  bool grows() const { return growing_ != nullptr; }
  // Both require that types grow.
  void declare_nodes(const std::string& name, std::span<const std::string> labels);
  void declare_cliques(const std::string& name, std::span<const std::string> nodes,
                       std::span<const std::vector<std::string>> forbidden);

  // All of the record but its line and JSON.
  void build(const LabelledGraph& graph, GraphRecord& record);

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;

 private:
  using Labellings = std::vector<std::vector<std::uint32_t>>;

  void build_node(const LabelledGraph::Node& from, const std::string& where, GraphRecord::Node& node);
  void build_clique(const LabelledGraph::Clique& from, const std::string& where, const GraphRecord& record,
                    GraphRecord::Clique& clique);
  GraphRecord::Features find_features(const std::optional<LabelledGraph::Features>& features,
                                      const std::string& where, const Dictionary& known, Dictionary* growing);
  // Joint labellings of nodes of these types; those with a label that is unknown cannot come up, and are left
  // out.
  Labellings find_forbidden(std::span<const std::vector<std::string>> forbidden, const std::string& where,
                            std::span<const std::uint32_t> node_types);
  float checked_cost(double cost, const std::string& where) const;
  void check_gold(const GraphRecord& record) const;
  std::uint32_t node_type(const std::string& name, const std::string& where);
  std::uint32_t clique_type(const std::string& name, const std::string& where,
                            std::vector<std::uint32_t> nodes);
  std::uint32_t label(std::uint32_t type, std::string_view name);

  GraphReadOptions options_;
  const GraphTypes& types_;
  GraphTypes* growing_ = nullptr;
  Fail fail_;
};

}  // namespace espalier
