#include "tasks/kernel_model.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/features/row_features.h"
#include "espalier/model/model.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/tag.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/graph/kernels.h"
#include "tasks/trained.h"

namespace espalier::kernel_model_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

// A corner of a square and the one opposite have the same label: no line between the two labels.
constexpr const char* kSquare =
    "same 1:-1 2:-1\ndiffer 1:1 2:-1\ndiffer 1:-1 2:1\nsame 1:1 2:1\nsame 1:1 2:1\n";
constexpr const char* kTag = "A\tx:1\ty:2\nB\ty:1\n\nB\tx:-1\nA\tx:1\ty:2\nA\n\n";

// Words and corners, each with features of their own.
constexpr const char* kGraphs = R"({"nodes":[{"type":"word","features":["a"]}],"labels":["A"]}
{"nodes":[{"type":"word","features":["b"]},{"type":"corner","features":{"x":-1,"y":-1}}],"cliques":[{"type":"pair","nodes":[0,1]}],"labels":["B","same"]}
{"nodes":[{"type":"corner","features":{"x":1,"y":-1}},{"type":"corner","features":{"x":1,"y":1}},{"type":"word","features":["b"]}],"cliques":[{"type":"pair","nodes":[2,1]}],"labels":["differ","same","B"]}
)";

ClassifyOptions quadratic() {
  ClassifyOptions options;
  options.kernel = "poly,2,0";
  return options;
}

TEST(KernelModel, ClassifyTrainingSet) {
  const TemporaryFolder folder;
  const auto set = read_classify_training(folder.file("train.svm", kSquare), quadratic());
  EXPECT_EQ(set->version(), 2);
  EXPECT_EQ(set->describe(), "5 examples, 2 labels, 2 attributes, kernel poly,2,0,1 over 4 nodes");
  EXPECT_EQ(set->problem().weight_shape(), (WeightShape{4, 2}));
  EXPECT_EQ(set->sections().settings.dump(),
            R"({"format":"libsvm","bias":false,"costs":false,"kernel":"poly,2,0,1"})");
  Weights theta(set->problem().weight_shape());
  EXPECT_EQ(set->find_weight({"1", {}, "same"}, theta), nullptr);
}

TEST(KernelModel, KeepsTheNodesThatCount) {
  const TemporaryFolder folder;
  const std::string path = folder.file("train.svm", kSquare);
  const auto set = read_classify_training(path, quadratic());
  set->read_dev(path);
  Weights theta(set->problem().weight_shape());
  theta.row(3)[1] = 1;  // (1, 1) says same
  theta.row(1)[0] = 1;  // (1, -1) says differ
  EXPECT_EQ(set->evaluate_dev(theta).dev_error, 0);
  EXPECT_EQ(set->evaluate_examples(theta, std::vector<std::uint32_t>{0, 2}).dev_error, 0);

  const auto contents = set->model_contents(theta);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->theta.shape(), (WeightShape{2, 2}));
  EXPECT_EQ(contents->sections.settings.at("nodes"), 2);
  const Trained model(load_classify_predictor, contents->sections, contents->theta);
  EXPECT_EQ(model.predict(path), "same\ndiffer\ndiffer\nsame\nsame\n");
  EXPECT_EQ(model.predictor->describe(), "2 labels, 2 attributes, kernel poly,2,0,1 over 2 nodes");
  EXPECT_EQ(model.predictor->strongest(3), "");
  EXPECT_EQ(model.predictor->all_weights(),
            "node 1 2:-1\tdiffer\t1\nnode 1 2:-1\tsame\t0\nnode 1 2\tdiffer\t0\nnode 1 2\tsame\t1\n");
  EXPECT_EQ(model.predictor->find_weight({"node 2 1", {}, "same"}), 1.0f);
  EXPECT_EQ(set->find_weight({"node 1 2", {}, "same"}, theta), &theta.row(3)[1]);
  for (const char* name : {"1", "node 1:-1 2:-1", "node 1 3", "node 1:x", "node  1", "node1"})
    EXPECT_FALSE(model.predictor->find_weight({name, {}, "same"})) << name;
}

TEST(KernelModel, TagTrainingSetAndModel) {
  const TemporaryFolder folder;
  const std::string path = folder.file("train.txt", kTag);
  TagOptions options;
  options.format = "crfsuite";
  options.kernel = "rbf,0.5";
  const auto set = read_tag_training(path, options);
  EXPECT_EQ(set->version(), 3);
  EXPECT_EQ(set->describe(), "2 sequences, 5 tokens, 2 labels, 2 attributes, kernel rbf,0.5 over 4 nodes");
  ASSERT_EQ(set->problem().weight_shape(), (WeightShape{4 + 2, 2}));

  // Node 0 is x:1 y:2, node 1 y:1, node 2 x:-1, node 3 nothing.
  Weights theta(set->problem().weight_shape());
  theta.row(0)[0] = 2;
  theta.row(2)[1] = 3;
  theta.row(4)[1] = 0.75f;  // A -> B
  set->read_dev(path);
  const auto before = set->evaluate_dev(theta);
  EXPECT_EQ(before.dev_error, set->evaluate_examples(theta, std::vector<std::uint32_t>{0, 1}).dev_error);

  const auto contents = set->model_contents(theta);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->theta.shape(), (WeightShape{2 + 2, 2}));
  const Trained model(load_tag_predictor, contents->sections, contents->theta);
  EXPECT_EQ(model.predictor->evaluate(path, {}).dev_error, before.dev_error);
  EXPECT_EQ(model.predictor->describe(), "2 labels, 2 attributes, kernel rbf,0.5 over 2 nodes");
  EXPECT_EQ(model.predictor->find_weight({"(transition)", {}, "A"}), std::nullopt);
  EXPECT_NE(model.predictor->strongest(1).find("+0.7500  A -> B"), std::string::npos)
      << model.predictor->strongest(1);
}

TEST(KernelModel, GraphTrainingSetAndModel) {
  const TemporaryFolder folder;
  const std::string path = folder.file("train.jsonl", kGraphs);
  GraphOptions options;
  options.kernel = "poly,2,0";
  const auto set = read_graph_training(path, options);
  EXPECT_EQ(set->version(), 2);
  EXPECT_EQ(set->describe(),
            "3 graphs of 6 nodes and 2 cliques (word: 2 labels, 2 features; corner: 2 labels, 2 features; "
            "pair of 2 "
            "nodes: 1 feature, kernel poly,2,0,1 over 5 nodes), exact inference, tree-width up to 1");
  EXPECT_EQ(set->sections().settings.at("kernel"), "poly,2,0,1");
  // Nodes of corners are (-1, -1), (1, -1) and (1, 1), in that order; those of words are behind, in a block
  // of their own.
  ASSERT_EQ(set->problem().weight_shape(), (WeightShape{48, 1}));
  Weights theta(set->problem().weight_shape());
  const auto at = [&](std::size_t place) -> float& { return *theta.row(place); };
  const std::size_t word = 0, corner = 16, pair = 32;
  at(word + 1 * 2 + 1) = 1;    // "b" says B
  at(corner + 1 * 2 + 1) = 1;  // (1, -1) says differ
  at(corner + 2 * 2 + 0) = 1;  // (1, 1) says same
  at(pair + 2) = 0.5;          // B same
  EXPECT_EQ(set->find_weight({"corner:x", {}, "same"}, theta), nullptr);
  const std::string_view first = "B";
  EXPECT_EQ(set->find_weight({"pair:constant", {&first, 1}, "same"}, theta), &at(pair + 2));

  set->read_dev(path);
  EXPECT_EQ(set->evaluate_dev(theta).dev_error, 0);
  EXPECT_EQ(set->evaluate_examples(theta, std::vector<std::uint32_t>{0, 1, 2}).dev_error, 0);

  const auto contents = set->model_contents(theta);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->theta.shape(), (WeightShape{48, 1}));
  EXPECT_EQ(contents->sections.settings.at("nodes").dump(), "[1,2]");
  const Trained model(load_graph_predictor, contents->sections, contents->theta);
  EXPECT_EQ(model.predictor->evaluate(path, {}).dev_error, 0);
  EXPECT_EQ(model.predictor->describe(),
            "word: 2 labels, 2 features; corner: 2 labels, 2 features; pair of 2 nodes: 1 feature, kernel "
            "poly,2,0,1 over 3 nodes");
  EXPECT_EQ(model.predictor->strongest(1), "pair\n    +0.5000  constant  B same\n");
  EXPECT_EQ(model.predictor->all_weights(),
            "word:node b\tA\t0\nword:node b\tB\t1\n"
            "corner:node x y:-1\tsame\t0\ncorner:node x y:-1\tdiffer\t1\n"
            "corner:node x y\tsame\t1\ncorner:node x y\tdiffer\t0\n"
            "pair:constant\tA\tsame\t0\npair:constant\tA\tdiffer\t0\npair:constant\tB\tsame\t0.5\n"
            "pair:constant\tB\tdiffer\t0\n");
  EXPECT_EQ(model.predictor->find_weight({"pair:constant", {&first, 1}, "same"}), 0.5f);
  EXPECT_FALSE(model.predictor->find_weight({"word:b", {}, "B"}));
}

TEST(KernelModel, TypesOfNodesShareTheMemoryTheSmallestFirst) {
  GraphTypes types;
  types.nodes.resize(3);
  GraphFeatures features({{100, 2}, {100, 2}, {100, 2}});
  const std::size_t sizes[] = {40, 5, 30};
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::uint32_t a = 0; a < 100; ++a) types.nodes[t].features.add(std::to_string(a));
    for (std::uint32_t v = 0; v < sizes[t]; ++v) {
      features.add(t, v, 1);
      features.finish_row(t);
    }
  }
  features.finish_graph();
  const auto complete = [&](std::size_t memory) {
    std::string which;
    for (const auto& kernel : make_graph_kernels("linear", memory, types, features))
      which += kernel->complete() ? '1' : '0';
    return which;
  };
  // Rows are padded to 16 floats: 4 * 40 * 48, 4 * 5 * 16 and 4 * 30 * 32 bytes.
  EXPECT_EQ(complete(7680 + 320 + 3840), "111");
  EXPECT_EQ(complete(7680 + 320 + 3840 - 1), "011");
  EXPECT_EQ(complete(3840 + 320 + 3840), "011");
  EXPECT_EQ(complete(3840 + 320 + 3839 - 1), "010");
  EXPECT_EQ(complete(960), "010");
  EXPECT_EQ(complete(959), "000");
}

TEST(KernelModel, WithoutAKernelNothingChanges) {
  const TemporaryFolder folder;
  const auto graphs = read_graph_training(folder.file("train.jsonl", kGraphs), {});
  EXPECT_FALSE(graphs->model_contents(Weights(graphs->problem().weight_shape())));
  EXPECT_EQ(graphs->version(), 1);
  const auto set = read_classify_training(folder.file("train.svm", kSquare), {});
  Weights theta(set->problem().weight_shape());
  theta.fill(1);
  EXPECT_FALSE(set->model_contents(theta));
  EXPECT_EQ(set->version(), 1);
}

TEST(KernelModel, Refusals) {
  const TemporaryFolder folder;
  const std::string svm = folder.file("train.svm", kSquare), path = folder.file("train.txt", kTag);
  ClassifyOptions classify;
  classify.kernel = "cubic";
  const std::string unknown =
      "kernel: 'cubic'; expected linear, poly,DEGREE[,CONSTANT[,SCALE]] or rbf,GAMMA, such as poly,3";
  EXPECT_EQ(error_message([&] { read_classify_training(svm, classify); }), unknown);
  GraphOptions graph;
  graph.kernel = "cubic";
  EXPECT_EQ(error_message([&] { read_graph_training(folder.file("train.jsonl", kGraphs), graph); }), unknown);
  TagOptions tag;
  tag.format = "crfsuite";
  tag.kernel = "poly,3";
  tag.features = "observed";
  EXPECT_EQ(
      error_message([&] { read_tag_training(path, tag); }),
      "features observed: given with kernel, whose coefficients are not of features; expected features all "
      "and no min_freq");
}

// A model whose parts do not fit, made by hand.
class BrokenKernelModel : public ::testing::Test {
 protected:
  BrokenKernelModel() : set_(read_classify_training(folder_.file("train.svm", kSquare), quadratic())) {
    Weights theta(set_->problem().weight_shape());
    theta.fill(1);
    contents_ = *set_->model_contents(theta);
  }
  std::string refusal() {
    return error_message([&] { Trained(load_classify_predictor, contents_.sections, contents_.theta); });
  }
  void replace(std::string_view name, std::string_view bytes) {
    for (auto& array : contents_.sections.arrays) {
      if (array.first == name) array.second = bytes;
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<TrainingSet> set_;
  ModelContents contents_;
};

TEST_F(BrokenKernelModel, AKernelThatNobodyKnows) {
  contents_.sections.settings["kernel"] = "spline";
  EXPECT_EQ(refusal(), "model.esp: the kernel 'spline'; retrain the model");
}

TEST_F(BrokenKernelModel, NodesWithoutOffsets) {
  replace("nodes.offsets", "");
  EXPECT_EQ(refusal(), "model.esp: nodes of a kernel that do not fit their attributes; retrain the model");
}

TEST_F(BrokenKernelModel, AnAttributeThatIsNone) {
  const std::vector<std::uint32_t> ids(8, 7);
  replace("nodes.ids", {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(ids[0])});
  EXPECT_EQ(refusal(), "model.esp: attribute 7 of 2 in a node of a kernel; retrain the model");
}

TEST_F(BrokenKernelModel, TooFewCoefficients) {
  contents_.theta = Weights({3, 2});
  EXPECT_EQ(refusal(), "model.esp: 3 rows of weights for 4 nodes of a kernel; retrain the model");
}

// The same for graphs.
class BrokenKernelGraphModel : public ::testing::Test {
 protected:
  BrokenKernelGraphModel() {
    GraphOptions options;
    options.kernel = "rbf,1";
    set_ = read_graph_training(folder_.file("train.jsonl", kGraphs), options);
    Weights theta(set_->problem().weight_shape());
    theta.fill(1);
    contents_ = *set_->model_contents(theta);
  }
  std::string refusal() {
    return error_message([&] { Trained(load_graph_predictor, contents_.sections, contents_.theta); });
  }

  TemporaryFolder folder_;
  std::unique_ptr<TrainingSet> set_;
  ModelContents contents_;
};

TEST_F(BrokenKernelGraphModel, IsFineAsLongAsNothingIsDoneToIt) { EXPECT_EQ(refusal(), "(no error)"); }

TEST_F(BrokenKernelGraphModel, AKernelThatNobodyKnows) {
  contents_.sections.settings["kernel"] = "spline";
  EXPECT_EQ(refusal(), "model.esp: the kernel 'spline'; retrain the model");
}

TEST_F(BrokenKernelGraphModel, NodesOfASecondTypeThatDoNotFit) {
  for (auto& array : contents_.sections.arrays) {
    if (array.first == "nodes.1.values") array.second = array.second.substr(4);
  }
  EXPECT_EQ(refusal(), "model.esp: nodes of a kernel that do not fit their attributes; retrain the model");
}

TEST_F(BrokenKernelGraphModel, TooFewCoefficients) {
  contents_.theta = Weights({32, 1});
  EXPECT_EQ(refusal(),
            "model.esp: 32 x 1 weights for word: 2 labels, 2 features; corner: 2 labels, 2 features; pair of "
            "2 nodes: 1 feature, kernel rbf,1 over 5 nodes; retrain the model");
}

}  // namespace
}  // namespace espalier::kernel_model_test
