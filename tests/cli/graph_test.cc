// Graphs, from JSON Lines to labels.

#include "cli/cli_test.h"

namespace espalier::testing::graph_test {
namespace {

class CliGraphTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate graph -n 40 --seed 1 -o train.jsonl");
    succeed("generate graph -n 20 --seed 2 -o test.jsonl");
  }
  std::string train(const std::string& model, const std::string& options = "") const {
    const Outcome outcome = run("train graph train.jsonl --gap 1e-2 -o " + model + " " + options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return lines(outcome.err).back();
  }
  double accuracy(const std::string& model, const std::string& file = "test.jsonl") const {
    return json("eval " + model + " " + file + " --json").at("accuracy").get<double>();
  }
};

TEST_F(CliGraphTest, EdgesHelp) {
  train("alone.esp", "--nodes-only");
  train("edges.esp");
  EXPECT_GT(accuracy("edges.esp"), accuracy("alone.esp") + 0.05);
  const Json report = json("eval edges.esp test.jsonl --json");
  EXPECT_EQ(report.at("nodes"), 20 * 64);
  EXPECT_EQ(report.at("graphs"), 20);
  EXPECT_EQ(report.at("accuracy"), report.at("correct_nodes").get<double>() / (20 * 64));
}

TEST_F(CliGraphTest, PredictWritesTheSameJsonWithLabels) {
  train("model.esp");
  write("new.jsonl",
        "{\"types\":{}}\n{\"id\":7,\"nodes\":[{\"type\":\"pixel\",\"features\":[\"light\"]},{\"type\":"
        "\"pixel\","
        "\"features\":[\"light\"]}],\"cliques\":[{\"type\":\"right\",\"nodes\":[0,1]}]}\n");
  EXPECT_EQ(
      succeed("predict model.esp new.jsonl"),
      "{\"types\":{}}\n{\"id\":7,\"nodes\":[{\"type\":\"pixel\",\"features\":[\"light\"]},{\"type\":"
      "\"pixel\","
      "\"features\":[\"light\"]}],\"cliques\":[{\"type\":\"right\",\"nodes\":[0,1]}],\"labels\":[\"paper\","
      "\"paper\"]}\n");
  const Json full = Json::parse(lines(succeed("predict model.esp new.jsonl --marginals --kbest 9")).at(1));
  const Json& marginals = full.at("marginals");
  ASSERT_EQ(marginals.size(), 2u);
  double sum = 0, ink = 0;
  ASSERT_EQ(full.at("kbest").size(), 4u);
  for (const Json& one : full.at("kbest")) {
    sum += one.at("probability").get<double>();
    if (one.at("labels")[0] == "ink") ink += one.at("probability").get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_NEAR(ink, marginals[0].at("ink").get<double>(), 1e-9);
  EXPECT_EQ(full.at("kbest")[0].at("labels"), full.at("labels"));
  // What it wrote can be read again, with as many threads as one likes.
  succeed("predict model.esp test.jsonl -o one.jsonl");
  succeed("predict model.esp test.jsonl --threads 3 -o three.jsonl");
  EXPECT_EQ(read("one.jsonl"), read("three.jsonl"));
  EXPECT_EQ(accuracy("model.esp", "one.jsonl"), 1);
}

TEST_F(CliGraphTest, RelaxationsAndApproximationsSaySo) {
  const std::string relaxed = train("trw.esp", "--inference trw --log trw.log");
  EXPECT_NE(relaxed.find(" (of the relaxed problem: losses are upper bounds); saved trw.esp"),
            std::string::npos)
      << relaxed;
  EXPECT_EQ(json("show trw.esp --json").at("certificate").at("relaxed"), true);
  EXPECT_NE(succeed("show trw.esp").find("of the relaxed problem: losses are upper bounds"),
            std::string::npos);
  const auto log = lines(read("trw.log"));
  EXPECT_EQ(Json::parse(log.front()).at("relaxed"), true);
  EXPECT_EQ(Json::parse(log.back()).at("relaxed"), true);
  const std::string approximate = train("bp.esp", "--inference bp --passes 20");
  EXPECT_NE(approximate.find("approximate relative gap"), std::string::npos) << approximate;
  EXPECT_EQ(json("show bp.esp --json").at("certificate").at("approximate"), true);
  EXPECT_GT(accuracy("trw.esp"), 0.85);
  EXPECT_EQ(error("predict trw.esp test.jsonl --kbest 2"),
            "espalier: --kbest: given with approximate inference; expected a model of exact inference");
}

TEST_F(CliGraphTest, TheSameRunGivesTheSameModelAndItsWeightsHaveNames) {
  train("a.esp");
  train("b.esp");
  EXPECT_EQ(read("a.esp"), read("b.esp"));
  const auto weights = lines(succeed("show a.esp --weights"));
  ASSERT_EQ(weights.size(), 2 * 2 + 2 * 4u);
  EXPECT_EQ(weights.at(0).substr(0, weights.at(0).rfind('\t')), "pixel:light\tpaper");
  EXPECT_EQ(weights.at(4).substr(0, weights.at(4).rfind('\t')), "right:constant\tpaper\tpaper");
  const Outcome outcome = run("train graph train.jsonl --init a.esp -o c.esp");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("started from a.esp: 2 of its 2 labels, 2 of its 2 attributes"),
            std::string::npos)
      << outcome.err;
}

TEST_F(CliGraphTest, OtherCommandsWork) {
  const auto table =
      lines(succeed("path graph train.jsonl --dev test.jsonl --l2-max 10 --l2-min 1 --factor 0.1 --quiet"));
  EXPECT_EQ(table.size(), 3u);
  EXPECT_NE(table.back().find("accuracy"), std::string::npos);
  succeed("race graph train.jsonl --solvers eg,lbfgs --gap 1e-3 --quiet");
  succeed("cross-validate graph train.jsonl --folds 2 --l2-max 1 --l2-min 1 --gap 1e-2 --quiet");
  succeed("train graph train.jsonl --loss svm --gap 0.05 --passes 100 -o svm.esp --quiet");
  EXPECT_GT(accuracy("svm.esp"), 0.85);
}

TEST_F(CliGraphTest, BadInput) {
  write("bad.jsonl", "{\"nodes\":[{}],\"labels\":[\"a\"]}\n{\"nodes\":[{}]}\n");
  EXPECT_EQ(error("train graph bad.jsonl -o bad.esp"),
            "espalier: bad.jsonl:2: a graph without \"labels\"; expected one per node");
  EXPECT_FALSE(files().contains("bad.esp"));
  EXPECT_EQ(error("train graph train.jsonl --inference magic -o bad.esp").substr(0, 10), "espalier: ");
  write("empty.jsonl", "");
  EXPECT_EQ(error("train graph empty.jsonl -o bad.esp"),
            "espalier: empty.jsonl: no graphs; expected at least one");
  train("model.esp");
  EXPECT_EQ(error("eval model.esp empty.jsonl"), "espalier: empty.jsonl: no graphs; expected some");
  write("impossible.jsonl",
        "{\"nodes\":[{\"type\":\"pixel\",\"allowed\":[\"ink\"]},{\"type\":\"pixel\",\"allowed\":[\"ink\"]}],"
        "\"cliques\":[{\"type\":\"right\",\"nodes\":[0,1],\"forbidden\":[[\"ink\",\"ink\"]]}]}\n");
  EXPECT_EQ(
      error("predict model.esp impossible.jsonl"),
      "espalier: impossible.jsonl:1: no labelling is allowed; expected constraints that allow at least one");
  EXPECT_EQ(error("predict model.esp test.jsonl --format conll"),
            "espalier: --format conll: given for a model of graph; expected a model of parse");
}

}  // namespace
}  // namespace espalier::testing::graph_test
