#include "tasks/costs.h"

#include <gtest/gtest.h>

#include <string>

#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::costs_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

Dictionary three_labels() {
  Dictionary labels;
  for (const char* name : {"a", "b", "c"}) labels.add(name);
  return labels;
}

std::vector<float> costs_of(const std::string& text) {
  const TemporaryFolder folder;
  return read_costs(folder.file("costs.txt", text), three_labels());
}

// The message, with the name of the file alone.
std::string message_of(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.file("costs.txt", text);
  const std::string message = error_message([&] { read_costs(path, three_labels()); });
  return message.starts_with(path) ? "costs.txt" + message.substr(path.size()) : message;
}

TEST(Costs, PairsThatAreNotNamedCostOne) {
  EXPECT_EQ(costs_of(""), (std::vector<float>{0, 1, 1, 1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(costs_of("a b 2\nc a 0.5\nb a 0\n"), (std::vector<float>{0, 2, 1, 0, 0, 1, 0.5, 1, 0}));
}

TEST(Costs, SpacesTabsCommentsAndLineEnds) {
  EXPECT_EQ(costs_of("# gold predicted cost\n\n  a\tb   2.5 \r\n\t \n b  c 1e1#ten\n  # end"),
            (std::vector<float>{0, 2.5, 1, 1, 0, 10, 1, 1, 0}));
}

TEST(Costs, TheRightAnswerMayBeFree) {
  EXPECT_EQ(costs_of("a a 0\nb b 0.0\n"), (std::vector<float>{0, 1, 1, 1, 0, 1, 1, 1, 0}));
}

TEST(Costs, RefusesWithALine) {
  EXPECT_EQ(message_of("a b\n"), "costs.txt:1: 2 fields; expected GOLD PREDICTED COST");
  EXPECT_EQ(message_of("\n# two\na\n"), "costs.txt:3: 1 fields; expected GOLD PREDICTED COST");
  EXPECT_EQ(message_of("a b 1\na c 1 1\n"), "costs.txt:2: more than 3 fields; expected GOLD PREDICTED COST");
  EXPECT_EQ(message_of("a b 1\na d 1\n"),
            "costs.txt:2: the label 'd'; expected a label of the training data");
  EXPECT_EQ(message_of("A b 1\n"), "costs.txt:1: the label 'A'; expected a label of the training data");
  for (const char* bad : {"-1", "-0.001", "nan", "inf", "1e99", "one", "1x", "0x1"}) {
    EXPECT_EQ(message_of("a b " + std::string(bad) + "\n"),
              "costs.txt:1: the cost '" + std::string(bad) + "'; expected a number >= 0");
  }
  EXPECT_EQ(message_of("b b 1\n"), "costs.txt:1: the cost '1' for the correct label; expected 0");
  EXPECT_EQ(message_of("a b 1\nb a 1\na b 1\n"),
            "costs.txt:3: 'a' 'b' a second time; expected each pair once");
  EXPECT_EQ(message_of("a a 0\na a 0\n"), "costs.txt:2: 'a' 'a' a second time; expected each pair once");
}

TEST(Costs, RefusesAMissingFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(error_message([&] {
                read_costs(folder.path("none"), three_labels());
              }).starts_with(folder.path("none") + ": cannot open"));
}

}  // namespace
}  // namespace espalier::costs_test
