#include <algorithm>

#include "cli/cli_test.h"

namespace espalier::testing::help_test {
namespace {

class CliHelpTest : public CliTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(CliHelpTest, HasAnExampleAndIsNoError) {
  for (const char* option : {" --help", " -h"}) {
    const Outcome outcome = run(GetParam() + option);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("Usage: espalier " + GetParam()), std::string::npos);
    EXPECT_NE(outcome.out.find("\nExample"), std::string::npos);
    EXPECT_NE(outcome.out.find("\n  espalier " + GetParam()), std::string::npos) << "an example of it";
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, CliHelpTest,
                         ::testing::Values("train", "train classify", "train tag", "train parse",
                                           "train treebank", "train graph", "path", "path classify",
                                           "path tag", "path parse", "path treebank", "path graph",
                                           "cross-validate", "cross-validate classify", "cross-validate tag",
                                           "cross-validate parse", "cross-validate treebank",
                                           "cross-validate graph", "race", "race classify", "race tag",
                                           "race parse", "race treebank", "race graph", "predict", "eval",
                                           "show", "convert", "infer", "demo", "generate"),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           for (const char c : {' ', '-'}) std::replace(name.begin(), name.end(), c, '_');
                           return name;
                         });

using CliProgramTest = CliTest;

TEST_F(CliProgramTest, EveryHelpHasAnExampleOfTagging) {
  for (const std::string command :
       {"", "train", "train tag", "path", "path tag", "cross-validate", "cross-validate tag", "race",
        "race tag", "predict", "eval", "show", "convert", "demo", "generate"}) {
    const std::string help = succeed(command + " --help");
    EXPECT_TRUE(help.find(" tag") != std::string::npos || help.find("tagger.esp") != std::string::npos)
        << command;
  }
}

TEST_F(CliProgramTest, HelpHasExamplesOfParsing) {
  for (const std::string command :
       {"train", "train parse", "train treebank", "path", "path parse", "cross-validate",
        "cross-validate parse", "race", "race parse", "predict", "eval", "demo", "generate"}) {
    const std::string help = succeed(command + " --help");
    EXPECT_TRUE(help.find("espalier " + command + " parse") != std::string::npos ||
                help.find("espalier " + command + " train.") != std::string::npos ||
                help.find("parser.esp") != std::string::npos)
        << command;
  }
}

TEST_F(CliProgramTest, HelpListsEveryCommand) {
  const std::string help = succeed("--help");
  for (const char* command : {"train", "predict", "eval", "path", "cross-validate", "race", "show", "convert",
                              "infer", "demo", "generate"}) {
    EXPECT_NE(help.find(std::string("\n  ") + command + " "), std::string::npos) << command;
  }
}

TEST_F(CliProgramTest, Version) {
  const Outcome outcome = run("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> version = words(outcome.out);
  ASSERT_EQ(version.size(), 2u);
  EXPECT_EQ(version[0], "espalier");
  EXPECT_EQ(version[1].find_first_not_of("0123456789."), std::string::npos);
  EXPECT_EQ(outcome.out.back(), '\n');
}

}  // namespace
}  // namespace espalier::testing::help_test
