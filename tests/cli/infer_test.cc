#include <cmath>

#include "cli/cli_test.h"

namespace espalier::testing::infer_test {
namespace {

// Two variables that are better equal; Z = 10, the best has 4.
const char* const kPair = "MARKOV\n2\n2 2\n1\n2 0 1\n4 3 1 2 4\n";

class CliInferTest : public CliTest {
 protected:
  void SetUp() override {
    write("pair.uai", kPair);
    write("second.evid", "1 1 0\n");
  }
};

TEST_F(CliInferTest, AnswersInTheFormatsOfTheCompetition) {
  EXPECT_EQ(succeed("infer pair.uai --task PR"), "PR\n1\n");
  EXPECT_EQ(succeed("infer pair.uai --task MAR"), "MAR\n2 2 0.4 0.6 2 0.5 0.5\n");
  EXPECT_EQ(succeed("infer pair.uai --task MPE"), "MPE\n2 1 1\n");
  EXPECT_EQ(succeed("infer - --task MPE", kPair), "MPE\n2 1 1\n");
}

TEST_F(CliInferTest, ConditionsOnEvidence) {
  EXPECT_EQ(succeed("infer pair.uai --evidence second.evid --task MAR"), "MAR\n2 2 0.6 0.4 2 1 0\n");
  EXPECT_EQ(succeed("infer pair.uai --evidence second.evid --task MPE"), "MPE\n2 0 0\n");
  EXPECT_NEAR(json("infer pair.uai --evidence second.evid --task PR --json")["log_partition"].get<double>(),
              std::log(5), 1e-14);
}

TEST_F(CliInferTest, AnswersInJson) {
  const Json sum = json("infer pair.uai --task MAR --json");
  EXPECT_EQ(sum.size(), 4u);
  EXPECT_NEAR(sum["log_partition"].get<double>(), std::log(10), 1e-14);
  EXPECT_NEAR(sum["marginals"][0][1].get<double>(), 0.6, 1e-14);
  EXPECT_EQ(sum["width"], 1);
  EXPECT_EQ(sum["exact"], true);
  const Json best = json("infer pair.uai --task MPE --json");
  EXPECT_EQ(best.size(), 4u);
  EXPECT_NEAR(best["max"].get<double>(), std::log(4), 1e-14);
  EXPECT_EQ(best["assignment"], Json({1, 1}));
}

TEST_F(CliInferTest, SaysHowApproximateInferenceWent) {
  for (const std::string inference : {"bp", "trw"}) {
    const Json sum = json("infer pair.uai --task PR --json --inference " + inference);
    EXPECT_NEAR(sum["log_partition"].get<double>(), std::log(10), 1e-6);
    EXPECT_EQ(sum["inference"], inference);
    EXPECT_EQ(sum["exact"], false);
    EXPECT_EQ(sum["converged"], true);
    EXPECT_EQ(sum.contains("upper_bound"), inference == "trw");
    const Json best = json("infer pair.uai --task MPE --json --inference " + inference);
    EXPECT_EQ(best["assignment"], Json({1, 1}));
    EXPECT_EQ(best["optimal"], true);
    EXPECT_NEAR(best["bound"].get<double>(), std::log(4), 1e-9);
  }
}

TEST_F(CliInferTest, WritesWhereItIsTold) {
  EXPECT_EQ(succeed("infer pair.uai --task PR -o answer.PR.gz"), "");
  EXPECT_EQ(read("answer.PR.gz"), "PR\n1\n");
}

TEST_F(CliInferTest, AnswersBadInputWithOneLineAndNothingWritten) {
  write("bad.uai", "MARKOV\n2\n2 2\n1\n2 0 1\n4 3 1 2\n");
  write("zero.uai", "MARKOV\n1\n2\n1\n1 0\n2 0 0\n");
  write("zero_if.uai", "MARKOV\n2\n2 2\n1\n2 0 1\n4 0 1 0 1\n");
  const auto before = files();
  const auto answered = [&](const std::string& arguments, const std::string& message) {
    const Outcome outcome = run("infer " + arguments + " -o out.txt");
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err, "espalier: " + message + '\n');
    EXPECT_EQ(files(), before);
  };
  answered("bad.uai --task PR", "bad.uai:6: the file ends; expected entry 4 of 4 of a table");
  answered("pair.uai --task PR --evidence bad.uai",
           "bad.uai:1: 'MARKOV'; expected the number of observations, at most 2");
  answered("zero.uai --task PR",
           "zero.uai: every assignment has weight 0; expected at least one of positive weight");
  answered("zero.uai --task MPE --inference trw",
           "zero.uai: every assignment has weight 0; expected at least one of positive weight");
  answered("zero_if.uai --task MAR --evidence second.evid",
           "second.evid: every assignment that agrees with this evidence has weight 0; expected at least one "
           "of positive weight");
  answered("pair.uai --task PR --memory 20 --inference exact",
           "exact inference: a junction tree of width 1 needs 48 bytes of memory; expected at most 20 bytes: "
           "allow "
           "more with --memory, or take --inference trw or bp");
  answered("pair.uai --task PR --memory much",
           "--memory: found 'much'; expected a number of bytes > 0, such as 500M or 1.5G; see 'espalier "
           "infer --help'");
}

TEST_F(CliInferTest, RefusesTasksAndInferenceThatDoNotExist) {
  EXPECT_EQ(error("infer pair.uai --task PQ"), "espalier: --task: unknown task 'PQ'; did you mean PR?");
  EXPECT_EQ(
      error("infer pair.uai --task PR --inference magic"),
      "espalier: --inference: found 'magic'; expected exact, bp, trw or auto; see 'espalier infer --help'");
  EXPECT_NE(error("infer pair.uai").find("see 'espalier infer --help'"), std::string::npos);
}

}  // namespace
}  // namespace espalier::testing::infer_test
