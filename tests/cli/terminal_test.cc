// What is shown, and where: results on standard output, progress on standard error, a bar on terminals alone.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/cli_test.h"

namespace espalier::testing::terminal_test {
namespace {

// Bare roots and some containers have no pseudo-terminals.
bool terminals_exist() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) return false;
  close(terminal);
  return true;
}

class CliTerminalTest : public CliTest {
 protected:
  void SetUp() override { generate_all(); }
  static constexpr const char* kTrain =
      "train classify train.txt --format crfsuite --dev dev.txt -o model.esp ";
};

TEST_F(CliTerminalTest, TrainingReportsOnStandardErrorLineByLine) {
  const Outcome outcome = run(kTrain);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos);
  const std::vector<std::string> shown = lines(outcome.err);
  ASSERT_GE(shown.size(), 3u);
  EXPECT_TRUE(shown.front().starts_with("read train.txt: 300 examples, 8 labels, ")) << shown.front();
  for (std::size_t i = 1; i + 1 < shown.size(); ++i) {
    EXPECT_TRUE(shown[i].starts_with("pass ")) << shown[i];
    EXPECT_NE(shown[i].find(" gap "), std::string::npos) << shown[i];
    EXPECT_NE(shown[i].find("  dev error "), std::string::npos) << shown[i];
  }
  EXPECT_TRUE(shown.back().starts_with("converged: relative gap ")) << shown.back();
  EXPECT_TRUE(shown.back().ends_with(" passes; saved model.esp")) << shown.back();
}

TEST_F(CliTerminalTest, QuietSaysNothing) {
  for (const std::string& arguments :
       {std::string(kTrain) + "--quiet", std::string(kTrain) + "--quiet --l2 auto",
        std::string(kTrain) + "--quiet --passes 1"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out + outcome.err, "") << arguments;
  }
}

TEST_F(CliTerminalTest, OtherCommandsSayNothingOnStandardError) {
  succeed(std::string(kTrain) + "--quiet");
  for (const char* arguments : {"predict model.esp test.txt", "predict model.esp test.txt -o labels.txt",
                                "eval model.esp test.txt", "show model.esp", "generate tag -n 3"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "") << arguments;
  }
}

TEST_F(CliTerminalTest, ATerminalShowsABarAndClearsIt) {
  if (!terminals_exist()) GTEST_SKIP() << "no pseudo-terminals here";
  RunOptions terminal = here();
  terminal.terminal = true;
  const Outcome outcome =
      run_program(command(std::string(kTrain) + kEndless + "--seconds 0.6 --report-every 1e9"), terminal);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  const std::string clear = "\r\x1b[K";
  const std::size_t bar = outcome.err.find("\r["), cleared = outcome.err.rfind(clear);
  ASSERT_NE(bar, std::string::npos) << outcome.err;
  ASSERT_NE(cleared, std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("] pass ", bar), std::string::npos);
  EXPECT_GT(cleared, outcome.err.rfind("\r["));  // the last bar is wiped away before the last lines
  // A terminal ends lines with CR LF.
  EXPECT_TRUE(outcome.err.ends_with("; saved model.esp\r\n")) << outcome.err;
}

// Something moves from the start, and once there are gaps to go by, the bar says how long it may take.
TEST_F(CliTerminalTest, ABarMovesBeforeTheFirstReportAndThenTellsTheTime) {
  if (!terminals_exist()) GTEST_SKIP() << "no pseudo-terminals here";
  RunOptions terminal = here();
  terminal.terminal = true;
  const auto shown = [&](const std::string& options) {
    return run_program(command(kTrain + options), terminal).err;
  };
  generate("train.txt", 20'000, 5);  // enough to be at it for a while
  const std::string first = shown(std::string(kEndless) + "--seconds 0.5 --report-every 100000");
  EXPECT_NE(first.find(", first report after 100000\x1b[K"), std::string::npos) << first;
  const std::string later = shown("--solver lbfgs --gap 1e-9 --report-every 1 --seconds 3");
  EXPECT_NE(later.find(" of 1.0e-09, about "), std::string::npos) << later;
  EXPECT_NE(later.find(" left\x1b[K"), std::string::npos) << later;
}

TEST_F(CliTerminalTest, ReadingShowsABar) {
  if (!terminals_exist()) GTEST_SKIP() << "no pseudo-terminals here";
  RunOptions terminal = here();
  terminal.terminal = true;
  generate("large.txt", 10'000, 5);
  const Outcome outcome =
      run_program(command("train classify large.txt --format crfsuite -o model.esp --passes 0.01"), terminal);
  const std::size_t bar = outcome.err.find("] reading large.txt: ");
  ASSERT_NE(bar, std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(" MB\x1b[K", bar), std::string::npos) << outcome.err;
  EXPECT_LT(outcome.err.rfind("] reading large.txt: "), outcome.err.find("read large.txt: 10,000 examples"));
}

// The bytes of a model are nothing to look at.
TEST_F(CliTerminalTest, ModelsAreNotWrittenToATerminal) {
  if (!terminals_exist()) GTEST_SKIP() << "no pseudo-terminals here";
  if (run_shell("command -v script").status != 0) GTEST_SKIP() << "needs script";
  const Outcome outcome =
      run_shell("script -qec \"$E train classify train.txt --format crfsuite -o -\" /dev/null < /dev/null");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out,
            "espalier: --output -: standard output is a terminal; expected a file or a pipe\r\n");
}

TEST_F(CliTerminalTest, QuietShowsNoBarEither) {
  if (!terminals_exist()) GTEST_SKIP() << "no pseudo-terminals here";
  RunOptions terminal = here();
  terminal.terminal = true;
  const Outcome outcome =
      run_program(command(std::string(kTrain) + kEndless + "--seconds 0.3 --quiet"), terminal);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CliTerminalTest, AReaderThatLeavesEarlyIsNoReasonToComplain) {
  succeed(std::string(kTrain) + "--quiet");
  generate("many.txt", 30000, 4);
  for (const char* script :
       {"$E predict model.esp many.txt | head -1", "$E generate classify -n 100000 | head -1"}) {
    const Outcome outcome = run_shell(script);
    EXPECT_EQ(lines(outcome.out).size(), 1u);
    EXPECT_EQ(outcome.err, "") << script;
  }
}

}  // namespace
}  // namespace espalier::testing::terminal_test
