#include "tasks/graph/reader.h"

#include <gtest/gtest.h>

#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::graph_reader_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

class GraphReaderTest : public ::testing::Test {
 protected:
  std::vector<GraphRecord> read(std::string_view text, GraphTypes& types,
                                GraphReadOptions options = {}) const {
    const std::string path = folder_.file("g.jsonl", text);
    GraphReader reader(path, options, types);
    std::vector<GraphRecord> records;
    for (GraphRecord record; reader.next(record);) records.push_back(std::move(record));
    return records;
  }
  // Behind "g.jsonl:".
  std::string error(std::string_view text) const {
    GraphTypes types;
    return without_path(error_message([&] { read(text, types); }));
  }
  std::string without_path(const std::string& message) const {
    const std::string path = folder_.path("g.jsonl") + ":";
    EXPECT_EQ(message.substr(0, path.size()), path);
    return message.substr(std::min(path.size(), message.size()));
  }

  TemporaryFolder folder_;
};

TEST_F(GraphReaderTest, ReadsNodesCliquesAndLabels) {
  GraphTypes types;
  const auto records = read(
      R"({"nodes":[{"type":"cell","features":{"x":2,"y":0,"z":-1}},{"type":"cell","features":["y","y"]},{"type":"row","features":[0,1.5]}],)"
      R"("cliques":[{"type":"side","nodes":[1,0]},{"type":"in","nodes":[0,2],"features":{"f":3}}],"labels":["b","a","on"],"weight":2.5})"
      "\n\n"
      R"({"nodes":[{"type":"row"}],"labels":["off"]})",
      types);
  ASSERT_EQ(records.size(), 2u);
  ASSERT_EQ(types.nodes.size(), 2u);
  EXPECT_EQ(types.nodes[0].name, "cell");
  EXPECT_EQ(types.nodes[0].labels.size(), 2u);
  EXPECT_EQ(types.nodes[0].features.size(), 3u);
  EXPECT_EQ(types.nodes[1].features.size(), 3u);  // 0, 1 and the constant
  EXPECT_EQ(types.nodes[1].features.name(2), kConstantFeature);
  ASSERT_EQ(types.cliques.size(), 2u);
  EXPECT_EQ(types.cliques[0].nodes, (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(types.cliques[1].nodes, (std::vector<std::uint32_t>{0, 1}));
  const GraphRecord& first = records[0];
  using Features = GraphRecord::Features;
  EXPECT_EQ(first.nodes[0].features, (Features{{0, 2.0f}, {2, -1.0f}}));
  EXPECT_EQ(first.nodes[1].features, (Features{{1, 1.0f}}));
  EXPECT_EQ(first.nodes[2].features, (Features{{1, 1.5f}}));
  EXPECT_EQ(first.nodes[0].gold, 0u);
  EXPECT_EQ(first.nodes[1].gold, 1u);
  EXPECT_EQ(first.cliques[0].nodes, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(first.cliques[0].features, (Features{{0, 1.0f}}));
  EXPECT_EQ(first.cliques[1].features, (Features{{0, 3.0f}}));
  EXPECT_EQ(first.weight, 2.5);
  EXPECT_EQ(records[1].line, 3u);
  EXPECT_EQ(records[1].weight, 1);
}

TEST_F(GraphReaderTest, ReadsCostsAndConstraints) {
  GraphTypes types;
  const auto records = read(
      R"({"types":{"word":{"labels":["N","V","D"]},"next":{"nodes":["word","word"],"forbidden":[["D","V"]]}}})"
      "\n"
      R"({"nodes":[{"type":"word","allowed":["D","N"],"cost":2},{"type":"word","cost":{"V":0.5}}],"cliques":[{"type":"next","nodes":[0,1],"forbidden":[["N","N"]]}],"labels":["D","N"]})",
      types);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(types.nodes[0].labels.name(1), "V");
  EXPECT_EQ(types.cliques[0].forbidden, (std::vector<std::vector<std::uint32_t>>{{2, 1}}));
  EXPECT_EQ(records[0].cliques[0].forbidden, (std::vector<std::vector<std::uint32_t>>{{0, 0}}));
  EXPECT_EQ(records[0].nodes[0].allowed, (std::vector<std::uint32_t>{2, 0}));
  EXPECT_EQ(records[0].nodes[0].cost, 2);
  EXPECT_EQ(records[0].nodes[1].costs, (std::vector<std::pair<std::uint32_t, float>>{{1, 0.5f}}));
}

TEST_F(GraphReaderTest, AModelsTypesStayAsTheyAre) {
  GraphTypes types;
  read(R"({"nodes":[{"features":["x"]},{}],"cliques":[{"nodes":[0,1]}],"labels":["a","b"]})", types);
  const GraphTypes& known = types;
  const std::string path = folder_.file(
      "new.jsonl",
      R"({"nodes":[{"features":["x","new"]},{}],"cliques":[{"nodes":[0,1],"forbidden":[["a","new"],["a","b"]]}],"labels":["new","b"]})");
  GraphReader reader(path, {}, known);
  GraphRecord record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(record.nodes[0].features, (GraphRecord::Features{{0, 1.0f}}));
  EXPECT_EQ(record.nodes[0].gold, GraphRecord::kUnknownLabel);
  EXPECT_EQ(record.nodes[1].gold, 1u);
  EXPECT_EQ(record.cliques[0].forbidden, (std::vector<std::vector<std::uint32_t>>{{0, 1}}));
  EXPECT_EQ(known.nodes[0].features.size(), 2u);
  const std::string other = folder_.file("g.jsonl", R"({"nodes":[{"type":"other"}],"labels":["a"]})");
  GraphReader unknown(other, {}, known);
  EXPECT_EQ(without_path(error_message([&] { unknown.next(record); })),
            "1: node 0: the type 'other'; expected a type of nodes that the model knows");
}

TEST_F(GraphReaderTest, NodesOnlyReadsOverCliques) {
  GraphTypes types;
  const auto records =
      read(R"({"nodes":[{},{}],"cliques":[{"nodes":[0,1]}],"labels":["a","b"]})", types, {true, true});
  EXPECT_TRUE(records[0].cliques.empty());
  EXPECT_TRUE(types.cliques.empty());
}

TEST_F(GraphReaderTest, SaysWhatIsWrongAndWhere) {
  const auto node = [](const std::string& inside) {
    return "{\"nodes\":[" + inside + "],\"labels\":[\"a\"]}";
  };
  const auto pair = [](const std::string& clique) {
    return "{\"nodes\":[{},{}],\"cliques\":[" + clique + "],\"labels\":[\"a\",\"b\"]}";
  };
  const std::pair<std::string, std::string> cases[] = {
      {"\n{\"nodes\":",
       "2: invalid JSON at column 10; expected one object per line, such as {\"nodes\": [...]}"},
      {"[1]", "1: '[1]'; expected an object such as {\"nodes\": [...]}"},
      {"{\"labels\":[]}", "1: a line without \"nodes\"; expected a graph such as {\"nodes\": [...]}"},
      {"{\"nodes\":[]}", "1: \"nodes\": '[]'; expected a list of at least one node"},
      {"{\"nodes\":[{}]}", "1: a graph without \"labels\"; expected one per node"},
      {"{\"nodes\":[{}],\"labels\":[\"a\",\"b\"]}", "1: 2 labels for 1 node; expected one per node"},
      {"{\"nodes\":[{}],\"labels\":[3]}", "1: label '3' of node 0; expected a string"},
      {node("7"), "1: node 0: '7'; expected an object such as {\"features\": {...}}"},
      {node("{\"feature\":[]}"), "1: node 0: 'feature'; expected type, features, allowed or cost"},
      {node("{\"type\":\"a:b\"}"), "1: node 0: the type 'a:b'; expected a name without ':'"},
      {node("{\"features\":{\"x\":\"y\"}}"), "1: node 0: feature 'x': '\"y\"'; expected a number"},
      {node("{\"features\":[1,\"y\"]}"), "1: node 0: feature '\"y\"'; expected all numbers, or all names"},
      {node("{\"features\":{\"x\":1e300}}"),
       "1: node 0: feature 'x' of 1e+300; expected a value that a float holds"},
      {node("{\"features\":3}"),
       "1: node 0: features '3'; expected {\"name\": value}, a list of names or a list of numbers"},
      {node("{\"allowed\":[\"b\"]}"), "1: node 0: its label 'a' is not allowed; expected an allowed label"},
      {node("{\"cost\":-1}"), "1: node 0: cost '-1'; expected a number >= 0"},
      {node("{\"cost\":{\"a\":1}}"), "1: node 0: its label 'a' costs 1; expected correct labels to cost 0"},
      {"{\"nodes\":[{}],\"labels\":[\"a\"],\"weight\":0}", "1: \"weight\": '0'; expected a number > 0"},
      {pair("{\"nodes\":[0,2]}"), "1: clique 0: node '2'; expected 0 to 1"},
      {pair("{\"nodes\":[1,1]}"), "1: clique 0: node 1 twice; expected different nodes"},
      {pair("{\"nodes\":[]}"), "1: clique 0: nodes '[]'; expected a list of nodes such as [0, 1]"},
      {pair("{\"nodes\":[0,1],\"type\":\"node\"}"),
       "1: clique 0: the type 'node', which is one of nodes; expected another name"},
      {pair("{\"nodes\":[0,1]},{\"nodes\":[0]}"),
       "1: clique 1: the type 'clique' with nodes of the types node; expected node, node, as before"},
      {pair("{\"nodes\":[0,1],\"forbidden\":[[\"a\"]]}"),
       "1: clique 0: forbidden '[\"a\"]'; expected a list of lists of 2 labels each"},
      {pair("{\"nodes\":[0,1],\"forbidden\":[[\"a\",\"b\"]]}"),
       "1: clique 0: its labels are forbidden; expected allowed labels"},
      {node("{}") + "\n{\"types\":{}}", "2: \"types\" after a graph; expected them before the first one"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(error(text), message) << text;
}

}  // namespace
}  // namespace espalier::graph_reader_test
