// predict, eval, show and generate.

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/cli_test.h"

namespace espalier::testing::use_test {
namespace {

class CliUseTest : public CliTest {
 protected:
  static std::vector<std::string> gold(const std::string& data) {
    std::vector<std::string> labels;
    for (const std::string& line : lines(data)) labels.push_back(line.substr(0, line.find('\t')));
    return labels;
  }
  static std::vector<std::string> split(const std::string& line, char separator) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
    return fields;
  }
  // "label:probability"
  static std::pair<std::string, double> rated(const std::string& field) {
    const std::size_t colon = field.rfind(':');
    return {field.substr(0, colon), std::stod(field.substr(colon + 1))};
  }
};

TEST_F(CliUseTest, PredictWritesOneLabelALine) {
  train_model();
  const std::string out = succeed("predict model.esp test.txt");
  const std::vector<std::string> predicted = lines(out), right = gold(read("test.txt"));
  ASSERT_EQ(predicted.size(), right.size());
  std::size_t errors = 0;
  for (std::size_t i = 0; i < right.size(); ++i) errors += predicted[i] != right[i];
  const Json report = json("eval model.esp test.txt --json");
  EXPECT_EQ(report.at("errors"), errors);
  EXPECT_EQ(report.at("examples"), right.size());
  EXPECT_EQ(report.at("error").get<double>(),
            static_cast<double>(errors) / static_cast<double>(right.size()));
  EXPECT_EQ(out.back(), '\n');

  succeed("predict model.esp test.txt -o labels.txt");
  EXPECT_EQ(read("labels.txt"), out);
}

TEST_F(CliUseTest, PredictNeedsNoLabels) {
  train_model();
  std::string unlabelled;
  for (const std::string& line : lines(read("test.txt"))) unlabelled += line.substr(line.find('\t')) + '\n';
  EXPECT_EQ(succeed("predict model.esp -", unlabelled), succeed("predict model.esp test.txt"));
}

TEST_F(CliUseTest, MarginalsAddUpAndAgreeWithTheLabel) {
  train_model();
  const std::vector<std::string> labels = lines(succeed("predict model.esp test.txt"));
  const std::vector<std::string> out = lines(succeed("predict model.esp test.txt --marginals"));
  ASSERT_EQ(out.size(), labels.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::vector<std::string> fields = split(out[i], '\t');
    ASSERT_EQ(fields.size(), 9u);
    EXPECT_EQ(fields[0], labels[i]);
    double sum = 0, largest = 0, of_label = 0;
    for (std::size_t k = 1; k < fields.size(); ++k) {
      const auto [label, probability] = rated(fields[k]);
      sum += probability;
      largest = std::max(largest, probability);
      if (label == labels[i]) of_label = probability;
    }
    EXPECT_NEAR(sum, 1, 5e-6);
    EXPECT_EQ(of_label, largest);
  }
}

TEST_F(CliUseTest, KbestIsSortedAndBeginsWithTheLabel) {
  train_model();
  const std::vector<std::string> labels = lines(succeed("predict model.esp test.txt"));
  for (const auto& [k, count] : {std::pair{1, 1}, {3, 3}, {100, 8}}) {
    const std::vector<std::string> out =
        lines(succeed("predict model.esp test.txt --kbest " + std::to_string(k)));
    ASSERT_EQ(out.size(), labels.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::vector<std::string> fields = split(out[i], '\t');
      ASSERT_EQ(fields.size(), static_cast<std::size_t>(count));
      EXPECT_EQ(rated(fields[0]).first, labels[i]);
      for (std::size_t r = 1; r < fields.size(); ++r)
        EXPECT_LE(rated(fields[r]).second, rated(fields[r - 1]).second);
    }
  }
}

TEST_F(CliUseTest, KbestOfAMarginHasScores) {
  train_model("--loss svm --gap 0.05");
  const std::vector<std::string> fields =
      split(lines(succeed("predict model.esp test.txt --kbest 8"))[0], '\t');
  ASSERT_EQ(fields.size(), 8u);
  double sum = 0;  // each column of w(u) sums to 0 over the labels, so scores do; probabilities would not
  for (const std::string& field : fields) sum += rated(field).second;
  EXPECT_NEAR(sum, 0, 1e-4);
}

TEST_F(CliUseTest, PredictOfNothingIsNothing) {
  train_model();
  write("empty.txt", "");
  for (const std::string input : {"empty.txt", "-", ""}) {
    const Outcome outcome = run("predict model.esp " + input);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out + outcome.err, "");
  }
  succeed("predict model.esp empty.txt -o out.txt");
  EXPECT_EQ(read("out.txt"), "");
}

TEST_F(CliUseTest, EvalShowsAConfusionTable) {
  write("train.svm", "a 1:1\nb 2:1\n");
  write("test.svm", "a 1:1\na 1:2\nb 1:1\nb 2:1\n");
  succeed("train classify train.svm -o model.esp --quiet");
  EXPECT_EQ(succeed("eval model.esp test.svm"),
            "error 25.00 % (1 of 4)\n"
            "\n"
            "        predicted\n"
            " gold     a     b\n"
            "    a     2     0\n"
            "    b     1     1\n"
            "\n"
            "               precision    recall        F1       gold  predicted    correct\n"
            "macro average    83.33 %   75.00 %   73.33 %\n"
            "a                66.67 %  100.00 %   80.00 %          2          3          2\n"
            "b               100.00 %   50.00 %   66.67 %          2          1          1\n");
  const std::string json = succeed("eval model.esp test.svm --json");
  EXPECT_TRUE(json.starts_with(
      R"({"error":0.25,"errors":1,"examples":4,"labels":["a","b"],"confusion":[[2,0],[1,1]],"macro":)"))
      << json;
  EXPECT_EQ(lines(json).size(), 1u);
}

TEST_F(CliUseTest, AnUnseenLabelIsAnErrorAndShown) {
  write("train.svm", "a 1:1\nb 2:1\n");
  write("test.svm", "a 1:1\nc 2:1\n");
  succeed("train classify train.svm -o model.esp --quiet");
  EXPECT_EQ(succeed("eval model.esp test.svm"),
            "error 50.00 % (1 of 2)\n"
            "\n"
            "            predicted\n"
            "     gold         a         b\n"
            "        a         1         0\n"
            "        b         0         0\n"
            "(unknown)         0         1\n"
            "\n"
            "               precision    recall        F1       gold  predicted    correct\n"
            "macro average    50.00 %   50.00 %   50.00 %\n"
            "a               100.00 %  100.00 %  100.00 %          1          1          1\n"
            "b                 0.00 %    0.00 %    0.00 %          0          1          0\n");
  EXPECT_EQ(json("eval model.esp test.svm --json").at("error"), 0.5);
}

TEST_F(CliUseTest, ShowTellsTheCertificate) {
  train_model("--l2 0.5");
  const std::vector<std::string> shown = lines(succeed("show model.esp --top 2"));
  ASSERT_GE(shown.size(), 9u);
  EXPECT_EQ(shown[0], "model        model.esp");
  EXPECT_TRUE(shown[1].starts_with("task         classify: 8 labels, ")) << shown[1];
  EXPECT_EQ(shown[2], "loss         crf, l2 0.5");
  EXPECT_TRUE(shown[3].starts_with("solver       auto, ")) << shown[3];
  EXPECT_TRUE(shown[4].starts_with("primal       ")) << shown[4];
  EXPECT_TRUE(shown[5].starts_with("dual         ")) << shown[5];
  EXPECT_TRUE(shown[6].starts_with("gap          ")) << shown[6];
  EXPECT_TRUE(shown[7].starts_with("weights      ")) << shown[7];
  EXPECT_TRUE(shown[7].ends_with(" are not zero")) << shown[7];
  EXPECT_EQ(shown.size(), 10u + 8 * 3);  // a blank line and a headline; each label with its two
  EXPECT_EQ(lines(succeed("show model.esp --top 0")).size(), 8u);
}

TEST_F(CliUseTest, ShowWeightsAreTheModel) {
  write("train.svm", "a 1:1 7:2\nb 2:1\na 1:1 2:1\n");
  succeed("train classify train.svm -o model.esp --quiet --gap 1e-6");
  std::map<std::string, double> score;
  std::size_t count = 0;
  for (const std::string& line : lines(succeed("show model.esp --weights"))) {
    const std::vector<std::string> fields = split(line, '\t');
    ASSERT_EQ(fields.size(), 3u);
    if (fields[0] == "2") score[fields[1]] = std::stod(fields[2]);
    ++count;
  }
  EXPECT_EQ(count, 6u);
  // P(b | 2:1) by hand
  const double expected = 1 / (1 + std::exp(score["a"] - score["b"]));
  EXPECT_NEAR(rated(split(succeed("predict model.esp --kbest 1", "2:1\n"), '\t')[0]).second, expected, 1e-6);
}

TEST_F(CliUseTest, GenerateIsRepeatable) {
  for (const std::string task : {"classify", "tag", "parse", "treebank", "graph", "align"}) {
    const std::string command = "generate " + task + " -n 20";
    const std::string one = succeed(command + " --seed 5");
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(one, succeed(command + " --seed 5")) << task;
    EXPECT_NE(one, succeed(command + " --seed 6")) << task;
    succeed(command + " --seed 5 -o out.txt.gz");
    EXPECT_EQ(read("out.txt.gz"), one);
  }
  EXPECT_EQ(lines(succeed("generate classify -n 20")).size(), 20u);
  EXPECT_EQ(succeed("generate classify -n 0"), "");
}

}  // namespace
}  // namespace espalier::testing::use_test
