#include "tasks/graph/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "espalier/base/error.h"
#include "structures/factor_graph.h"
#include "tasks/common.h"
#include "tasks/graph/kernels.h"
#include "tasks/kernel_model.h"

namespace espalier {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 24;
constexpr std::size_t kMostShapes = 1024;  // kept for graphs to come

// Entry of a table whose first label changes slowest.
std::size_t entry_of(const GraphTypes& types, std::span<const std::uint32_t> node_types,
                     std::span<const std::uint32_t> labels) {
  std::size_t entry = 0;
  for (std::size_t k = 0; k < labels.size(); ++k)
    entry = entry * types.nodes[node_types[k]].labels.size() + labels[k];
  return entry;
}

template <class Of>
std::vector<std::uint32_t> by_type(std::size_t count, const Of& type_of) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return type_of(a) < type_of(b); });
  return order;
}

const char* name_of(GraphInference inference) {
  switch (inference) {
    case GraphInference::exact:
      return "exact";
    case GraphInference::bp:
      return "bp";
    case GraphInference::trw:
      return "trw";
    case GraphInference::automatic:
      break;
  }
  return "auto";
}

}  // namespace

std::vector<GraphTypeSize> GraphModel::sizes(const std::string& file) const {
  std::vector<GraphTypeSize> sizes;
  for (std::size_t t = 0; t < types.nodes.size(); ++t) {
    const std::size_t rows = kernels.empty() ? types.nodes[t].features.size() : kernels[t]->size();
    sizes.push_back({rows, types.nodes[t].labels.size(), 1});
  }
  for (const GraphCliqueType& type : types.cliques) {
    std::size_t entries = 1;
    for (const std::uint32_t node : type.nodes) {
      entries *= types.nodes[node].labels.size();
      if (entries > kLargestTable)
        throw Error::in(
            file,
            fmt::format("cliques of the type {} with more than 2^24 joint labellings", in_quotes(type.name)),
            "expected smaller ones, or fewer labels");
    }
    sizes.push_back({type.features.size(), entries, type.nodes.size()});
  }
  return sizes;
}

std::string GraphModel::describe() const {
  std::string text;
  const auto comma = [&text] { return text.empty() ? "" : "; "; };
  for (const GraphNodeType& type : types.nodes) {
    text += fmt::format("{}{}: {}, {}", comma(), type.name, counted(type.labels.size(), "label"),
                        counted(type.features.size(), "feature"));
  }
  for (const GraphCliqueType& type : types.cliques) {
    text += fmt::format("{}{} of {}: {}", comma(), type.name, counted(type.nodes.size(), "node"),
                        counted(type.features.size(), "feature"));
  }
  if (kernels.empty()) return text;
  std::size_t compared = 0;
  for (const auto& nodes : kernels) compared += nodes->size();
  return text + describe_kernel(kernels.front()->kernel(), compared);
}

GraphInferenceOptions GraphModel::inference_options() const {
  GraphInferenceOptions options;
  options.inference = inference;
  options.memory = memory;
  return options;
}

TaskSections GraphModel::sections() const {
  TaskSections sections;
  sections.settings["inference"] = name_of(inference);
  sections.settings["memory"] = memory;
  sections.settings["nodes_only"] = nodes_only;
  if (!kernels.empty()) sections.settings["kernel"] = kernels.front()->kernel().name();
  Json& nodes = sections.settings["node_types"] = Json::array();
  for (std::size_t t = 0; t < types.nodes.size(); ++t) {
    nodes.push_back(types.nodes[t].name);
    add_dictionary(fmt::format("nodes.{}.labels", t), types.nodes[t].labels, sections);
    add_dictionary(fmt::format("nodes.{}.features", t), types.nodes[t].features, sections);
  }
  Json& cliques = sections.settings["clique_types"] = Json::array();
  for (std::size_t t = 0; t < types.cliques.size(); ++t) {
    const GraphCliqueType& type = types.cliques[t];
    Json json{{"name", type.name}, {"nodes", type.nodes}};
    if (!type.forbidden.empty()) json["forbidden"] = type.forbidden;
    cliques.push_back(json);
    add_dictionary(fmt::format("cliques.{}.features", t), type.features, sections);
  }
  return sections;
}

GraphModel GraphModel::load(const StoredTask& stored) {
  const auto corrupt = [&](const std::string& found) {
    return Error::in(stored.file, found, "retrain the model");
  };
  GraphModel model;
  const auto name = stored.settings.at("inference").get<std::string>();
  try {
    model.inference = graph_inference(name);
  } catch (const Error&) {
    throw corrupt(fmt::format("inference {}", in_quotes(name)));
  }
  model.memory = stored.settings.at("memory").get<std::size_t>();
  model.nodes_only = stored.settings.at("nodes_only").get<bool>();
  for (const auto& type : stored.settings.at("node_types")) {
    const std::size_t t = model.types.nodes.size();
    GraphNodeType& node = model.types.nodes.emplace_back();
    node.name = type.get<std::string>();
    node.labels = load_dictionary(fmt::format("nodes.{}.labels", t), stored);
    node.features = load_dictionary(fmt::format("nodes.{}.features", t), stored);
    if (node.labels.size() == 0) throw corrupt(fmt::format("no labels of the type {}", in_quotes(node.name)));
  }
  for (const auto& type : stored.settings.at("clique_types")) {
    const std::size_t t = model.types.cliques.size();
    GraphCliqueType& clique = model.types.cliques.emplace_back();
    clique.name = type.at("name").get<std::string>();
    clique.nodes = type.at("nodes").get<std::vector<std::uint32_t>>();
    clique.features = load_dictionary(fmt::format("cliques.{}.features", t), stored);
    if (type.contains("forbidden"))
      clique.forbidden = type.at("forbidden").get<std::vector<std::vector<std::uint32_t>>>();
    bool fits = !clique.nodes.empty();
    for (const std::uint32_t node : clique.nodes) fits = fits && node < model.types.nodes.size();
    for (const auto& labelling : clique.forbidden) {
      fits = fits && labelling.size() == clique.nodes.size();
      for (std::size_t k = 0; fits && k < labelling.size(); ++k)
        fits = labelling[k] < model.types.nodes[clique.nodes[k]].labels.size();
    }
    if (!fits)
      throw corrupt(fmt::format("cliques of the type {} that do not fit the nodes", in_quotes(clique.name)));
  }
  model.kernels = load_graph_kernels(stored, model.types);
  const GraphWeights weights(model.sizes(stored.file));
  if (stored.theta.shape != weights.shape())
    throw corrupt(fmt::format("{} x {} weights for {}", stored.theta.shape.rows, stored.theta.shape.width,
                              model.describe()));
  return model;
}

GraphOrder::GraphOrder(const GraphRecord& record)
    : nodes(by_type(record.nodes.size(), [&](std::uint32_t v) { return record.nodes[v].type; })),
      cliques(by_type(record.cliques.size(), [&](std::uint32_t c) { return record.cliques[c].type; })) {}

std::shared_ptr<const MarkovGraph> GraphShapes::find(const GraphRecord& record, const GraphOrder& order,
                                                     const std::string& file) {
  const GraphTypes& types = model_.types;
  std::vector<std::uint32_t> cardinalities;
  for (const GraphRecord::Node& node : record.nodes)
    cardinalities.push_back(static_cast<std::uint32_t>(types.nodes[node.type].labels.size()));
  auto graph = std::make_shared<FactorGraph>(std::move(cardinalities));
  std::string key;
  const auto append = [&key](std::span<const std::uint32_t> values) {
    const auto size = static_cast<std::uint32_t>(values.size());
    key.append(reinterpret_cast<const char*>(&size), sizeof(size));
    key.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  };
  for (const std::uint32_t v : order.nodes) {
    const GraphRecord::Node& node = record.nodes[v];
    const std::size_t clique = graph->add_clique(std::span(&v, 1));
    append(std::vector<std::uint32_t>{v, node.type});
    append(node.allowed);
    if (node.allowed.empty()) continue;
    for (std::uint32_t y = 0; y < types.nodes[node.type].labels.size(); ++y) {
      if (std::find(node.allowed.begin(), node.allowed.end(), y) == node.allowed.end())
        graph->forbid(clique, y);
    }
  }
  for (const std::uint32_t c : order.cliques) {
    const GraphRecord::Clique& of = record.cliques[c];
    const GraphCliqueType& type = types.cliques[of.type];
    const std::size_t clique = graph->add_clique(of.nodes);
    append(of.nodes);
    append(std::vector<std::uint32_t>{of.type, static_cast<std::uint32_t>(of.forbidden.size())});
    for (const auto* forbidden : {&type.forbidden, &of.forbidden}) {
      for (const auto& labelling : *forbidden) graph->forbid(clique, entry_of(types, type.nodes, labelling));
    }
    for (const auto& labelling : of.forbidden) append(labelling);
  }
  if (known_.size() >= kMostShapes) known_.clear();
  auto& structure = known_[key];
  if (!structure) {
    try {
      structure = std::make_shared<MarkovGraph>(std::move(graph), model_.inference_options());
    } catch (const Error& e) {
      throw Error(fmt::format("{}:{}: {}", file, record.line, e.marked()));
    }
  }
  return structure;
}

GraphSet::GraphSet(const GraphModel& of, const std::string& from)
    : model(of), file(from), features(of.sizes(from)), inputs(of.kernels.size()) {}

void GraphSet::add(const GraphRecord& record, GraphShapes& shapes) {
  const GraphOrder order(record);
  GraphExample example;
  example.structure = shapes.find(record, order, file);
  example.weight = record.weight;
  for (const GraphRecord::Node& node : record.nodes) example.gold.push_back(node.gold);
  const auto add_row = [&](std::size_t type, const GraphRecord::Features& row) {
    const bool compared = type < inputs.size();
    for (const auto& [id, value] : row) {
      if (compared) {
        inputs[type].add(id, value);
      } else {
        features.add(type, id, value);
      }
    }
    if (compared) inputs[type].finish_row();
    features.finish_row(type);
  };
  for (const std::uint32_t v : order.nodes) {
    const GraphRecord::Node& node = record.nodes[v];
    add_row(node.type, node.features);
    const std::size_t begin = example.cost.size();
    example.cost.resize(begin + model.types.nodes[node.type].labels.size(), node.cost);
    for (const auto& [label, cost] : node.costs) example.cost[begin + label] = cost;
    if (node.gold != GraphRecord::kUnknownLabel) example.cost[begin + node.gold] = 0;
  }
  for (const std::uint32_t c : order.cliques)
    add_row(model.types.nodes.size() + record.cliques[c].type, record.cliques[c].features);
  features.finish_graph();
  examples.push_back(std::move(example));
}

void GraphSet::score(std::size_t i, const float* theta, std::span<double> s, Workspace& ws) const {
  features.score(i, theta, 1.0, s, ws);
  std::size_t at = 0;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    const GraphWeights::Block& block = features.weights().block(t);
    const SparseRows::Range rows = inputs[t].range(features.begin(i, t), features.end(i, t));
    const auto of_type = s.subspan(at, rows.size * block.columns);
    model.kernels[t]->score(rows, {theta + block.begin, {block.attributes, block.columns}}, of_type, ws);
    at += of_type.size();
  }
}

void GraphScores::add(std::span<const std::uint32_t> gold, std::span<const std::uint32_t> predicted) {
  std::size_t right = 0;
  for (std::size_t v = 0; v < gold.size(); ++v) right += gold[v] == predicted[v] ? 1 : 0;
  nodes_ += gold.size();
  right_nodes_ += right;
  ++graphs_;
  right_graphs_ += right == gold.size() ? 1 : 0;
}

void GraphScores::add(const GraphScores& others) {
  nodes_ += others.nodes_;
  right_nodes_ += others.right_nodes_;
  graphs_ += others.graphs_;
  right_graphs_ += others.right_graphs_;
}

Evaluation GraphScores::evaluation() const {
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  const double accuracy = share(right_nodes_, nodes_), whole = share(right_graphs_, graphs_);
  Evaluation result;
  result.rates = {{"accuracy", accuracy}, {"exact", whole}};
  result.report = result.rates;
  result.report.update({{"nodes", nodes_},
                        {"correct_nodes", right_nodes_},
                        {"graphs", graphs_},
                        {"correct_graphs", right_graphs_}});
  result.headline = fmt::format("accuracy {} %", percentage(100 * accuracy));
  result.text = fmt::format("{}\n\n{:<14} {:>8}  {:>9}\n", result.headline, "", "right", "out of");
  result.text += fmt::format("{:<14} {:>6} %  {:>9}\n", "nodes", percentage(100 * accuracy), grouped(nodes_));
  result.text +=
      fmt::format("{:<14} {:>6} %  {:>9}\n", "whole graphs", percentage(100 * whole), grouped(graphs_));
  result.dev_error = 1 - accuracy;
  result.metric = "accuracy %";
  result.value = 100 * accuracy;
  return result;
}

std::optional<std::size_t> find_graph_weight(const GraphModel& model, const GraphWeights& weights,
                                             const WeightName& name) {
  const GraphTypes& types = model.types;
  const std::size_t colon = name.attribute.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view type_name = name.attribute.substr(0, colon),
                         feature_name = name.attribute.substr(colon + 1);
  const std::size_t node = types.find_node_type(type_name), clique = types.find_clique_type(type_name);
  if (node < types.nodes.size()) {
    const Dictionary& features = types.nodes[node].features;
    const auto feature = model.kernels.empty() ? features.find(feature_name)
                                               : find_node(*model.kernels[node], features, feature_name);
    const auto label = types.nodes[node].labels.find(name.label);
    if (!feature || !label || !name.before.empty()) return std::nullopt;
    return weights.place(node, *feature, *label);
  }
  if (clique == types.cliques.size()) return std::nullopt;
  const GraphCliqueType& type = types.cliques[clique];
  const auto feature = type.features.find(feature_name);
  if (!feature || name.before.size() + 1 != type.nodes.size()) return std::nullopt;
  std::vector<std::uint32_t> labels;
  for (std::size_t k = 0; k < type.nodes.size(); ++k) {
    const auto label =
        types.nodes[type.nodes[k]].labels.find(k < name.before.size() ? name.before[k] : name.label);
    if (!label) return std::nullopt;
    labels.push_back(*label);
  }
  return weights.place(types.nodes.size() + clique, *feature, entry_of(types, type.nodes, labels));
}

void for_each_graph_weight(const GraphModel& model, const GraphWeights& weights,
                           const std::function<void(const WeightName& name, std::size_t place)>& visit) {
  const GraphTypes& types = model.types;
  for (std::size_t t = 0; t < types.nodes.size(); ++t) {
    const GraphNodeType& type = types.nodes[t];
    const KernelNodes* nodes = model.kernels.empty() ? nullptr : model.kernels[t].get();
    for (std::uint32_t a = 0; a < (nodes ? nodes->size() : type.features.size()); ++a) {
      const std::string attribute = nodes
                                        ? fmt::format("{}:{}", type.name, node_name(*nodes, type.features, a))
                                        : fmt::format("{}:{}", type.name, type.features.name(a));
      for (std::uint32_t y = 0; y < type.labels.size(); ++y)
        visit({attribute, {}, type.labels.name(y)}, weights.place(t, a, y));
    }
  }
  for (std::size_t t = 0; t < types.cliques.size(); ++t) {
    const GraphCliqueType& type = types.cliques[t];
    const GraphWeights::Block& block = weights.block(types.nodes.size() + t);
    std::vector<std::string_view> labels(type.nodes.size());
    for (std::uint32_t a = 0; a < type.features.size(); ++a) {
      const std::string attribute = fmt::format("{}:{}", type.name, type.features.name(a));
      for (std::size_t entry = 0; entry < block.columns; ++entry) {
        std::size_t rest = entry;
        for (std::size_t k = type.nodes.size(); k-- > 0;) {
          const Dictionary& names = types.nodes[type.nodes[k]].labels;
          labels[k] = names.name(static_cast<std::uint32_t>(rest % names.size()));
          rest /= names.size();
        }
        visit({attribute, std::span(labels).first(labels.size() - 1), labels.back()},
              weights.place(types.nodes.size() + t, a, entry));
      }
    }
  }
}

Dictionary all_labels(const GraphTypes& types) {
  Dictionary labels;
  for (const GraphNodeType& type : types.nodes) {
    for (std::uint32_t y = 0; y < type.labels.size(); ++y) labels.add(type.labels.name(y));
  }
  return labels;
}

Dictionary all_attributes(const GraphTypes& types) {
  Dictionary attributes;
  for (const GraphNodeType& type : types.nodes) {
    for (std::uint32_t a = 0; a < type.features.size(); ++a)
      attributes.add(fmt::format("{}:{}", type.name, type.features.name(a)));
  }
  return attributes;
}

}  // namespace espalier
