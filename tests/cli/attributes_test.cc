// attributes: the built-in attributes of tagging, written out.

#include "cli/cli_test.h"

namespace espalier::testing {
namespace {

using CliAttributesTest = CliTest;

TEST_F(CliAttributesTest, AreThoseThatTrainingHas) {
  succeed("generate tag -n 100 --seed 1 -o train.txt");
  write("more.txt", "-DOCSTART- X O\n\n" + read("train.txt") + "a:b\\c NN B:X\\\n\n\n1:2 CD O\n");
  succeed("attributes more.txt -o train.crfsuite");
  succeed("train tag more.txt -o columns.esp --quiet");
  succeed("train tag train.crfsuite --format crfsuite -o attributes.esp --quiet");
  EXPECT_TRUE(succeed("show columns.esp --weights") == succeed("show attributes.esp --weights"));
  EXPECT_EQ(json("show columns.esp --json").at("certificate"),
            json("show attributes.esp --json").at("certificate"));

  // Labels may be elsewhere, or nowhere; then lines begin with a TAB.
  write("first.txt", "B the\nI dog\n");
  write("last.txt", "the B\ndog I\n");
  write("none.txt", "the\ndog\n");
  const std::string written = succeed("attributes last.txt");
  EXPECT_EQ(succeed("attributes --label-column 1 first.txt"), written);
  const std::vector<std::string> with = lines(written),
                                 without = lines(succeed("attributes --unlabelled", read("none.txt")));
  ASSERT_EQ(with.size(), 3u);
  ASSERT_EQ(without.size(), 3u);
  EXPECT_EQ(with[0].substr(0, 2), "B\t");
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(with[i].substr(1), without[i]);
  EXPECT_EQ(with[2], "");
}

TEST_F(CliAttributesTest, Mistakes) {
  write("one.txt", "the\ndog\n");
  EXPECT_EQ(error("attributes one.txt"),
            "espalier: one.txt:1: 1 column; expected at least 2, a word and its label");
  write("two.txt", "the B\ndog\n");
  EXPECT_EQ(error("attributes two.txt -o out.txt"), "espalier: two.txt:2: 1 column; expected 2 as in line 1");
  EXPECT_FALSE(files().contains("out.txt"));
  EXPECT_EQ(error("attributes two.txt --label-column 3"),
            "espalier: two.txt:1: 2 columns; expected the label in column 3");
  EXPECT_EQ(error("attributes two.txt --label-column 1 --unlabelled"),
            "espalier: --unlabelled: given with --label-column; expected one of the two");
}

}  // namespace
}  // namespace espalier::testing
