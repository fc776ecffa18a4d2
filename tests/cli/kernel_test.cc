#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/cli_test.h"

namespace espalier::kernel_test {
namespace {

using testing::CliTest;
using testing::lines;

// Two attributes whose product decides: no weights of the attributes themselves can.
class CliKernel : public CliTest {
 protected:
  CliKernel() {
    std::string classes, words, graphs;
    std::vector<std::string> nodes, labels;  // of one graph, a ring of four
    for (int i = 0; i < 40; ++i) {
      const int x = i % 2 == 0 ? 1 : -1, y = i / 2 % 2 == 0 ? 1 : -1, noise = i % 5;
      const std::string label = x * y > 0 ? "same" : "differ";
      classes += fmt::format("{} 1:{} 2:{} 3:{}e-2\n", label, x, y, noise);
      words += fmt::format("{}\tx:{}\ty:{}\tz:{}e-2\n", label, x, y, noise);
      nodes.push_back(fmt::format(R"({{"features":{{"x":{},"y":{},"z":{}e-2}}}})", x, y, noise));
      labels.push_back('"' + label + '"');
      if (i % 4 != 3) continue;
      words += "\n";
      graphs += fmt::format(R"({{"nodes":[{}],"cliques":[{}],"labels":[{}]}})", fmt::join(nodes, ","),
                            R"({"type":"ring","nodes":[0,1]},{"type":"ring","nodes":[1,2]},)"
                            R"({"type":"ring","nodes":[2,3]},{"type":"ring","nodes":[3,0]})",
                            fmt::join(labels, ","));
      graphs += '\n';
      nodes.clear();
      labels.clear();
    }
    write("train.svm", classes);
    write("train.txt", words);
    write("train.jsonl", graphs);
  }
};

TEST_F(CliKernel, Classify) {
  succeed("train classify train.svm --l2 0.1 --kernel poly,2 --gap 1e-4 -o model.esp --quiet");
  EXPECT_EQ(json("eval model.esp train.svm --json").at("error"), 0.0);
  EXPECT_EQ(lines(succeed("predict model.esp train.svm")).at(1), "differ");
  const auto shown = json("show model.esp --json");
  EXPECT_EQ(shown.at("settings").at("kernel"), "poly,2,1,1");
  EXPECT_LE(shown.at("settings").at("nodes").get<int>(), 20);
  EXPECT_LE(shown.at("certificate").at("relative_gap").get<double>(), 1e-4);
  const auto weights = lines(succeed("show model.esp --weights"));
  EXPECT_EQ(weights.size(), 2 * shown.at("settings").at("nodes").get<std::size_t>());
  EXPECT_TRUE(weights.at(0).starts_with("node ")) << weights[0];

  succeed("train classify train.svm --l2 0.1 --gap 1e-4 -o linear.esp --quiet");
  EXPECT_GE(json("eval linear.esp train.svm --json").at("error").get<double>(), 0.2);
}

TEST_F(CliKernel, TagWithEverySolverThatTakesIt) {
  for (const std::string solver : {"eg", "frank-wolfe", "excessive-gap", "smo", "frank-wolfe,eg"}) {
    SCOPED_TRACE(solver);
    succeed(
        "train tag train.txt --format crfsuite --loss svm --l2 0.1 --kernel rbf,0.5 --gap 1e-2 --solver " +
        solver + " -o model.esp --quiet");
    EXPECT_EQ(json("eval model.esp train.txt --json").at("accuracy"), 1.0);
  }
}

TEST_F(CliKernel, GraphWithEverySolverThatTakesIt) {
  for (const std::string solver : {"eg", "frank-wolfe", "excessive-gap", "extragradient", "frank-wolfe,eg"}) {
    SCOPED_TRACE(solver);
    succeed("train graph train.jsonl --loss svm --l2 0.1 --kernel rbf,0.5 --gap 1e-2 --solver " + solver +
            " -o model.esp --quiet");
    EXPECT_EQ(json("eval model.esp train.jsonl --json").at("accuracy"), 1.0);
  }
}

TEST_F(CliKernel, Graph) {
  write("test.jsonl",
        R"({"nodes":[{"features":{"x":0.9,"y":-1.1,"new":5}},{"features":{"x":-0.8,"y":-0.7}}],)"
        R"("cliques":[{"type":"ring","nodes":[0,1]}],"labels":["differ","same"]})"
        "\n");
  succeed(
      "train graph train.jsonl --dev test.jsonl --l2 0.1 --kernel poly,2 --gap 1e-4 -o model.esp --log "
      "run.log "
      "--quiet");
  const auto log = lines(read("run.log"));
  EXPECT_EQ(Json::parse(log.front()).at("kernel"), "poly,2");
  EXPECT_EQ(Json::parse(log.front()).at("kernel_memory"), 1 << 30);
  const Json dev = Json::parse(log.at(log.size() - 2)).at("dev");
  EXPECT_EQ(dev.at("accuracy"), 1.0);
  EXPECT_EQ(json("eval model.esp test.jsonl --json").at("accuracy"), dev.at("accuracy"));
  EXPECT_EQ(json("eval model.esp train.jsonl --json").at("accuracy"), 1.0);
  EXPECT_EQ(Json::parse(succeed("predict model.esp test.jsonl")).at("labels").dump(), R"(["differ","same"])");
  const auto shown = json("show model.esp --json");
  EXPECT_EQ(shown.at("settings").at("kernel"), "poly,2,1,1");
  ASSERT_EQ(shown.at("settings").at("nodes").size(), 1u);
  EXPECT_LE(shown.at("settings").at("nodes")[0].get<int>(), 20);
  EXPECT_LE(shown.at("certificate").at("relative_gap").get<double>(), 1e-4);
  // Coefficients of two labels for each node, and weights of cliques.
  EXPECT_EQ(lines(succeed("show model.esp --weights")).size(),
            2 * shown.at("settings").at("nodes")[0].get<std::size_t>() + 4u);

  succeed("train graph train.jsonl --l2 0.1 --gap 1e-4 -o linear.esp --quiet");
  EXPECT_LE(json("eval linear.esp train.jsonl --json").at("accuracy").get<double>(), 0.8);
}

// The graphs are rings, so neither is exact.
TEST_F(CliKernel, GraphWithApproximateInference) {
  const std::string train =
      "train graph train.jsonl --l2 0.1 --kernel poly,2 --gap 1e-2 -o model.esp --quiet ";
  succeed(train + "--inference trw");
  EXPECT_EQ(json("show model.esp --json").at("certificate").at("relaxed"), true);
  EXPECT_EQ(json("eval model.esp train.jsonl --json").at("accuracy"), 1.0);
  succeed(train + "--inference bp");
  EXPECT_EQ(json("show model.esp --json").at("certificate").at("approximate"), true);
  EXPECT_EQ(json("eval model.esp train.jsonl --json").at("accuracy"), 1.0);
}

// What it is a sum of does not matter to the optimum.
TEST_F(CliKernel, GraphWithALinearKernelHasTheOptimumOfWeights) {
  const auto primal = [&](const std::string& options) -> double {
    succeed("train graph train.jsonl --l2 0.5 --gap 1e-6 -o model.esp --quiet " + options);
    return json("show model.esp --json").at("certificate").at("primal").get<double>();
  };
  const double weights = primal("");
  EXPECT_NEAR(primal("--kernel linear"), weights, 2e-6 * weights);
  EXPECT_NEAR(primal("--kernel poly,1,0,1"), weights, 2e-6 * weights);
}

TEST_F(CliKernel, LittleMemoryGivesTheSameBytes) {
  for (const std::string data : {"tag train.txt --format crfsuite", "graph train.jsonl"}) {
    const std::string train = "train " + data + " --kernel poly,3,1,0.5 --passes 8 --quiet ";
    succeed(train + "-o whole.esp");
    succeed(train + "--kernel-memory 200 -o part.esp");
    EXPECT_EQ(read("whole.esp"), read("part.esp"));
  }
}

TEST_F(CliKernel, PathCrossValidationCheckpointsAndMarginals) {
  EXPECT_EQ(lines(succeed("path tag train.txt --format crfsuite --kernel poly,2 --dev train.txt --l2-max 1 "
                          "--l2-min 0.1 --factor 0.1 --quiet"))
                .size(),
            3u);
  EXPECT_EQ(lines(succeed("cross-validate classify train.svm --kernel poly,2 --folds 2 --l2-max 1 --l2-min 1 "
                          "--quiet"))
                .size(),
            2u);
  EXPECT_EQ(lines(succeed("path graph train.jsonl --kernel poly,2 --dev train.jsonl --l2-max 1 --l2-min 0.1 "
                          "--factor 0.1 --quiet"))
                .size(),
            3u);
  EXPECT_EQ(lines(succeed("cross-validate graph train.jsonl --kernel rbf,1 --folds 2 --l2-max 1 --l2-min 1 "
                          "--quiet"))
                .size(),
            2u);
  succeed("race graph train.jsonl --kernel poly,2 --solvers eg,eg-batch --gap 1e-3 --quiet");
  const std::string train =
      "train tag train.txt --format crfsuite --kernel poly,2 --l2 0.1 -o model.esp "
      "--checkpoint run.ckpt --quiet ";
  succeed(train + "--passes 2 --gap 1e-9");
  EXPECT_TRUE(files().contains("run.ckpt"));
  succeed(train + "--resume --gap 1e-4");
  EXPECT_FALSE(files().contains("run.ckpt"));
  EXPECT_EQ(json("eval model.esp train.txt --json").at("accuracy"), 1.0);
  const auto first = lines(succeed("predict model.esp train.txt --marginals")).at(0);
  EXPECT_TRUE(first.starts_with("same\t")) << first;

  const std::string train_graphs =
      "train graph train.jsonl --kernel poly,2 --l2 0.1 -o graphs.esp --checkpoint graphs.ckpt --quiet ";
  succeed(train_graphs + "--passes 2 --gap 1e-9");
  EXPECT_TRUE(files().contains("graphs.ckpt"));
  succeed(train_graphs + "--resume --gap 1e-4");
  EXPECT_EQ(json("eval graphs.esp train.jsonl --json").at("accuracy"), 1.0);

  succeed(train + "--passes 2 --gap 1e-9");
  const auto other =
      run("train tag train.txt --format crfsuite --kernel poly,3 --l2 0.1 -o model.esp "
          "--checkpoint run.ckpt --resume");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("run.ckpt: a checkpoint of a run with kernel poly,2,1,1; expected kernel "
                           "poly,3,1,1, as in this run"),
            std::string::npos)
      << other.err;
}

TEST_F(CliKernel, Refusals) {
  EXPECT_EQ(error("train classify train.svm -o m.esp --kernel poly"),
            "espalier: --kernel: 'poly'; expected poly,DEGREE[,CONSTANT[,SCALE]]");
  EXPECT_EQ(error("train classify train.svm -o m.esp --kernel poly,2 --kernel-memory some"),
            "espalier: --kernel-memory: found 'some'; expected a number of bytes > 0, such as 500M or 1.5G; "
            "see 'espalier train classify --help'");
  EXPECT_EQ(error("train classify train.svm -o m.esp --kernel poly,2 --solver lbfgs"),
            "espalier: lbfgs: given for a problem with a kernel; expected a solver of the dual, such as eg");
  succeed("train classify train.svm -o linear.esp --quiet");
  succeed("train classify train.svm -o kernel.esp --kernel poly,2 --quiet");
  constexpr const char* kInit =
      "espalier: --init: a kernel, whose coefficients have no names to match; expected a model and a "
      "run without --kernel";
  EXPECT_EQ(error("train classify train.svm -o m.esp --kernel poly,2 --init linear.esp"), kInit);
  EXPECT_EQ(error("train classify train.svm -o m.esp --init kernel.esp"), kInit);
  EXPECT_EQ(
      error("show --diff kernel.esp linear.esp"),
      "espalier: --diff: a model with a kernel, whose coefficients have no names; expected two without");
  EXPECT_EQ(error("train graph train.jsonl -o m.esp --kernel poly,2 --solver lbfgs"),
            "espalier: lbfgs: given for a problem with a kernel; expected a solver of the dual, such as eg");
  EXPECT_EQ(error("train graph train.jsonl -o m.esp --kernel rbf"),
            "espalier: --kernel: 'rbf'; expected rbf,GAMMA with a number > 0");
  succeed("train graph train.jsonl -o graphs.esp --kernel poly,2 --quiet");
  EXPECT_EQ(error("train graph train.jsonl -o m.esp --init graphs.esp"), kInit);
  EXPECT_EQ(
      error("show --diff graphs.esp graphs.esp"),
      "espalier: --diff: a model with a kernel, whose coefficients have no names; expected two without");
  EXPECT_FALSE(files().contains("m.esp"));
}

}  // namespace
}  // namespace espalier::kernel_test
