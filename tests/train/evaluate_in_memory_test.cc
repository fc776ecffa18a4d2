// What models say of gold data in memory is what they say of a file of it.

#include <gtest/gtest.h>

#include <string>

#include "espalier/tasks/graph.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/treebank.h"
#include "espalier/train/read.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/temporary_folder.h"

namespace espalier::evaluate_in_memory_test {
namespace {

using testing::error_message;
using testing::generated_sentences;
using testing::TemporaryFolder;

const TrainOptions kShort{.gap = 0.1, .passes = 5};

TEST(EvaluateInMemory, DependenciesAsThoseOfAFile) {
  const TemporaryFolder folder;
  const std::string text = generated_sentences(1, 12, append_parse),
                    gold = generated_sentences(2, 8, append_parse);
  const std::string file = folder.file("gold.conllu", gold);
  ParseData train_data, gold_data;
  for (const auto& sentence : parse_dependencies(text, true)) train_data.add(sentence);
  for (const auto& sentence : read_dependencies(file, true)) gold_data.add(sentence);
  ASSERT_EQ(gold_data.size(), 8u);
  ParseOptions options;
  options.hash_bits = 12;
  const Model model = train(*make_parse_training(train_data, options), kShort);
  const Evaluation in_memory = model.parser().evaluate(gold_data);
  EXPECT_EQ(in_memory.text, model.predictor().evaluate(file, {}).text);
  EXPECT_GT(in_memory.value, 0);

  std::string out;
  Parser::Sentence parsed(model.parser());
  for (const auto& sentence : parse_dependencies(gold, false)) {
    parsed.set(sentence);
    append_tree(sentence, parsed.heads(), parsed.relations(), out);
  }
  std::string predicted;
  model.predictor().predict(file, {}, [&](std::string_view piece) { predicted += piece; });
  EXPECT_EQ(out, predicted);
  EXPECT_EQ(error_message([&] { model.parser().evaluate(ParseData()); }),
            "data in memory: no sentences; expected some");
  EXPECT_EQ(error_message([] { parse_dependencies("1\ta\t_\tN\t_\t_\t7\troot\n", true); }),
            "data in memory:1: the head 7; expected another word, 1 to 1, or 0 for the root");
}

TEST(EvaluateInMemory, BracketsAsThoseOfAFile) {
  const TemporaryFolder folder;
  const std::string text = generated_sentences(1, 12, append_treebank);
  const std::string gold =
      generated_sentences(2, 8, append_treebank) + "(S (NP-SBJ (-NONE- *)) (VP (VB walk)))\n";
  const std::string file = folder.file("gold.txt", gold);
  TreebankData train_data, gold_data, read;
  train_data.add_all(text);
  gold_data.add_all(gold);
  read.read(file);
  ASSERT_EQ(gold_data.size(), 9u);
  ASSERT_EQ(read.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(read.tree(i), gold_data.tree(i));
  TreebankOptions options;
  options.hash_bits = 10;
  const Model model = train(*make_treebank_training(train_data, options), kShort);
  EXPECT_EQ(model.treebank_parser().evaluate(gold_data).text, model.predictor().evaluate(file, {}).text);
  TreebankData traces;
  traces.add("(S (-NONE- 0))");
  EXPECT_EQ(error_message([&] { model.treebank_parser().evaluate(traces); }),
            "data in memory:1: a tree that has only traces; expected words");
  EXPECT_EQ(error_message([&] { model.treebank_parser().evaluate(TreebankData()); }),
            "data in memory: no trees; expected some");
}

TEST(EvaluateInMemory, GraphsAsThoseOfAFile) {
  const TemporaryFolder folder;
  GraphData data;
  std::string text;
  for (const char* labels : {"aab", "abb", "bba", "aaz"}) {
    LabelledGraph graph;
    text += "{\"nodes\": [";
    for (std::size_t v = 0; v < 3; ++v) {
      const std::string label(1, labels[v]);
      graph.nodes.push_back({.features = {{{"is-" + label, 1.0}, {"v", double(v)}}}, .label = label});
      text += (v > 0 ? ", " : "") + std::string("{\"features\": {\"is-") + label +
              "\": 1, \"v\": " + std::to_string(v) + "}}";
    }
    graph.cliques.push_back({.nodes = {0, 1}});
    text += "], \"cliques\": [{\"nodes\": [0, 1]}], \"labels\": [";
    for (std::size_t v = 0; v < 3; ++v) text += (v > 0 ? ", \"" : "\"") + std::string(1, labels[v]) + "\"";
    text += "]}\n";
    data.add(std::move(graph));
  }
  GraphData known;  // without the label z
  for (std::size_t i = 0; i < 3; ++i) known.add(data.graph(i));
  const std::string file = folder.file("gold.jsonl", text);
  const Model model = train(*make_graph_training(known), kShort);
  const Evaluation in_memory = model.graph_labeller().evaluate(data);
  EXPECT_EQ(in_memory.text, model.predictor().evaluate(file, {}).text);
  EXPECT_LT(in_memory.dev_error, 1);
  EXPECT_GT(in_memory.dev_error, 0);  // nobody knows z
  LabelledGraph unlabelled = data.graph(0);
  for (auto& node : unlabelled.nodes) node.label.reset();
  GraphData without;
  without.add(unlabelled);
  EXPECT_NE(error_message([&] { model.graph_labeller().evaluate(without); }).find("label"),
            std::string::npos);
  EXPECT_EQ(error_message([&] { model.graph_labeller().evaluate(GraphData()); }),
            "data in memory: no graphs; expected some");
}

}  // namespace
}  // namespace espalier::evaluate_in_memory_test
