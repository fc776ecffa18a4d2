// Differences of losses, as a user trains with them.

#include "cli/cli_test.h"

namespace espalier::testing::difference_test {
namespace {

class CliDifferenceTest : public CliTest {
 protected:
  void SetUp() override { succeed("generate classify -n 200 --seed 1 -o train.txt"); }
  std::string train(const std::string& arguments) const {
    return succeed("train classify train.txt --format crfsuite --l2 0.3 -o model.esp " + arguments);
  }
  std::string refusal(const std::string& arguments) const {
    return error("train classify train.txt --format crfsuite -o model.esp " + arguments);
  }
};

TEST_F(CliDifferenceTest, SaysWhatItCertifies) {
  const Outcome outcome =
      run("train classify train.txt --format crfsuite --l2 0.3 -o model.esp --loss risk --outer-rounds 3 "
          "--outer-gap 0 --dev train.txt --log run.jsonl");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("\nround 1: objective "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\nround 3: objective "), std::string::npos) << outcome.err;
  int round = 1;
  for (const std::string& line : lines(read("run.jsonl"))) {
    const Json event = Json::parse(line);
    if (event.at("event") == "start") {
      EXPECT_EQ(event.at("loss"), "risk");
      EXPECT_EQ(event.at("outer_rounds"), 3);
    }
    if (event.at("event") == "progress") {
      round = event.at("round").get<int>();
      EXPECT_TRUE(event.at("dev").contains("error"));
    }
  }
  EXPECT_EQ(round, 3);
  const std::vector<std::string> shown = lines(succeed("show model.esp"));
  EXPECT_EQ(shown[2], "loss         risk, l2 0.3");
  EXPECT_TRUE(shown[4].starts_with("objective    ") &&
              shown[4].ends_with("   at these weights; not convex, as the loss is a difference"))
      << shown[4];
  EXPECT_TRUE(shown[5].ends_with("   of the last round's convex problem, as what follows")) << shown[5];
  const std::vector<std::string> verified = lines(succeed("verify model.esp train.txt"));
  EXPECT_EQ(verified.back(),
            "verdict      agrees: the objective, which is not convex, is what the file says");
  EXPECT_EQ(verified[verified.size() - 2], "             of the convex problem that these weights imply");
  // It is a model of a finite beta, and has probabilities.
  EXPECT_NE(succeed("predict model.esp train.txt --kbest 2").find(':'), std::string::npos);
}

TEST_F(CliDifferenceTest, TheSameSeedGivesTheSameModel) {
  train("--loss ramp");
  const std::string first = read("model.esp");
  train("--loss delta,inf,1");
  EXPECT_EQ(read("model.esp"), first);
  train("--loss ramp --seed 2");
  EXPECT_NE(read("model.esp"), first);
}

TEST_F(CliDifferenceTest, RefusesWhatHasNoRounds) {
  EXPECT_EQ(refusal("--loss ramp --checkpoint run.ckpt"),
            "espalier: --checkpoint: not with --loss ramp, whose rounds start from their own completions; "
            "expected one of the two");
  EXPECT_EQ(refusal("--loss ramp --repeat 2"),
            "espalier: --repeat: not with --loss ramp; expected one of the two");
  EXPECT_EQ(refusal("--loss risk --patience 2 --dev train.txt"),
            "espalier: --patience: not with --loss risk; expected one of the two");
  EXPECT_EQ(refusal("--loss delta,2,1 --l2 auto --dev train.txt"),
            "espalier: --loss delta,2,1: not for several values of l2; expected espalier train classify with "
            "one value, such as --l2 1");
  EXPECT_EQ(
      refusal("--loss ramp --solver mira"),
      "espalier: --solver mira: not with --loss ramp, each of whose rounds needs an optimum; expected a "
      "solver that converges, such as auto");
  EXPECT_EQ(refusal("--loss ramp --solver lbfgs"),
            "espalier: --solver lbfgs: not for loss ramp; expected a loss of finite beta, or --solver eg");
  EXPECT_EQ(error("path classify train.txt --format crfsuite --dev train.txt --loss ramp"),
            "espalier: --loss ramp: not for several values of l2; expected espalier train classify with one "
            "value, such as --l2 1");
  EXPECT_EQ(error("race classify train.txt --format crfsuite --solvers eg --loss ramp"),
            "espalier: --loss ramp: not in a race, whose solvers share one convex problem; expected a convex "
            "loss");
  EXPECT_EQ(error("cross-validate classify train.txt --format crfsuite --loss ramp"),
            "espalier: --loss ramp: not in cross-validation, which is for convex problems; expected a convex "
            "loss");
}

// Every task has its structure; graphs and grammars are in other tests of rounds.
TEST_F(CliDifferenceTest, TrainsParsersToo) {
  succeed("generate parse -n 20 --seed 1 -o trees.conllu");
  for (const char* structure : {"projective", "nonprojective"}) {
    succeed(std::string(
                "train parse trees.conllu --unlabelled --l2 10 -q -o parser.esp --loss risk --structure ") +
            structure);
    EXPECT_TRUE(json("show parser.esp --json").contains("objective"));
  }
}

}  // namespace
}  // namespace espalier::testing::difference_test
