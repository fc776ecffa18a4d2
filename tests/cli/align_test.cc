// Sentence pairs, from lines to links.

#include "cli/cli_test.h"

namespace espalier::testing::cli_align_test {
namespace {

class CliAlignTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate align -n 40 --seed 1 -o train.txt");
    succeed("generate align -n 20 --seed 2 -o test.txt");
  }
};

TEST_F(CliAlignTest, TrainsEvaluatesAndPredicts) {
  const Outcome outcome =
      run("train align train.txt --dev test.txt --loss svm --l2 10 --gap 1e-2 -o svm.esp");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("read train.txt: 40 sentence pairs, "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("  dev AER "), std::string::npos) << outcome.err;
  EXPECT_NE(lines(outcome.err).back().find(" passes; saved svm.esp"), std::string::npos) << outcome.err;
  const Json report = json("eval svm.esp test.txt --json");
  EXPECT_LT(report.at("aer").get<double>(), 0.15);
  EXPECT_EQ(report.at("pairs"), 20);
  EXPECT_FALSE(json("show svm.esp --json").at("certificate").contains("relaxed"));

  // What it writes is what it reads, and then it has no error.
  succeed("predict svm.esp test.txt -o own.txt");
  EXPECT_EQ(json("eval svm.esp own.txt --json").at("aer"), 0.0);
  EXPECT_EQ(succeed("predict svm.esp own.txt --threads 2"), read("own.txt"));
  // Links alone are the third field.
  const auto pairs = lines(read("own.txt")),
             links = lines(succeed("predict svm.esp test.txt --format links"));
  ASSERT_EQ(pairs.size(), links.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) EXPECT_TRUE(pairs[i].ends_with("||| " + links[i]));
}

TEST_F(CliAlignTest, ProbabilitiesAreOfARelaxedProblem) {
  const Outcome outcome = run("train align train.txt --l2 10 --gap 1e-2 --links 2 -o crf.esp");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(lines(outcome.err).back().find("(of the relaxed problem: losses are upper bounds)"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(json("show crf.esp --json").at("certificate").at("relaxed"), true);
  write("new.txt", "15 trips ended . ||| 15 xqiwi .\n");
  const Json pair = Json::parse(succeed("predict crf.esp new.txt --json --marginals --kbest 3"));
  EXPECT_EQ(pair.at("source").size(), 4u);
  EXPECT_EQ(pair.at("kbest").size(), 3u);
  EXPECT_EQ(pair.at("kbest")[0].at("links"), pair.at("links"));
  double before = 1;
  for (std::size_t r = 0; r < 3; ++r) {
    const double probability = pair.at("kbest")[r].at("probability").get<double>();
    EXPECT_LE(probability, before);
    before = probability;
  }
  for (std::size_t k = 0; k < pair.at("marginals").size(); ++k) {
    const double p = pair.at("marginals")[k][2].get<double>();
    EXPECT_TRUE(p >= 1e-3 && p <= 1) << p;
  }
  const auto text = lines(succeed("predict crf.esp new.txt --kbest 2 --marginals --format links"));
  ASSERT_EQ(text.size(), 5u);
  EXPECT_TRUE(text[0].starts_with("# links 0-0:"));
  EXPECT_TRUE(text[1].starts_with("# 0 "));
  EXPECT_TRUE(text[3].starts_with("# 1 "));
  succeed("verify crf.esp train.txt");
}

TEST_F(CliAlignTest, OptionsAreThoseOfTheHelp) {
  write("scores.txt", "In ow 0.5\nand ewm 1\n");
  succeed(
      "train align train.txt --dictionary scores.txt --first 10 --links 2 --missing-cost 2 --pair-count 3 "
      "--loss svm --quiet --passes 3 -o a.esp");
  EXPECT_NE(succeed("show a.esp").find("at most 2 links per word"), std::string::npos);
  EXPECT_NE(succeed("show a.esp --weights").find("score\tlink\t"), std::string::npos);
  succeed("predict a.esp test.txt");
  const Outcome outcome = run("train align train.txt --longest 10 --passes 2 -o b.esp");
  EXPECT_NE(outcome.err.find(" of more than 10 words left out\n"), std::string::npos) << outcome.err;
  EXPECT_EQ(error("train align train.txt --longest 1 -o c.esp"),
            "espalier: train.txt: no sentence pairs of at most 1 word; expected some");
}

TEST_F(CliAlignTest, SaysWhatIsWrong) {
  write("empty.txt", "");
  write("bad.txt", "a ||| b ||| 0-0\na ||| b ||| 0-1\n");
  EXPECT_EQ(error("train align empty.txt -o bad.esp"),
            "espalier: empty.txt: no sentence pairs; expected some");
  EXPECT_EQ(error("train align bad.txt -o bad.esp"),
            "espalier: bad.txt:2: the link '0-1' with 1 target word; expected target words from 0 to 0");
  EXPECT_EQ(error("train align train.txt --dev empty.txt -o bad.esp"),
            "espalier: empty.txt: no sentence pairs; expected some");
  EXPECT_EQ(error("train align train.txt --dictionary none.txt -o bad.esp").substr(0, 37),
            "espalier: none.txt: cannot open: No s");
  succeed("train align train.txt --loss svm --passes 2 --quiet -o svm.esp");
  EXPECT_EQ(error("eval svm.esp empty.txt"), "espalier: empty.txt: no sentence pairs; expected some");
  EXPECT_EQ(error("eval svm.esp bad.txt"),
            "espalier: bad.txt:2: the link '0-1' with 1 target word; expected target words from 0 to 0");
  EXPECT_EQ(error("predict svm.esp test.txt --marginals"),
            "espalier: --marginals: a model of loss svm has no probabilities; expected one trained with a "
            "finite beta, such as --loss crf");
  EXPECT_EQ(error("predict svm.esp test.txt --json --format links"),
            "espalier: --json: given with --format links; expected one of the two");
  EXPECT_EQ(succeed("predict svm.esp bad.txt --format links"), "0-0\n0-0\n");
}

}  // namespace
}  // namespace espalier::testing::cli_align_test
