#include "espalier/tasks/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "espalier/base/error.h"

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

std::string names_of(const GraphTypes& types, std::span<const std::uint32_t> nodes) {
  std::string text;
  for (const std::uint32_t t : nodes)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", types.nodes[t].name);
  return text;
}

}  // namespace

std::size_t GraphTypes::find_node_type(std::string_view name) const { return find_type(nodes, name); }
std::size_t GraphTypes::find_clique_type(std::string_view name) const { return find_type(cliques, name); }

GraphReader::GraphReader(const std::string& path, const GraphReadOptions& options, GraphTypes& types)
    : lines_(path), options_(options), types_(types), growing_(&types) {}
GraphReader::GraphReader(const std::string& path, const GraphReadOptions& options, const GraphTypes& types)
    : lines_(path), options_(options), types_(types) {}

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
      fail(fmt::format("no JSON from column {} on", e.column),
           "expected one object a line, as {\"nodes\": [...]}");
    } catch (const JsonLimitError& e) {
      fail(e.found, e.expected);
    }
    if (!json.is_object()) fail(shown(json), "expected an object, as {\"nodes\": [...]}");
    if (json.contains("types") && !json.contains("nodes")) {
      declare_types(json["types"]);
      declarations_.emplace_back(line);
      continue;
    }
    read_graph(json, record);
    record.line = lines_.line_number();
    record.json = std::move(json);
    any_graph_ = true;
    return true;
  }
  return false;
}

void GraphReader::declare_types(const Json& json) {
  if (any_graph_) fail("\"types\" behind a graph", "expected them before the first one");
  if (!json.is_object())
    fail("\"types\": " + shown(json), "expected an object, as {\"pixel\": {\"labels\": [...]}}");
  if (!growing_) return;  // a model has its own
  for (const auto& [name, type] : json.items()) declare_type(name, type);
}

void GraphReader::declare_type(const std::string& name, const Json& json) {
  const std::string where = "type " + in_quotes(name);
  if (!json.is_object()) fail(where + ": " + shown(json), "expected an object with labels, or with nodes");
  if (json.contains("nodes")) {
    const Json& of = json["nodes"];
    std::vector<std::uint32_t> nodes;
    if (!of.is_array() || of.empty()) fail(where + ": nodes " + shown(of), "expected a list of node types");
    for (const Json& node : of) {
      if (!node.is_string()) fail(where + ": node type " + shown(node), "expected a string");
      nodes.push_back(static_cast<std::uint32_t>(node_type(node.get<std::string>(), where)));
    }
    const std::size_t type = clique_type(name, where, nodes);
    if (json.contains("forbidden"))
      read_forbidden(json["forbidden"], where, nodes, growing_->cliques[type].forbidden);
    return;
  }
  const std::size_t type = node_type(name, where);
  const Json labels = json.value("labels", Json::array());
  if (!labels.is_array() || labels.empty())
    fail(where + ": labels " + shown(labels), "expected a list of labels");
  for (const Json& name_of_label : labels) {
    if (!name_of_label.is_string()) fail(where + ": label " + shown(name_of_label), "expected a string");
    label(type, name_of_label.get<std::string>());
  }
}

void GraphReader::read_graph(const Json& json, GraphRecord& record) {
  record = {};
  if (!json.contains("nodes")) fail("a line without \"nodes\"", "expected a graph, as {\"nodes\": [...]}");
  const Json& nodes = json["nodes"];
  if (!nodes.is_array() || nodes.empty())
    fail("\"nodes\": " + shown(nodes), "expected a list of nodes, one at least");
  for (const Json& node : nodes) {
    const std::size_t number = record.nodes.size();
    record.nodes.emplace_back();
    read_node(node, number, record.nodes.back());
  }
  if (json.contains("cliques") && !options_.nodes_only) {
    const Json& cliques = json["cliques"];
    if (!cliques.is_array()) fail("\"cliques\": " + shown(cliques), "expected a list of cliques");
    for (const Json& clique : cliques) {
      const std::size_t number = record.cliques.size();
      record.cliques.emplace_back();
      read_clique(clique, number, record, record.cliques.back());
    }
  }
  if (json.contains("weight")) {
    const Json& weight = json["weight"];
    if (!weight.is_number() || !(weight.get<double>() > 0))
      fail("\"weight\": " + shown(weight), "expected a number > 0");
    record.weight = weight.get<double>();
  }
  if (options_.needs_labels) {
    read_labels(json, record);
    if (growing_) check_gold(record);
  }
}

void GraphReader::read_node(const Json& json, std::size_t number, GraphRecord::Node& node) {
  const std::string where = fmt::format("node {}", number);
  if (!json.is_object()) fail(where + ": " + shown(json), "expected an object, as {\"features\": {...}}");
  for (const auto& [key, value] : json.items()) {
    if (key != "type" && key != "features" && key != "allowed" && key != "cost")
      fail(where + ": " + in_quotes(key), "expected type, features, allowed or cost");
  }
  const std::size_t type = node_type(type_name(json, where, "node"), where);
  node.type = static_cast<std::uint32_t>(type);
  read_features(json.value("features", Json()), where, types_.nodes[type].features,
                growing_ ? &growing_->nodes[type].features : nullptr, node.features);
  if (json.contains("allowed")) {
    const Json& allowed = json["allowed"];
    if (!allowed.is_array()) fail(where + ": allowed " + shown(allowed), "expected a list of labels");
    for (const Json& name : allowed) {
      if (!name.is_string()) fail(where + ": allowed label " + shown(name), "expected a string");
      const std::uint32_t y = label(type, name.get<std::string>());
      if (y != GraphRecord::kUnknownLabel) node.allowed.push_back(y);
    }
    if (node.allowed.empty())
      fail(where + ": allowed " + shown(allowed),
           "expected a label that " + std::string(growing_ ? "it may have" : "the model knows"));
  }
  if (json.contains("cost")) read_costs(json["cost"], where, node);
}

void GraphReader::read_costs(const Json& json, const std::string& where, GraphRecord::Node& node) {
  const auto cost = [&](const Json& value) {
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0) || !std::isfinite(static_cast<float>(number)))
      fail(where + ": cost " + shown(value), "expected a number of 0 or more");
    return static_cast<float>(number);
  };
  if (!json.is_object()) {
    node.cost = cost(json);
    return;
  }
  for (const auto& [name, value] : json.items()) {
    const std::uint32_t y = label(node.type, name);
    const float of_label = cost(value);
    if (y != GraphRecord::kUnknownLabel) node.costs.emplace_back(y, of_label);
  }
}

void GraphReader::read_clique(const Json& json, std::size_t number, const GraphRecord& record,
                              GraphRecord::Clique& clique) {
  const std::string where = fmt::format("clique {}", number);
  if (!json.is_object()) fail(where + ": " + shown(json), "expected an object, as {\"nodes\": [0, 1]}");
  for (const auto& [key, value] : json.items()) {
    if (key != "type" && key != "features" && key != "nodes" && key != "forbidden")
      fail(where + ": " + in_quotes(key), "expected type, nodes, features or forbidden");
  }
  const Json nodes = json.value("nodes", Json());
  if (!nodes.is_array() || nodes.empty())
    fail(where + ": nodes " + shown(nodes), "expected a list of nodes, as [0, 1]");
  std::vector<std::uint32_t> node_types;
  for (const Json& node : nodes) {
    if (!node.is_unsigned() || node.get<std::uint64_t>() >= record.nodes.size())
      fail(where + ": node " + shown(node), fmt::format("expected 0 to {}", record.nodes.size() - 1));
    const auto v = node.get<std::uint32_t>();
    if (std::find(clique.nodes.begin(), clique.nodes.end(), v) != clique.nodes.end())
      fail(fmt::format("{}: node {} twice", where, v), "expected different nodes");
    clique.nodes.push_back(v);
    node_types.push_back(record.nodes[v].type);
  }
  const std::size_t type = clique_type(type_name(json, where, "clique"), where, node_types);
  clique.type = static_cast<std::uint32_t>(type);
  read_features(json.value("features", Json()), where, types_.cliques[type].features,
                growing_ ? &growing_->cliques[type].features : nullptr, clique.features);
  if (json.contains("forbidden")) read_forbidden(json["forbidden"], where, node_types, clique.forbidden);
}

void GraphReader::read_forbidden(const Json& json, const std::string& where,
                                 std::span<const std::uint32_t> node_types,
                                 std::vector<std::vector<std::uint32_t>>& forbidden) {
  const std::string expected = fmt::format("expected a list of lists of {} label{} each", node_types.size(),
                                           node_types.size() == 1 ? "" : "s");
  if (!json.is_array()) fail(where + ": forbidden " + shown(json), expected);
  for (const Json& labels : json) {
    if (!labels.is_array() || labels.size() != node_types.size())
      fail(where + ": forbidden " + shown(labels), expected);
    std::vector<std::uint32_t> labelling;
    for (std::size_t k = 0; k < labels.size(); ++k) {
      if (!labels[k].is_string()) fail(where + ": forbidden label " + shown(labels[k]), "expected a string");
      labelling.push_back(label(node_types[k], labels[k].get<std::string>()));
    }
    if (std::find(labelling.begin(), labelling.end(), GraphRecord::kUnknownLabel) == labelling.end())
      forbidden.push_back(std::move(labelling));
  }
}

void GraphReader::read_features(const Json& json, const std::string& where, const Dictionary& known,
                                Dictionary* growing, GraphRecord::Features& features) {
  const auto add = [&](std::string_view name, double value) {
    if (!std::isfinite(static_cast<float>(value)))
      fail(fmt::format("{}: feature {} of {}", where, in_quotes(name), value),
           "expected a value that a float holds");
    const auto id = growing ? std::optional(growing->add(name)) : known.find(name);
    if (id && value != 0) features.emplace_back(*id, static_cast<float>(value));
  };
  if (json.is_null()) {
    add(kConstantFeature, 1);
  } else if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      if (!value.is_number())
        fail(fmt::format("{}: feature {}: {}", where, in_quotes(name), shown(value)), "expected a number");
      add(name, value.get<double>());
    }
  } else if (json.is_array()) {
    std::size_t position = 0;
    for (const Json& value : json) {
      if (value.is_number() != json[0].is_number() || !(value.is_number() || value.is_string()))
        fail(where + ": feature " + shown(value), "expected all numbers, or all names");
      if (value.is_number()) {
        add(fmt::to_string(position++), value.get<double>());
      } else {
        add(value.get<std::string>(), 1);
      }
    }
  } else {
    fail(where + ": features " + shown(json),
         "expected {\"name\": value}, a list of names or a list of numbers");
  }
  // Names may repeat in a list.
  std::sort(features.begin(), features.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  features.erase(std::unique(features.begin(), features.end(), same), features.end());
}

void GraphReader::read_labels(const Json& json, GraphRecord& record) {
  const std::string expected = fmt::format("expected one for each of the {} nodes", record.nodes.size());
  if (!json.contains("labels")) fail("a graph without \"labels\"", expected);
  const Json& labels = json["labels"];
  if (!labels.is_array()) fail("\"labels\": " + shown(labels), "expected a list of labels, one a node");
  if (labels.size() != record.nodes.size()) fail(fmt::format("{} labels", labels.size()), expected);
  for (std::size_t v = 0; v < labels.size(); ++v) {
    if (!labels[v].is_string())
      fail(fmt::format("label {} of node {}", shown(labels[v]), v), "expected a string");
    record.nodes[v].gold = label(record.nodes[v].type, labels[v].get<std::string>());
  }
}

// What training needs: gold labels that are possible and cost nothing.
void GraphReader::check_gold(const GraphRecord& record) const {
  for (std::size_t v = 0; v < record.nodes.size(); ++v) {
    const GraphRecord::Node& node = record.nodes[v];
    const std::string name(types_.nodes[node.type].labels.name(node.gold));
    if (!node.allowed.empty() &&
        std::find(node.allowed.begin(), node.allowed.end(), node.gold) == node.allowed.end())
      fail(fmt::format("node {}: its label {} is not allowed", v, in_quotes(name)), "expected one that is");
    for (const auto& [label, cost] : node.costs) {
      if (label == node.gold && cost != 0)
        fail(fmt::format("node {}: its label {} costs {}", v, in_quotes(name), cost),
             "expected right labels to cost 0");
    }
  }
  for (std::size_t c = 0; c < record.cliques.size(); ++c) {
    const GraphRecord::Clique& clique = record.cliques[c];
    std::vector<std::uint32_t> gold;
    for (const std::uint32_t v : clique.nodes) gold.push_back(record.nodes[v].gold);
    for (const auto* forbidden : {&clique.forbidden, &types_.cliques[clique.type].forbidden}) {
      if (std::find(forbidden->begin(), forbidden->end(), gold) != forbidden->end())
        fail(fmt::format("clique {}: its labels are forbidden", c), "expected labels that are not");
    }
  }
}

std::string GraphReader::type_name(const Json& json, const std::string& where, const char* otherwise) const {
  if (!json.contains("type")) return otherwise;
  if (!json["type"].is_string()) fail(where + ": type " + shown(json["type"]), "expected a string");
  return json["type"].get<std::string>();
}

std::size_t GraphReader::node_type(const std::string& name, const std::string& where) {
  const std::size_t type = types_.find_node_type(name);
  if (type < types_.nodes.size()) return type;
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
  return type;
}

std::size_t GraphReader::clique_type(const std::string& name, const std::string& where,
                                     std::vector<std::uint32_t> nodes) {
  const std::size_t type = types_.find_clique_type(name);
  if (type < types_.cliques.size()) {
    if (types_.cliques[type].nodes != nodes)
      fail(fmt::format("{}: the type {} with nodes of the types {}", where, in_quotes(name),
                       names_of(types_, nodes)),
           fmt::format("expected {}, as before", names_of(types_, types_.cliques[type].nodes)));
    return type;
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
  return type;
}

std::uint32_t GraphReader::label(std::size_t type, const std::string& name) {
  if (growing_) return growing_->nodes[type].labels.add(name);
  return types_.nodes[type].labels.find(name).value_or(GraphRecord::kUnknownLabel);
}

}  // namespace espalier
