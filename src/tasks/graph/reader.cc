#include "tasks/graph/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "espalier/base/error.h"
#include "tasks/graph/builder.h"

namespace espalier {
namespace {

template <class Types>
std::size_t find_type(const Types& types, std::string_view name) {
  const auto at =
      std::find_if(types.begin(), types.end(), [&](const auto& type) { return type.name == name; });
  return static_cast<std::size_t>(at - types.begin());
}

// A JSON value as a message shows it.
std::string shown(const Json& json) { return in_quotes(json.dump()); }

}  // namespace

std::size_t GraphTypes::find_node_type(std::string_view name) const { return find_type(nodes, name); }
std::size_t GraphTypes::find_clique_type(std::string_view name) const { return find_type(cliques, name); }

GraphReader::GraphReader(const std::string& path, const GraphReadOptions& options, GraphTypes& types)
    : lines_(path),
      options_(options),
      builder_(std::make_unique<GraphBuilder>(
          options, types, [this](const auto& found, const auto& expected) { fail(found, expected); })) {}
GraphReader::GraphReader(const std::string& path, const GraphReadOptions& options, const GraphTypes& types)
    : lines_(path),
      options_(options),
      builder_(std::make_unique<GraphBuilder>(
          options, types, [this](const auto& found, const auto& expected) { fail(found, expected); })) {}
GraphReader::~GraphReader() = default;

void GraphReader::fail(const std::string& found, const std::string& expected) const {
  lines_.fail(found, expected);
}

bool GraphReader::next(GraphRecord& record) {
  declarations_.clear();
  for (std::string_view line; lines_.next(line);) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    Json json;
    try {
      json = Json::parse(line);
    } catch (const JsonSyntaxError& e) {
      fail(fmt::format("invalid JSON at column {}", e.column),
           "expected one object per line, such as {\"nodes\": [...]}");
    } catch (const JsonLimitError& e) {
      fail(e.found, e.expected);
    }
    if (!json.is_object()) fail(shown(json), "expected an object such as {\"nodes\": [...]}");
    if (json.contains("types") && !json.contains("nodes")) {
      declare_types(json["types"]);
      declarations_.emplace_back(line);
      continue;
    }
    read_graph(json);
    builder_->build(graph_, record);
    record.line = lines_.line_number();
    record.json = std::move(json);
    any_graph_ = true;
    return true;
  }
  return false;
}

void GraphReader::declare_types(const Json& json) {
  if (any_graph_) fail("\"types\" after a graph", "expected them before the first one");
  if (!json.is_object())
    fail("\"types\": " + shown(json), "expected an object such as {\"pixel\": {\"labels\": [...]}}");
  if (!builder_->grows()) return;  // a model has its own
  for (const auto& [name, type] : json.items()) declare_type(name, type);
}

void GraphReader::declare_type(const std::string& name, const Json& json) {
  const std::string where = "type " + in_quotes(name);
  if (!json.is_object()) fail(where + ": " + shown(json), "expected an object with labels, or with nodes");
  if (json.contains("nodes")) {
    if (!json["nodes"].is_array())
      fail(where + ": nodes " + shown(json["nodes"]), "expected a list of node types");
    const auto nodes = read_names(json["nodes"], where, "node type");
    std::vector<std::vector<std::string>> forbidden;
    if (json.contains("forbidden")) forbidden = read_forbidden(json["forbidden"], where, nodes.size());
    builder_->declare_cliques(name, nodes, forbidden);
    return;
  }
  const Json labels = json.value("labels", Json::array());
  if (!labels.is_array()) fail(where + ": labels " + shown(labels), "expected a list of labels");
  builder_->declare_nodes(name, read_names(labels, where, "label"));
}

void GraphReader::read_graph(const Json& json) {
  graph_ = {};
  if (!json.contains("nodes"))
    fail("a line without \"nodes\"", "expected a graph such as {\"nodes\": [...]}");
  const Json& nodes = json["nodes"];
  if (!nodes.is_array() || nodes.empty())
    fail("\"nodes\": " + shown(nodes), "expected a list of at least one node");
  for (const Json& node : nodes) read_node(node);
  if (json.contains("cliques") && !options_.nodes_only) {
    const Json& cliques = json["cliques"];
    if (!cliques.is_array()) fail("\"cliques\": " + shown(cliques), "expected a list of cliques");
    for (const Json& clique : cliques) read_clique(clique);
  }
  if (json.contains("weight")) {
    const Json& weight = json["weight"];
    if (!weight.is_number()) fail("\"weight\": " + shown(weight), "expected a number > 0");
    graph_.weight = weight.get<double>();
  }
  if (options_.needs_labels) read_labels(json);
}

void GraphReader::read_node(const Json& json) {
  const std::string where = fmt::format("node {}", graph_.nodes.size());
  LabelledGraph::Node& node = graph_.nodes.emplace_back();
  if (!json.is_object()) fail(where + ": " + shown(json), "expected an object such as {\"features\": {...}}");
  for (const auto& [key, value] : json.items()) {
    if (key != "type" && key != "features" && key != "allowed" && key != "cost")
      fail(where + ": " + in_quotes(key), "expected type, features, allowed or cost");
  }
  if (json.contains("type")) {
    if (!json["type"].is_string()) fail(where + ": type " + shown(json["type"]), "expected a string");
    node.type = json["type"].get<std::string>();
  }
  node.features = read_features(json.value("features", Json()), where);
  if (json.contains("allowed")) {
    const Json& allowed = json["allowed"];
    if (!allowed.is_array()) fail(where + ": allowed " + shown(allowed), "expected a list of labels");
    if (allowed.empty())
      fail(where + ": allowed " + shown(allowed),
           "expected a label that " + std::string(builder_->grows() ? "it may have" : "the model knows"));
    node.allowed = read_names(allowed, where, "allowed label");
  }
  if (!json.contains("cost")) return;
  const auto number = [&](const Json& value) {
    if (!value.is_number()) fail(where + ": cost " + shown(value), "expected a number >= 0");
    return value.get<double>();
  };
  if (!json["cost"].is_object()) {
    node.cost = number(json["cost"]);
    return;
  }
  for (const auto& [name, value] : json["cost"].items()) node.costs.emplace_back(name, number(value));
}

void GraphReader::read_clique(const Json& json) {
  const std::string where = fmt::format("clique {}", graph_.cliques.size());
  LabelledGraph::Clique& clique = graph_.cliques.emplace_back();
  if (!json.is_object()) fail(where + ": " + shown(json), "expected an object such as {\"nodes\": [0, 1]}");
  for (const auto& [key, value] : json.items()) {
    if (key != "type" && key != "features" && key != "nodes" && key != "forbidden")
      fail(where + ": " + in_quotes(key), "expected type, nodes, features or forbidden");
  }
  const Json nodes = json.value("nodes", Json());
  if (!nodes.is_array()) fail(where + ": nodes " + shown(nodes), "expected a list of nodes such as [0, 1]");
  for (const Json& node : nodes) {
    if (!node.is_unsigned() || node.get<std::uint64_t>() >= graph_.nodes.size())
      fail(where + ": node " + shown(node), fmt::format("expected 0 to {}", graph_.nodes.size() - 1));
    clique.nodes.push_back(node.get<std::uint32_t>());
  }
  if (json.contains("type")) {
    if (!json["type"].is_string()) fail(where + ": type " + shown(json["type"]), "expected a string");
    clique.type = json["type"].get<std::string>();
  }
  clique.features = read_features(json.value("features", Json()), where);
  if (json.contains("forbidden"))
    clique.forbidden = read_forbidden(json["forbidden"], where, clique.nodes.size());
}

std::vector<std::string> GraphReader::read_names(const Json& json, const std::string& where,
                                                 const char* what) const {
  std::vector<std::string> names;
  for (const Json& name : json) {
    if (!name.is_string()) fail(fmt::format("{}: {} {}", where, what, shown(name)), "expected a string");
    names.push_back(name.get<std::string>());
  }
  return names;
}

std::vector<std::vector<std::string>> GraphReader::read_forbidden(const Json& json, const std::string& where,
                                                                  std::size_t num_nodes) const {
  const std::string expected =
      fmt::format("expected a list of lists of {} label{} each", num_nodes, num_nodes == 1 ? "" : "s");
  std::vector<std::vector<std::string>> forbidden;
  if (!json.is_array()) fail(where + ": forbidden " + shown(json), expected);
  for (const Json& labels : json) {
    if (!labels.is_array()) fail(where + ": forbidden " + shown(labels), expected);
    forbidden.push_back(read_names(labels, where, "forbidden label"));
  }
  return forbidden;
}

std::optional<LabelledGraph::Features> GraphReader::read_features(const Json& json,
                                                                  const std::string& where) const {
  if (json.is_null()) return std::nullopt;
  LabelledGraph::Features features;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      if (!value.is_number())
        fail(fmt::format("{}: feature {}: {}", where, in_quotes(name), shown(value)), "expected a number");
      features.emplace_back(name, value.get<double>());
    }
  } else if (json.is_array()) {
    std::size_t position = 0;
    for (const Json& value : json) {
      if (value.is_number() != json[0].is_number() || !(value.is_number() || value.is_string()))
        fail(where + ": feature " + shown(value), "expected all numbers, or all names");
      if (value.is_number()) {
        features.emplace_back(fmt::to_string(position++), value.get<double>());
      } else {
        features.emplace_back(value.get<std::string>(), 1);
      }
    }
  } else {
    fail(where + ": features " + shown(json),
         "expected {\"name\": value}, a list of names or a list of numbers");
  }
  return features;
}

void GraphReader::read_labels(const Json& json) {
  constexpr const char* expected = "expected one per node";
  if (!json.contains("labels")) fail("a graph without \"labels\"", expected);
  const Json& labels = json["labels"];
  if (!labels.is_array()) fail("\"labels\": " + shown(labels), "expected a list of labels, one per node");
  if (labels.size() != graph_.nodes.size())
    fail(fmt::format("{} for {}", counted(labels.size(), "label"), counted(graph_.nodes.size(), "node")),
         expected);
  for (std::size_t v = 0; v < labels.size(); ++v) {
    if (!labels[v].is_string())
      fail(fmt::format("label {} of node {}", shown(labels[v]), v), "expected a string");
    graph_.nodes[v].label = labels[v].get<std::string>();
  }
}

}  // namespace espalier
