// Runs that miss the gap they were to reach say so, to people and to scripts, and so do their models.

#include "cli/cli_test.h"

namespace espalier::testing::ending_test {
namespace {

class CliEndingTest : public CliTest {
 protected:
  void SetUp() override { succeed("generate tag -n 200 --seed 1 -o train.txt"); }

  // The last line of a run that is to be no error.
  std::string last_line(const std::string& options) const {
    const Outcome outcome = run("train tag train.txt -o model.esp " + options);
    EXPECT_EQ(outcome.status, 0) << options;
    return lines(outcome.err).back();
  }
  static bool has(const std::string& line, const std::string& part) {
    return line.find(part) != std::string::npos;
  }
};

TEST_F(CliEndingTest, SaysByHowMuchAndHowLong) {
  const std::string line = last_line("--passes 12 --gap 1e-9 --report-every 1");
  EXPECT_TRUE(line.starts_with("out of passes (--passes): relative gap ")) << line;
  EXPECT_TRUE(has(line, " times the 1e-09 asked for; at the pace of the last passes, ")) << line;
  EXPECT_TRUE(line.ends_with("; saved model.esp")) << line;
  // What it says to try is enough, or nearly so.
  const std::string option = "try --passes ";
  ASSERT_TRUE(has(line, option)) << line;
  const double passes = std::stod(line.substr(line.find(option) + option.size()));
  EXPECT_GT(passes, 12);
  succeed("train tag train.txt -o more.esp --quiet --gap 1e-9 --passes " + std::to_string(2 * passes));
  EXPECT_LE(json("show more.esp --json").at("certificate").at("relative_gap").get<double>(), 1e-9);
}

TEST_F(CliEndingTest, SaysWhatToTry) {
  // EG crawls where l2 is tiny.
  const std::string smooth = last_line("--solver eg --passes 60 --l2 1e-6 --report-every 1");
  EXPECT_TRUE(has(smooth, ": try --solver auto or a larger l2; saved")) << smooth;
  const std::string margin = last_line("--loss svm --solver bmrm --passes 20 --gap 1e-6");
  EXPECT_TRUE(has(margin, ": try --solver auto or a larger l2 or more passes; saved")) << margin;
  const std::string loose = last_line("--solver sgd --passes 3");
  EXPECT_TRUE(has(
      loose, " asked for, but the certificate of sgd is loose: try --solver auto for a tighter one; saved"))
      << loose;
  const std::string early = last_line("--solver eg --passes 1.5");
  EXPECT_TRUE(early.ends_with(" asked for: try more passes; saved model.esp")) << early;
  const std::string late = last_line("--seconds 1e-9");
  EXPECT_TRUE(late.starts_with("out of time (--seconds): ")) << late;
  EXPECT_TRUE(late.ends_with(" asked for: try more passes; saved model.esp")) << late;
}

TEST_F(CliEndingTest, SaysNothingOfAGapThatIsMetOrNotAskedFor) {
  const std::string converged = last_line("");
  EXPECT_TRUE(converged.starts_with("converged: ")) << converged;
  EXPECT_FALSE(has(converged, "asked for")) << converged;
  EXPECT_FALSE(has(last_line("--passes 5 --gap 0"), "asked for"));
}

TEST_F(CliEndingTest, AGapMayBeRequired) {
  const Outcome missed = run("train tag train.txt -o model.esp --passes 2 --require-gap --quiet");
  EXPECT_EQ(missed.status, 3);
  EXPECT_EQ(missed.out, "");
  EXPECT_TRUE(missed.err.starts_with("espalier: --require-gap: relative gap ")) << missed.err;
  EXPECT_TRUE(missed.err.ends_with("; expected at most 0.001\n")) << missed.err;
  EXPECT_EQ(files().count("model.esp"), 1u);  // all the same
  EXPECT_GT(json("show model.esp --json").at("certificate").at("relative_gap").get<double>(), 1e-3);
  const Outcome met = run("train tag train.txt -o model.esp --require-gap --quiet");
  EXPECT_EQ(met.status, 0);
  EXPECT_EQ(met.err, "");
}

TEST_F(CliEndingTest, AGapMayBeRequiredOfWhatIsChosen) {
  const std::string few = " --l2-max 10 --l2-min 1 --factor 0.1 --require-gap --quiet -o model.esp";
  EXPECT_EQ(run("path tag train.txt --dev train.txt --passes 2" + few).status, 3);
  EXPECT_EQ(files().count("model.esp"), 1u);
  EXPECT_EQ(run("path tag train.txt --dev train.txt" + few).status, 0);
  EXPECT_EQ(run("cross-validate tag train.txt --folds 2 --passes 2" + few).status, 3);
  EXPECT_EQ(run("cross-validate tag train.txt --folds 2" + few).status, 0);
  EXPECT_EQ(error("cross-validate tag train.txt --require-gap"),
            "espalier: --require-gap requires --output; see 'espalier cross-validate tag --help'");
}

TEST_F(CliEndingTest, AModelFarFromItsOptimumIsUsedWithAWarning) {
  succeed("train tag train.txt -o far.esp --passes 1e-9 --quiet");
  succeed("train tag train.txt -o near.esp --quiet");
  const std::string warning = "above 0.1: training may have ended far from the optimum";
  for (const std::string command : {"predict far.esp train.txt", "eval far.esp train.txt"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_TRUE(outcome.err.starts_with("espalier: far.esp: relative gap ")) << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with(", " + warning + "\n")) << outcome.err;
  }
  EXPECT_TRUE(has(succeed("show far.esp"), "\n             " + warning + "\n"));
  for (const std::string command : {"predict near.esp train.txt", "eval near.esp train.txt"}) {
    EXPECT_EQ(run(command).err, "") << command;
  }
  EXPECT_FALSE(has(succeed("show near.esp"), warning));
}

TEST_F(CliEndingTest, SentencesWithoutBlankLinesGetAHint) {
  std::string endless;
  for (const std::string& line : lines(read("train.txt"))) endless += line.empty() ? "" : line + '\n';
  const std::size_t tokens = lines(endless).size();
  ASSERT_GT(tokens, 2000u);
  ASSERT_LT(tokens, 10'000u);
  const std::string count = std::to_string(tokens / 1000) + ',' + std::to_string(tokens).substr(1);
  write("one.txt", endless);
  write("two.txt", endless + '\n' + endless);
  const std::string hint = " tokens; sentences are separated by blank lines";
  EXPECT_EQ(lines(run("train tag one.txt -o model.esp --passes 1").err).front(),
            "one sequence of " + count + hint);
  EXPECT_EQ(lines(run("train tag two.txt -o model.esp --passes 1").err).front(),
            "2 sequences of " + count + " tokens on average; sentences are separated by blank lines");
  EXPECT_TRUE(lines(run("train tag train.txt -o model.esp --passes 1").err).front().starts_with("read "));
}

}  // namespace
}  // namespace espalier::testing::ending_test
