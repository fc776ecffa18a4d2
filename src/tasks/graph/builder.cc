#include "tasks/graph/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// A list of names as a message shows it.
std::string shown(std::span<const std::string> names) {
  return in_quotes(Json(std::vector<std::string>(names.begin(), names.end())).dump());
}

std::string names_of(const GraphTypes& types, std::span<const std::uint32_t> nodes) {
  std::string text;
  for (const std::uint32_t t : nodes)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", types.nodes[t].name);
  return text;
}

}  // namespace

void GraphBuilder::fail(const std::string& found, const std::string& expected) const {
  fail_(found, expected);
  std::terminate();  // it throws
}

void GraphBuilder::declare_nodes(const std::string& name, std::span<const std::string> labels) {
  const std::string where = "type " + in_quotes(name);
  const std::uint32_t type = node_type(name, where);
  if (labels.empty()) fail(where + ": labels " + shown(labels), "expected a list of labels");
  for (const std::string& name_of_label : labels) label(type, name_of_label);
}

void GraphBuilder::declare_cliques(const std::string& name, std::span<const std::string> nodes,
                                   std::span<const std::vector<std::string>> forbidden) {
  const std::string where = "type " + in_quotes(name);
  if (nodes.empty()) fail(where + ": nodes " + shown(nodes), "expected a list of node types");
  std::vector<std::uint32_t> node_types;
  for (const std::string& node : nodes) node_types.push_back(node_type(node, where));
  const std::uint32_t type = clique_type(name, where, node_types);
  for (auto& labelling : find_forbidden(forbidden, where, node_types))
    growing_->cliques[type].forbidden.push_back(std::move(labelling));
}

void GraphBuilder::build(const LabelledGraph& graph, GraphRecord& record) {
  record = {};
  if (graph.nodes.empty()) fail("a graph without nodes", "expected at least one");
  for (std::size_t v = 0; v < graph.nodes.size(); ++v)
    build_node(graph.nodes[v], fmt::format("node {}", v), record.nodes.emplace_back());
  for (std::size_t c = 0; !options_.nodes_only && c < graph.cliques.size(); ++c)
    build_clique(graph.cliques[c], fmt::format("clique {}", c), record, record.cliques.emplace_back());
  if (!(graph.weight > 0) || !std::isfinite(graph.weight))
    fail(fmt::format("\"weight\": '{}'", graph.weight), "expected a number > 0");
  record.weight = graph.weight;
  if (!options_.needs_labels) return;
  for (std::size_t v = 0; v < graph.nodes.size(); ++v) {
    if (!graph.nodes[v].label) fail(fmt::format("node {}: no label", v), "expected one per node");
    record.nodes[v].gold = label(record.nodes[v].type, *graph.nodes[v].label);
  }
  if (growing_) check_gold(record);
}

void GraphBuilder::build_node(const LabelledGraph::Node& from, const std::string& where,
                              GraphRecord::Node& node) {
  node.type = node_type(from.type, where);
  node.features = find_features(from.features, where, types_.nodes[node.type].features,
                                growing_ ? &growing_->nodes[node.type].features : nullptr);
  for (const std::string& name : from.allowed) {
    const std::uint32_t y = label(node.type, name);
    if (y != GraphRecord::kUnknownLabel) node.allowed.push_back(y);
  }
  if (node.allowed.empty() && !from.allowed.empty())
    fail(where + ": allowed " + shown(from.allowed), "expected a label that the model knows");
  node.cost = checked_cost(from.cost, where);
  for (const auto& [name, cost] : from.costs) {
    const std::uint32_t y = label(node.type, name);
    const float of_label = checked_cost(cost, where);
    if (y != GraphRecord::kUnknownLabel) node.costs.emplace_back(y, of_label);
  }
}

float GraphBuilder::checked_cost(double cost, const std::string& where) const {
  const auto result = static_cast<float>(cost);
  if (!(cost >= 0) || !std::isfinite(result))
    fail(fmt::format("{}: cost '{}'", where, cost), "expected a number >= 0");
  return result;
}

void GraphBuilder::build_clique(const LabelledGraph::Clique& from, const std::string& where,
                                const GraphRecord& record, GraphRecord::Clique& clique) {
  if (from.nodes.empty()) fail(where + ": nodes '[]'", "expected a list of nodes such as [0, 1]");
  std::vector<std::uint32_t> node_types;
  for (const std::uint32_t v : from.nodes) {
    if (v >= record.nodes.size())
      fail(fmt::format("{}: node '{}'", where, v), fmt::format("expected 0 to {}", record.nodes.size() - 1));
    if (std::find(clique.nodes.begin(), clique.nodes.end(), v) != clique.nodes.end())
      fail(fmt::format("{}: node {} twice", where, v), "expected different nodes");
    clique.nodes.push_back(v);
    node_types.push_back(record.nodes[v].type);
  }
  clique.type = clique_type(from.type, where, node_types);
  clique.features = find_features(from.features, where, types_.cliques[clique.type].features,
                                  growing_ ? &growing_->cliques[clique.type].features : nullptr);
  clique.forbidden = find_forbidden(from.forbidden, where, node_types);
}

GraphBuilder::Labellings GraphBuilder::find_forbidden(std::span<const std::vector<std::string>> forbidden,
                                                      const std::string& where,
                                                      std::span<const std::uint32_t> node_types) {
  Labellings result;
  for (const auto& labels : forbidden) {
    if (labels.size() != node_types.size())
      fail(where + ": forbidden " + shown(labels),
           fmt::format("expected a list of lists of {} label{} each", node_types.size(),
                       node_types.size() == 1 ? "" : "s"));
    std::vector<std::uint32_t> labelling;
    for (std::size_t k = 0; k < labels.size(); ++k) labelling.push_back(label(node_types[k], labels[k]));
    if (std::find(labelling.begin(), labelling.end(), GraphRecord::kUnknownLabel) == labelling.end())
      result.push_back(std::move(labelling));
  }
  return result;
}

GraphRecord::Features GraphBuilder::find_features(const std::optional<LabelledGraph::Features>& features,
                                                  const std::string& where, const Dictionary& known,
                                                  Dictionary* growing) {
  GraphRecord::Features result;
  const auto add = [&](std::string_view name, double value) {
    if (!std::isfinite(static_cast<float>(value)))
      fail(fmt::format("{}: feature {} of {}", where, in_quotes(name), value),
           "expected a value that a float holds");
    const auto id = growing ? std::optional(growing->add(name)) : known.find(name);
    if (id && value != 0) result.emplace_back(*id, static_cast<float>(value));
  };
  if (!features) {
    add(kConstantFeature, 1);
    return result;
  }
  for (const auto& [name, value] : *features) add(name, value);
  // A name may repeat, as in lists of names, but not with two values.
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  const auto twice = std::adjacent_find(result.begin(), result.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != result.end())
    fail(fmt::format("{}: feature {} with two values", where, in_quotes(known.name(twice->first))),
         "expected one");
  return result;
}

// What training needs: gold labels that are possible and cost nothing.
void GraphBuilder::check_gold(const GraphRecord& record) const {
  for (std::size_t v = 0; v < record.nodes.size(); ++v) {
    const GraphRecord::Node& node = record.nodes[v];
    const std::string name(types_.nodes[node.type].labels.name(node.gold));
    if (!node.allowed.empty() &&
        std::find(node.allowed.begin(), node.allowed.end(), node.gold) == node.allowed.end())
      fail(fmt::format("node {}: its label {} is not allowed", v, in_quotes(name)),
           "expected an allowed label");
    for (const auto& [label, cost] : node.costs) {
      if (label == node.gold && cost != 0)
        fail(fmt::format("node {}: its label {} costs {}", v, in_quotes(name), cost),
             "expected correct labels to cost 0");
    }
  }
  for (std::size_t c = 0; c < record.cliques.size(); ++c) {
    const GraphRecord::Clique& clique = record.cliques[c];
    std::vector<std::uint32_t> gold;
    for (const std::uint32_t v : clique.nodes) gold.push_back(record.nodes[v].gold);
    for (const auto* forbidden : {&clique.forbidden, &types_.cliques[clique.type].forbidden}) {
      if (std::find(forbidden->begin(), forbidden->end(), gold) != forbidden->end())
        fail(fmt::format("clique {}: its labels are forbidden", c), "expected allowed labels");
    }
  }
}

std::uint32_t GraphBuilder::node_type(const std::string& name, const std::string& where) {
  const std::size_t type = types_.find_node_type(name);
  if (type < types_.nodes.size()) return static_cast<std::uint32_t>(type);
  if (!growing_)
    fail(fmt::format("{}: the type {}", where, in_quotes(name)),
         "expected a type of nodes that the model knows");
  // Weights are called TYPE:FEATURE.
  if (name.empty() || name.find(':') != std::string::npos)
    fail(fmt::format("{}: the type {}", where, in_quotes(name)), "expected a name without ':'");
  if (types_.find_clique_type(name) < types_.cliques.size())
    fail(fmt::format("{}: the type {}, which is one of cliques", where, in_quotes(name)),
         "expected another name");
  growing_->nodes.emplace_back();
  growing_->nodes.back().name = name;
  return static_cast<std::uint32_t>(type);
}

std::uint32_t GraphBuilder::clique_type(const std::string& name, const std::string& where,
                                        std::vector<std::uint32_t> nodes) {
  const std::size_t type = types_.find_clique_type(name);
  if (type < types_.cliques.size()) {
    if (types_.cliques[type].nodes != nodes)
      fail(fmt::format("{}: the type {} with nodes of the types {}", where, in_quotes(name),
                       names_of(types_, nodes)),
           fmt::format("expected {}, as before", names_of(types_, types_.cliques[type].nodes)));
    return static_cast<std::uint32_t>(type);
  }
  if (!growing_)
    fail(fmt::format("{}: the type {}", where, in_quotes(name)),
         "expected a type of cliques that the model knows");
  if (name.empty() || name.find(':') != std::string::npos)
    fail(fmt::format("{}: the type {}", where, in_quotes(name)), "expected a name without ':'");
  if (types_.find_node_type(name) < types_.nodes.size())
    fail(fmt::format("{}: the type {}, which is one of nodes", where, in_quotes(name)),
         "expected another name");
  growing_->cliques.emplace_back();
  growing_->cliques.back().name = name;
  growing_->cliques.back().nodes = std::move(nodes);
  return static_cast<std::uint32_t>(type);
}

std::uint32_t GraphBuilder::label(std::uint32_t type, std::string_view name) {
  if (growing_) return growing_->nodes[type].labels.add(name);
  return types_.nodes[type].labels.find(name).value_or(GraphRecord::kUnknownLabel);
}

}  // namespace espalier
