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
            "  dog     1  1200\n");
  EXPECT_EQ(result.badness, 3.0 / 1208);
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
  EXPECT_EQ(confusion.evaluate().report.dump(),
            R"({"error":0.5,"errors":1,"examples":2,"labels":["x","y"],"confusion":[[1,0],[1,0]]})");
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
            "(unknown)         0         1\n");
  EXPECT_EQ(result.report.dump(),
            R"({"error":0.25,"errors":1,"examples":4,"labels":["x","y"],"confusion":[[3,0],[0,0]]})");
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
  EXPECT_DOUBLE_EQ(result.badness, 0.65);
  EXPECT_EQ(result.rates.dump(), R"({"error":0.5,"cost":0.65})");
}

TEST(Confusion, NoExamples) {
  const Dictionary labels = labels_named({"x", "y"});
  const Evaluation result = Confusion(labels, {}).evaluate();
  EXPECT_EQ(result.headline, "error 0.00 %");
  EXPECT_EQ(result.badness, 0);
}

// More labels than fit a screen: the most frequent confusions, at most twenty.
TEST(Confusion, ManyLabels) {
  std::vector<std::string> names;
  for (int y = 0; y < 30; ++y) names.push_back(fmt::format("l{}", y));
  const Dictionary labels = labels_named(names);
  Confusion confusion(labels, {});
  add(confusion, 3, 3, 50);
  EXPECT_EQ(confusion.evaluate().text, "error 0.00 % (0 of 50)\n");
  add(confusion, 3, 4, 7);
  add(confusion, 4, 3, 9);
  add(confusion, 1, 2, 7);
  add(confusion, kUnknownLabel, 5, 1);
  EXPECT_EQ(confusion.evaluate().text,
            "error 32.43 % (24 of 74)\n"
            "\n"
            "most frequent confusions (gold -> predicted)\n"
            "      9  l4 -> l3\n"
            "      7  l1 -> l2\n"
            "      7  l3 -> l4\n"
            "      1  (unknown) -> l5\n");
  for (std::uint32_t y = 1; y < 30; ++y) add(confusion, 0, y, 20);
  const std::string text = confusion.evaluate().text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 + 20);
}

// Names too long for a table's columns.
TEST(Confusion, LongNames) {
  const Dictionary labels = labels_named({"short", "a-name-of-more-than-twelve-bytes"});
  Confusion confusion(labels, {});
  add(confusion, 0, 1, 2);
  EXPECT_EQ(confusion.evaluate().text,
            "error 100.00 % (2 of 2)\n"
            "\n"
            "most frequent confusions (gold -> predicted)\n"
            "      2  short -> a-name-of-more-than-twelve-bytes\n");
}

}  // namespace
}  // namespace espalier::confusion_test
