#include "tasks/classify/confusion.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tasks/classify/reader.h"

namespace espalier::confusion_test {
namespace {

Dictionary labels_named(const std::vector<std::string>& names) {
  Dictionary labels;
  for (const std::string& name : names) labels.add(name);
  return labels;
}

void add(Confusion& confusion, std::uint32_t gold, std::uint32_t predicted, int times) {
  for (int t = 0; t < times; ++t) confusion.add(gold, predicted);
}

TEST(Confusion, TableAndJson) {
  const Dictionary labels = labels_named({"cat", "dog"});
  Confusion confusion(labels, {});
  add(confusion, 0, 0, 5);
  add(confusion, 0, 1, 2);
  add(confusion, 1, 0, 1);
  add(confusion, 1, 1, 1200);
  const Evaluation result = confusion.evaluate();
  EXPECT_EQ(result.headline, "error 0.25 %");
  EXPECT_EQ(result.text,
            "error 0.25 % (3 of 1,208)\n"
            "\n"
            "        predicted\n"
            " gold   cat   dog\n"
            "  cat     5     2\n"
            "  dog     1  1200\n"
            "\n"
            "               precision    recall        F1       gold  predicted    correct\n"
            "macro average    91.58 %   85.67 %   88.40 %\n"
            "cat              83.33 %   71.43 %   76.92 %          7          6          5\n"
            "dog              99.83 %   99.92 %   99.88 %      1,201      1,202      1,200\n");
  EXPECT_EQ(result.dev_error, 3.0 / 1208);
  EXPECT_EQ(result.rates.dump(), Json({{"error", 3.0 / 1208}}).dump());
  EXPECT_EQ(result.report["errors"], 3);
  EXPECT_EQ(result.report["examples"], 1208);
  EXPECT_EQ(result.report["labels"].dump(), R"(["cat","dog"])");
  EXPECT_EQ(result.report["confusion"].dump(), "[[5,2],[1,1200]]");
}

TEST(Confusion, JsonInFull) {
  const Dictionary labels = labels_named({"x", "y"});
  Confusion confusion(labels, {});
  add(confusion, 0, 0, 1);
  add(confusion, 1, 0, 1);
  EXPECT_EQ(
      confusion.evaluate().report.dump(),
      R"({"error":0.5,"errors":1,"examples":2,"labels":["x","y"],"confusion":[[1,0],[1,0]],)"
      R"("macro":{"precision":0.25,"recall":0.5,"f1":0.3333333333333333},)"
      R"("classes":{"x":{"precision":0.5,"recall":1.0,"f1":0.6666666666666666,"gold":1,"predicted":2,"correct":1},)"
      R"("y":{"precision":0.0,"recall":0.0,"f1":0.0,"gold":1,"predicted":0,"correct":0}}})");
}

// What precision_recall_fscore_support of scikit-learn has with zero_division=0, computed by hand: 3 and 1 of
// 4 a's are right and taken for b's, 2 of 3 b's are right, no c is, and nobody has or predicts d.
TEST(Confusion, RatesOfClasses) {
  const Dictionary labels = labels_named({"a", "b", "c", "d"});
  Confusion confusion(labels, {});
  add(confusion, 0, 0, 3);
  add(confusion, 0, 1, 1);
  add(confusion, 1, 1, 2);
  add(confusion, 1, 0, 1);
  add(confusion, 2, 0, 1);
  const Json report = confusion.evaluate().report;
  const Json& classes = report.at("classes");
  ASSERT_EQ(classes.items().size(), 3u);
  const auto rates = [&](const char* name) {
    const Json& of = classes.at(name);
    return std::vector<double>{of["precision"].get<double>(), of["recall"].get<double>(),
                               of["f1"].get<double>()};
  };
  EXPECT_EQ(rates("a"), (std::vector<double>{3.0 / 5, 3.0 / 4, 6.0 / 9}));
  EXPECT_EQ(rates("b"), (std::vector<double>{2.0 / 3, 2.0 / 3, 4.0 / 6}));
  EXPECT_EQ(rates("c"), (std::vector<double>{0, 0, 0}));
  // The means over three classes: d is none of the data.
  EXPECT_DOUBLE_EQ(report["macro"]["precision"].get<double>(), (3.0 / 5 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(report["macro"]["recall"].get<double>(), (3.0 / 4 + 2.0 / 3) / 3);
  EXPECT_DOUBLE_EQ(report["macro"]["f1"].get<double>(), (6.0 / 9 + 4.0 / 6) / 3);
}

// A gold label that training never saw is always an error, and has a row of its own.
TEST(Confusion, UnknownGoldLabels) {
  const Dictionary labels = labels_named({"x", "y"});
  Confusion confusion(labels, {});
  add(confusion, 0, 0, 3);
  add(confusion, kUnknownLabel, 1, 1);
  const Evaluation result = confusion.evaluate();
  EXPECT_EQ(result.text,
            "error 25.00 % (1 of 4)\n"
            "\n"
            "            predicted\n"
            "     gold         x         y\n"
            "        x         3         0\n"
            "        y         0         0\n"
            "(unknown)         0         1\n"
            "\n"
            "               precision    recall        F1       gold  predicted    correct\n"
            "macro average    50.00 %   50.00 %   50.00 %\n"
            "x               100.00 %  100.00 %  100.00 %          3          3          3\n"
            "y                 0.00 %    0.00 %    0.00 %          0          1          0\n");
  EXPECT_TRUE(result.report.dump().starts_with(
      R"({"error":0.25,"errors":1,"examples":4,"labels":["x","y"],"confusion":[[3,0],[0,0]],"macro":)"));
}

TEST(Confusion, MeanCost) {
  const Dictionary labels = labels_named({"x", "y"});
  const std::vector<float> costs{0, 4, 0.5, 0};
  Confusion confusion(labels, costs);
  add(confusion, 0, 0, 5);
  add(confusion, 0, 1, 1);
  add(confusion, 1, 0, 3);
  add(confusion, kUnknownLabel, 0, 1);  // has no price, so 1
  const Evaluation result = confusion.evaluate();
  EXPECT_EQ(result.headline, "error 50.00 %, cost 0.6500");
  EXPECT_TRUE(result.text.starts_with("error 50.00 % (5 of 10)\nmean cost 0.6500\n\n")) << result.text;
  EXPECT_DOUBLE_EQ(result.dev_error, 0.65);
  EXPECT_EQ(result.rates.dump(), R"({"error":0.5,"cost":0.65})");
}

TEST(Confusion, NoExamples) {
  const Dictionary labels = labels_named({"x", "y"});
  const Evaluation result = Confusion(labels, {}).evaluate();
  EXPECT_EQ(result.headline, "error 0.00 %");
  EXPECT_EQ(result.dev_error, 0);
}

// More labels than fit a screen: the most frequent confusions, at most twenty.
TEST(Confusion, ManyLabels) {
  std::vector<std::string> names;
  for (int y = 0; y < 30; ++y) names.push_back(fmt::format("l{}", y));
  const Dictionary labels = labels_named(names);
  Confusion confusion(labels, {});
  add(confusion, 3, 3, 50);
  const auto list = [&] {
    const std::string text = confusion.evaluate().text;
    return text.substr(0, text.find("\n\n  ") + 1);  // without the classes
  };
  EXPECT_EQ(list(), "error 0.00 % (0 of 50)\n");
  add(confusion, 3, 4, 7);
  add(confusion, 4, 3, 9);
  add(confusion, 1, 2, 7);
  add(confusion, kUnknownLabel, 5, 1);
  EXPECT_EQ(list(),
            "error 32.43 % (24 of 74)\n"
            "\n"
            "most frequent confusions (gold -> predicted)\n"
            "      9  l4 -> l3\n"
            "      7  l1 -> l2\n"
            "      7  l3 -> l4\n"
            "      1  (unknown) -> l5\n");
  for (std::uint32_t y = 1; y < 30; ++y) add(confusion, 0, y, 20);
  const std::string text = list();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 + 20);
}

// Names too long for a table's columns.
TEST(Confusion, LongNames) {
  const Dictionary labels = labels_named({"short", "a-name-of-more-than-twelve-bytes"});
  Confusion confusion(labels, {});
  add(confusion, 0, 1, 2);
  EXPECT_EQ(
      confusion.evaluate().text,
      "error 100.00 % (2 of 2)\n"
      "\n"
      "most frequent confusions (gold -> predicted)\n"
      "      2  short -> a-name-of-more-than-twelve-bytes\n"
      "\n"
      "                                  precision    recall        F1       gold  predicted    correct\n"
      "macro average                        0.00 %    0.00 %    0.00 %\n"
      "short                                0.00 %    0.00 %    0.00 %          2          0          0\n"
      "a-name-of-more-than-twelve-bytes     0.00 %    0.00 %    0.00 %          0          2          0\n");
}

}  // namespace
}  // namespace espalier::confusion_test
