// Graphs in memory: training gives the model that a file of the same contents gives, to the byte, and what a
// model says of graphs in memory is what it writes for a file of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/json.h"
#include "espalier/tasks/graph.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/model_bytes.h"
#include "support/random_problem.h"
#include "support/temporary_folder.h"
#include "tasks/graph/reader.h"

namespace espalier::graphs_in_memory_test {
namespace {

using testing::error_message;
using testing::model_bytes;
using testing::TemporaryFolder;
using Node = LabelledGraph::Node;
using Clique = LabelledGraph::Clique;

Json to_json(const LabelledGraph::Features& features) {
  Json json = Json::object();
  for (const auto& [name, value] : features) json[name] = value;
  return json;
}

// A line of a file.
std::string jsonl(const LabelledGraph& graph) {
  Json json, nodes = Json::array(), cliques = Json::array(), labels = Json::array();
  for (const Node& node : graph.nodes) {
    Json one{{"type", node.type}};
    if (node.features) one["features"] = to_json(*node.features);
    if (!node.allowed.empty()) one["allowed"] = node.allowed;
    if (node.cost != 1) one["cost"] = node.cost;
    if (!node.costs.empty()) {
      one["cost"] = Json::object();
      for (const auto& [label, cost] : node.costs) one["cost"][label] = cost;
    }
    nodes.push_back(one);
    if (node.label) labels.push_back(*node.label);
  }
  for (const Clique& clique : graph.cliques) {
    Json one{{"type", clique.type}, {"nodes", clique.nodes}};
    if (clique.features) one["features"] = to_json(*clique.features);
    if (!clique.forbidden.empty()) one["forbidden"] = clique.forbidden;
    cliques.push_back(one);
  }
  json["nodes"] = nodes;
  json["cliques"] = cliques;
  if (labels.size() > 0) json["labels"] = labels;
  if (graph.weight != 1) json["weight"] = graph.weight;
  return json.dump() + '\n';
}

LabelledGraph random_graph() {
  const auto name = rc::gen::element<std::string>("x", "y", "a:b", "naïve");
  const auto value = rc::gen::element(1.0, 0.5, -2.0, 0.0);
  const auto features = [&]() -> std::optional<LabelledGraph::Features> {
    if (*rc::gen::arbitrary<bool>()) return std::nullopt;
    LabelledGraph::Features some;
    if (*rc::gen::arbitrary<bool>()) some.emplace_back(*name, *value);
    return some;
  };
  LabelledGraph graph;
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 5);
  for (std::uint32_t v = 0; v < count; ++v) {
    const bool cell = *rc::gen::arbitrary<bool>();
    const auto label =
        cell ? rc::gen::element<std::string>("in", "out") : rc::gen::element<std::string>("on", "off", "odd");
    Node node{.type = cell ? "cell" : "row", .features = features()};
    const std::string gold = *label, other = *label;
    if (*rc::gen::inRange(0, 4) == 0) node.allowed = {other, gold};
    if (node.allowed.empty() && *rc::gen::inRange(0, 4) == 0) node.cost = 2;
    if (node.cost == 1 && other != gold && *rc::gen::arbitrary<bool>()) node.costs = {{other, 0.5}};
    node.label = gold;
    graph.nodes.push_back(node);
  }
  for (std::uint32_t v = 0; v + 1 < count; ++v) {
    const std::string type = graph.nodes[v].type + "-" + graph.nodes[v + 1].type;
    graph.cliques.push_back({.type = type, .nodes = {v, v + 1}, .features = features()});
  }
  graph.weight = *rc::gen::element(1.0, 0.25);
  return graph;
}

RC_GTEST_PROP(GraphData, GraphsAreThoseOfAFile, ()) {
  GraphData data;
  std::string text;
  if (*rc::gen::arbitrary<bool>()) {
    data.declare(GraphData::NodeType{"row", {"off", "on", "never"}});
    data.declare(GraphData::CliqueType{"row-row", {"row", "row"}, {{"never", "never"}}});
    text +=
        R"({"types":{"row":{"labels":["off","on","never"]},"row-row":{"nodes":["row","row"],"forbidden":[["never","never"]]}}})"
        "\n";
  }
  std::string graphs;
  const auto count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    const LabelledGraph graph = random_graph();
    data.add(graph);
    graphs += jsonl(graph);
  }
  text += graphs;
  const TemporaryFolder folder;
  GraphOptions options;
  options.nodes_only = *rc::gen::arbitrary<bool>();
  options.inference = *rc::gen::element<std::string>("exact", "trw");
  if (*rc::gen::arbitrary<bool>()) options.first = 3;
  if (*rc::gen::inRange(0, 4) == 0) options.kernel = "poly,2";
  const auto one = make_graph_training(data, options),
             other = read_graph_training(folder.file("train.jsonl", text), options);
  // What the reader hands on is what was written.
  GraphTypes types;
  GraphReader reader(folder.file("again.jsonl", text), {}, types);
  std::string again;
  for (GraphRecord record; reader.next(record);) again += jsonl(reader.graph());
  RC_ASSERT(again == graphs);
  RC_ASSERT(one->describe() == other->describe());
  RC_ASSERT(one->fingerprint() == other->fingerprint());
  const TrainOptions until{.l2 = 0.5, .gap = 0.05, .passes = 20};
  const Model model = train(*one, until);
  const bool same = model_bytes(model) == model_bytes(train(*other, until));
  RC_ASSERT(same);

  // What the model says of another graph: of one of the same types, without labels.
  LabelledGraph unseen = data.graph(0);
  for (Node& node : unseen.nodes) node.label.reset();
  GraphPredictOptions with_all;
  with_all.marginals = true;
  if (options.inference == "exact") with_all.kbest = 2;
  std::string written;
  model.predictor().predict(folder.file("test.jsonl", jsonl(unseen)), with_all,
                            [&](std::string_view piece) { written += piece; });
  const Json line = Json::parse(written);
  GraphLabeller::Graph graph(model.graph_labeller());
  graph.set(unseen);
  RC_ASSERT(graph.size() == unseen.nodes.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    RC_ASSERT(line.at("labels")[v].get<std::string>() == graph.label(v, graph.labels()[v]));
    const auto mu = graph.marginals(v);
    RC_ASSERT(mu.size() == graph.num_labels(v));
    double sum = 0;
    for (std::uint32_t y = 0; y < mu.size(); ++y) {
      sum += mu[y];
      RC_ASSERT(line.at("marginals")[v].at(std::string(graph.label(v, y))).get<double>() == mu[y]);
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-6);
  }
  RC_ASSERT(graph.has_kbest() == (options.inference == "exact"));
  if (!graph.has_kbest()) return;
  const auto best = graph.kbest(2);
  RC_ASSERT(line.at("kbest").size() == best.size());
  for (std::size_t k = 0; k < best.size(); ++k) {
    RC_ASSERT(line.at("kbest")[k].at("probability").get<double>() == graph.probability(best[k].score));
    for (std::size_t v = 0; v < graph.size(); ++v)
      RC_ASSERT(line.at("kbest")[k].at("labels")[v].get<std::string>() == graph.label(v, best[k].labels[v]));
  }
}

TEST(GraphData, RefusesWhatDoesNotFit) {
  const LabelledGraph good{.nodes = {{.label = "a"}, {.label = "b"}}, .cliques = {{.nodes = {0, 1}}}};
  const auto message_of = [&](const auto& change) {
    LabelledGraph graph = good;
    change(graph);
    GraphData data;
    data.add(good);
    data.add(graph);
    return error_message([&] { make_graph_training(data); });
  };
  EXPECT_EQ(message_of([](LabelledGraph&) {}), "(no error)");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.nodes[1].label.reset(); }),
            "data in memory:2: node 1: no label; expected one per node");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.cliques[0].nodes[1] = 2; }),
            "data in memory:2: clique 0: node '2'; expected 0 to 1");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.cliques[0].nodes[1] = 0; }),
            "data in memory:2: clique 0: node 0 twice; expected different nodes");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.cliques[0].nodes.clear(); }),
            "data in memory:2: clique 0: nodes '[]'; expected a list of nodes such as [0, 1]");
  EXPECT_EQ(
      message_of([](LabelledGraph& graph) { graph.cliques[0].nodes.pop_back(); }),
      "data in memory:2: clique 0: the type 'clique' with nodes of the types node; expected node, node, as "
      "before");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.nodes[0].allowed = {"b"}; }),
            "data in memory:2: node 0: its label 'a' is not allowed; expected an allowed label");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.nodes[0].cost = -1; }),
            "data in memory:2: node 0: cost '-1'; expected a number >= 0");
  EXPECT_EQ(message_of([](LabelledGraph& graph) {
              graph.nodes[0].costs = {{"a", 2}};
            }),
            "data in memory:2: node 0: its label 'a' costs 2; expected correct labels to cost 0");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.nodes[0].type = "x:y"; }),
            "data in memory:2: node 0: the type 'x:y'; expected a name without ':'");
  EXPECT_EQ(message_of([](LabelledGraph& graph) {
              graph.nodes[0].features = LabelledGraph::Features{{"f", 1}, {"f", 2}};
            }),
            "data in memory:2: node 0: feature 'f' with two values; expected one");
  EXPECT_EQ(
      message_of([](LabelledGraph& graph) {
        graph.nodes[0].features = LabelledGraph::Features{{"f", std::numeric_limits<double>::infinity()}};
      }),
      "data in memory:2: node 0: feature 'f' of inf; expected a value that a float holds");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.weight = 0; }),
            "data in memory:2: \"weight\": '0'; expected a number > 0");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.nodes.clear(); }),
            "data in memory:2: a graph without nodes; expected at least one");
  EXPECT_EQ(message_of([](LabelledGraph& graph) { graph.cliques[0].forbidden = {{"a"}}; }),
            "data in memory:2: clique 0: forbidden '[\"a\"]'; expected a list of lists of 2 labels each");
  EXPECT_EQ(message_of([](LabelledGraph& graph) {
              graph.cliques[0].forbidden = {{"a", "b"}};
            }),
            "data in memory:2: clique 0: its labels are forbidden; expected allowed labels");
  EXPECT_EQ(error_message([] { make_graph_training(GraphData()); }),
            "data in memory: no graphs; expected at least one");
  GraphData declared;
  declared.declare(GraphData::NodeType{"pixel", {}});
  EXPECT_EQ(error_message([&] { make_graph_training(declared); }),
            "data in memory: type 'pixel': labels '[]'; expected a list of labels");
}

TEST(GraphData, HeldOutGraphsRateAsAFileDoes) {
  const TemporaryFolder folder;
  GraphData data, dev;
  data.add({.nodes = {{.label = "a"}, {.label = "b"}}, .cliques = {{.nodes = {0, 1}}}});
  dev.add({.nodes = {{.label = "b"}, {.label = "new"}, {.label = "a"}}, .cliques = {{.nodes = {2, 1}}}});
  const auto in_memory = make_graph_training(data, {}, &dev), of_file = make_graph_training(data);
  EXPECT_EQ(in_memory->dev(), "data in memory");
  of_file->read_dev(folder.file("dev.jsonl", jsonl(dev.graph(0))));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Weights theta = test_support::random_weights(seed, in_memory->problem().weight_shape());
    EXPECT_EQ(in_memory->evaluate_dev(theta).text, of_file->evaluate_dev(theta).text);
  }
}

TEST(GraphLabeller, RefusesWhatIsNotThere) {
  GraphData data;
  data.add({.nodes = {{.label = "a"}, {.label = "b"}}, .cliques = {{.nodes = {0, 1}}}});
  const Model model = train(*make_graph_training(data), {.loss = Loss::svm()});
  GraphLabeller::Graph graph(model.graph_labeller());
  EXPECT_EQ(graph.size(), 0u);
  EXPECT_EQ(error_message([&] { graph.labels(); }), "no graph; expected one to label");
  graph.set({.nodes = {{}}});
  EXPECT_EQ(graph.labels().size(), 1u);
  EXPECT_EQ(graph.kbest(5).size(), 2u);
  EXPECT_EQ(error_message([&] { graph.marginals(0); }),
            "a model of loss svm has no probabilities; expected one with a finite beta");
  EXPECT_EQ(error_message([&] { graph.set({.nodes = {{.type = "other"}}}); }),
            "data in memory:2: node 0: the type 'other'; expected a type of nodes that the model knows");
  EXPECT_EQ(error_message([&] { graph.labels(); }), "no graph; expected one to label");
  graph.set({.nodes = {{}, {}},
             .cliques = {{.nodes = {0, 1}, .forbidden = {{"a", "a"}, {"a", "b"}, {"b", "a"}, {"b", "b"}}}}});
  EXPECT_EQ(error_message([&] { graph.labels(); }),
            "data in memory:3: no labelling is allowed; expected constraints that allow at least one");
}

}  // namespace
}  // namespace espalier::graphs_in_memory_test
