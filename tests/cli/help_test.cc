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

// Characters of a line, not bytes.
std::size_t width(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST_P(CliHelpTest, FitsOnOneScreen) {
  const std::vector<std::string> all = lines(succeed(GetParam() + " --help"));
  EXPECT_LE(all.size(), 40u);
  for (const std::string& line : all) EXPECT_LE(width(line), 100u) << line;
}

TEST_P(CliHelpTest, SaysWhatValuesAre) {
  const std::string help = succeed(GetParam() + " --help-all");
  for (const char* type : {" TEXT", " FLOAT", " UINT", " INT "})
    EXPECT_EQ(help.find(type), std::string::npos) << type;
  for (const std::string& line : lines(help)) EXPECT_LE(width(line), 110u) << line;
}

// `espalier help train tag` and `espalier train tag --help` are the same.
TEST_P(CliHelpTest, IsACommandToo) {
  EXPECT_EQ(succeed("help " + GetParam()), succeed(GetParam() + " --help"));
}

INSTANTIATE_TEST_SUITE_P(
    Commands, CliHelpTest,
    ::testing::Values("train", "train classify", "train tag", "train parse", "train treebank", "train graph",
                      "train align", "path", "path classify", "path tag", "path parse", "path treebank",
                      "path graph", "path align", "cross-validate", "cross-validate classify",
                      "cross-validate tag", "cross-validate parse", "cross-validate treebank",
                      "cross-validate graph", "cross-validate align", "race", "race classify", "race tag",
                      "race parse", "race treebank", "race graph", "race align", "predict", "eval", "show",
                      "report", "serve", "verify", "convert", "attributes", "infer", "demo", "generate"),
    [](const ::testing::TestParamInfo<std::string>& info) {
      std::string name = info.param;
      for (const char c : {' ', '-'}) std::replace(name.begin(), name.end(), c, '_');
      return name;
    });

using CliProgramTest = CliTest;

TEST_F(CliProgramTest, EveryHelpHasAnExampleOfTagging) {
  for (const std::string command : {"", "train", "train tag", "path", "path tag", "cross-validate",
                                    "cross-validate tag", "race", "race tag", "predict", "eval", "show",
                                    "report", "verify", "convert", "attributes", "demo", "generate"}) {
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
  for (const char* command : {"train", "predict", "eval", "path", "cross-validate", "race", "show", "report",
                              "verify", "convert", "attributes", "infer", "demo", "generate"}) {
    EXPECT_NE(help.find(std::string("\n  ") + command + " "), std::string::npos) << command;
  }
}

TEST_F(CliProgramTest, HelpOfUnknownCommands) {
  EXPECT_EQ(succeed("help"), succeed("--help"));
  EXPECT_EQ(error("help trian"), "espalier: unknown command 'trian'; did you mean train?");
  EXPECT_EQ(error("help train tga"), "espalier: unknown task 'tga'; did you mean tag?");
  EXPECT_EQ(error("help train sort"),
            "espalier: unknown task 'sort'; expected tag, classify, parse, treebank, graph or align");
  EXPECT_EQ(error("help show tag"), "espalier: unexpected argument 'tag'");
}

// A newcomer sees the task's own options, then those of training, then what is written; the rest is
// elsewhere.
TEST_F(CliProgramTest, HelpOfTrainingIsInGroups) {
  const std::string help = succeed("train tag --help"), all = succeed("train tag --help-all");
  std::size_t at = 0;
  for (const char* title : {"\nOptions of tag:\n  --format NAME ", "\nTraining:\n  --l2 X|auto ",
                            "\nOutput:\n  -o, --output FILE ", "\nExamples:\n"}) {
    const std::size_t next = help.find(title);
    ASSERT_NE(next, std::string::npos) << title;
    EXPECT_GT(next, at) << title;
    at = next;
  }
  EXPECT_NE(help.find("'espalier train tag --help-all' lists all options."), std::string::npos);
  for (const char* option : {"--checkpoint ", "--sampling ", "--transitions ", "--outer-gap ", "Solvers:"}) {
    EXPECT_EQ(help.find(option), std::string::npos) << option;
    EXPECT_NE(all.find(option), std::string::npos) << option;
  }
  EXPECT_GT(all.find("\nOptions of single solvers:\n"), all.find("\nOutput:\n")) << "last";
}

TEST_F(CliProgramTest, MisspeltWords) {
  EXPECT_EQ(error("train tga train.txt"), "espalier: unknown task 'tga'; did you mean tag?");
  EXPECT_EQ(error("train tag train.txt -o m.esp --templates t"),
            "espalier: unknown option '--templates'; did you mean --template?");
  EXPECT_EQ(error("train tag train.txt -o m.esp --tempalte=t"),
            "espalier: unknown option '--tempalte=t'; did you mean --template?");
  EXPECT_EQ(error("train tag train.txt -o m.esp --solver lbgfs"),
            "espalier: --solver: unknown solver 'lbgfs'; did you mean lbfgs?");
  EXPECT_EQ(error("train tag train.txt -o m.esp --loss CRF"),
            "espalier: --loss: unknown loss 'CRF'; did you mean crf?");
  EXPECT_EQ(error("train tag train.txt -o m.esp --l2 atuo"),
            "espalier: --l2: found 'atuo'; did you mean auto?");
  EXPECT_EQ(error("train tag train.txt -o m.esp --format colums"),
            "espalier: --format: found 'colums'; did you mean columns?");
  EXPECT_EQ(error("train --l2 1"),
            "espalier: unknown option '--l2' before the task; expected tag, classify, parse, treebank, graph "
            "or align "
            "first; see 'espalier train --help'");
  EXPECT_EQ(error("train --l2 1 tag train.txt -o m.esp"),
            "espalier: --l2 before 'tag'; expected --l2 after it; see 'espalier train tag --help'");
  EXPECT_EQ(error("--verison"), "espalier: unknown option '--verison'; did you mean --version?");
  EXPECT_EQ(error("demo tga"), "espalier: demo: unknown task 'tga'; did you mean tag?");
  EXPECT_EQ(error("train tag train.txt -o m.esp --solver adam"),
            "espalier: --solver: unknown solver 'adam'; expected auto, eg, eg-batch, sdca, frank-wolfe, smo, "
            "excessive-gap, extragradient, cutting-plane, bmrm, lbfgs, sgd, dca, mira or perceptron");
}

// As other programs call them: what is unknown is said before what is missing.
TEST_F(CliProgramTest, OptionsOfOtherPrograms) {
  EXPECT_EQ(error("train tag train.txt -m m.esp"),
            "espalier: unknown option '-m'; see 'espalier train tag --help'");
  EXPECT_EQ(error("train tag train.txt --model m.esp"),
            "espalier: unknown option '--model'; see 'espalier train tag --help'");
  EXPECT_EQ(error("train tag train.txt -l2 1 -o m.esp"),
            "espalier: unknown option '-l2'; did you mean --l2?");
  EXPECT_EQ(error("train tag train.txt -a lbfgs -o m.esp"),
            "espalier: unknown option '-a'; see 'espalier train tag --help'");
  EXPECT_EQ(error("train tag train.txt"), "espalier: --output is required; see 'espalier train tag --help'");
}

TEST_F(CliProgramTest, OptionsWithoutEffectAreRefused) {
  const auto train = [this](const std::string& arguments) {
    return error("train " + arguments + " -o m.esp");
  };
  EXPECT_EQ(
      train("tag none.txt --l2-max 3"),
      "espalier: --l2-max, --l2-min: no effect without --l2 auto; expected --l2 auto, or neither of them");
  EXPECT_EQ(train("tag none.txt --invalid drop"),
            "espalier: --invalid: no effect; expected --valid or --transitions, or no --invalid");
  EXPECT_EQ(train("tag none.txt --kernel-memory 1G"),
            "espalier: --kernel-memory: no effect; expected --kernel, or no --kernel-memory");
  EXPECT_EQ(
      train("tag none.txt --outer-rounds 3"),
      "espalier: --outer-rounds: no effect; expected --partial, --loss ramp, risk or delta,BETA,GAMMA, or "
      "no --outer-rounds");
  EXPECT_EQ(train("parse none.txt --outer-gap 0"),
            "espalier: --outer-gap: no effect; expected --loss ramp, risk or delta,BETA,GAMMA, or no "
            "--outer-gap");
  EXPECT_EQ(train("parse none.txt --structure nonprojective --crossing drop"),
            "espalier: --crossing: no effect; expected --structure projective, or no --crossing");
  EXPECT_EQ(train("parse none.txt --unlabelled --most-heads 3"),
            "espalier: --most-heads: no effect; expected relations, or --order 2, or no --most-heads");
  EXPECT_EQ(train("treebank none.txt --features rules --hash-bits 9"),
            "espalier: --hash-bits: no effect; expected --features spans, or no --hash-bits");
  EXPECT_EQ(train("graph none.txt --inference bp --memory 1G"),
            "espalier: --memory: no effect; expected --inference exact or auto, or no --memory");
  EXPECT_EQ(train("tag none.txt --loss svm --solver cutting-plane --cache 5"),
            "espalier: --cache: no effect; expected --slacks one, or no --cache");
  write("costs.txt", "A B 2\n");
  EXPECT_EQ(
      train("tag none.txt --costs costs.txt"),
      "espalier: --costs: no effect; expected a loss with a margin, such as --loss softmax-margin, or no "
      "--costs");
  EXPECT_EQ(train("tag none.txt --start uniform --log-odds 3"),
            "espalier: --log-odds: no effect; expected --start gold, or no --log-odds");
  EXPECT_EQ(train("tag none.txt --step safe --eta 0.1"),
            "espalier: --step: no effect; expected no --eta, or no --step");
  EXPECT_EQ(error("infer none.uai --task PR --inference bp --memory 1G"),
            "espalier: --memory: no effect; expected --inference exact or auto, or no --memory");
  EXPECT_EQ(error("infer none.uai --task PR --inference exact --iterations 3"),
            "espalier: --iterations: no effect; expected --inference bp, trw or auto, or no --iterations");
  EXPECT_EQ(error("show m.esp --weights --top 3"),
            "espalier: --top excludes --weights; see 'espalier show --help'");
  EXPECT_EQ(error("show m.esp --json --top 3"),
            "espalier: --top: no effect; expected --diff, or no --json, or no --top");
}

TEST_F(CliProgramTest, QuietHasAShortName) {
  generate("train.txt", 20, 1);
  const Outcome outcome = run("train classify train.txt --format crfsuite -q -o m.esp");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CliProgramTest, Version) {
  EXPECT_EQ(succeed("-V"), succeed("--version"));
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
