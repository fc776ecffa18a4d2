// Ctrl-C, and the other ways in which a run ends before its optimum: the model is saved with the gap that it
// has.

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include "cli/cli_test.h"

namespace espalier::testing::interrupt_test {
namespace {

class CliInterruptTest : public CliTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override { generate_all(); }

  // The model's certificate, after a look at whether the model works.
  Json certificate() const {
    const std::vector<std::string> predicted = lines(succeed("predict model.esp test.txt")),
                                   gold = lines(read("test.txt"));
    EXPECT_EQ(predicted.size(), gold.size());
    int errors = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) errors += !gold.at(i).starts_with(predicted[i] + '\t');
    EXPECT_EQ(json("eval model.esp test.txt --json").at("errors"), errors);
    return json("show model.esp --json").at("certificate");
  }
};

constexpr const char* kTrain = "train classify train.txt --format crfsuite --report-every 2 ";

TEST_P(CliInterruptTest, TrainingSavesWhatItHas) {
  RunningProgram program(command(std::string(kTrain) + kEndless + "-o model.esp --log run.jsonl"), here());
  ASSERT_TRUE(program.wait_for_error_lines(2));
  program.send(GetParam());
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(outcome.out, "");
  const std::string last = lines(outcome.err).back();
  EXPECT_TRUE(last.starts_with("stopped: relative gap ")) << last;
  EXPECT_TRUE(last.ends_with(" passes; saved model.esp")) << last;

  const Json saved = certificate();
  EXPECT_GT(saved.at("relative_gap").get<double>(), 0);
  EXPECT_DOUBLE_EQ(saved.at("gap").get<double>(),
                   saved.at("primal").get<double>() - saved.at("dual").get<double>());
  // The log's last report is of the weights that were saved.
  const std::vector<std::string> log = lines(read("run.jsonl"));
  ASSERT_GE(log.size(), 3u);
  const Json progress = Json::parse(log[log.size() - 2]), end = Json::parse(log.back());
  EXPECT_EQ(progress.at("primal"), saved.at("primal"));
  EXPECT_EQ(progress.at("dual"), saved.at("dual"));
  EXPECT_EQ(progress.at("pass"), saved.at("passes"));
  EXPECT_EQ(end.at("status"), "stopped");
  EXPECT_EQ(end.at("model"), "model.esp");
  EXPECT_EQ(files().count("model.esp"), 1u);
  EXPECT_EQ(files().size(), 5u);  // the data, the model and the log
}

TEST_P(CliInterruptTest, APathSavesTheBestSoFar) {
  RunningProgram program(
      command("path classify train.txt --format crfsuite --dev dev.txt --l2-max 1000 --l2-min 1e-9 "
              "--gap 1e-6 -o model.esp"),
      here());
  ASSERT_TRUE(program.wait_for_error_lines(5));
  program.send(GetParam());
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);

  // The table has what was done, and the best of it is what was saved.
  const std::vector<std::string> table = lines(outcome.out);
  ASSERT_GE(table.size(), 2u);
  double best_l2 = 0, least_error = 101;
  for (std::size_t i = 1; i < table.size(); ++i) {
    const std::vector<std::string> row = words(table[i]);  // l2 passes total gap primal error X %
    if (std::stod(row.at(6)) < least_error) {
      best_l2 = std::stod(row.at(0));
      least_error = std::stod(row.at(6));
    }
  }
  const Json shown = json("show model.esp --json");
  EXPECT_NEAR(shown.at("l2").get<double>(), best_l2, 1e-5 * best_l2);
  EXPECT_GT(certificate().at("relative_gap").get<double>(), 0);
  EXPECT_NEAR(100 * json("eval model.esp dev.txt --json").at("error").get<double>(), least_error, 0.005);

  const std::string last = lines(outcome.err).back(), done = std::to_string(table.size() - 1);
  EXPECT_TRUE(last.starts_with("best of " + done + " values: l2 ")) << last;
  EXPECT_TRUE(last.ends_with(" (stopped: " + done + " of 78 values); saved model.esp")) << last;
}

TEST_P(CliInterruptTest, EverySolverStops) {
  generate("train.txt", 20000, 1);  // so that none is done before the signal comes
  for (const std::string solver : {"eg", "lbfgs", "sgd"}) {
    RunningProgram program(
        command(std::string(kTrain) + "--l2 1e-6 --gap 0 --passes 1e9 -o model.esp --solver " + solver),
        here());
    ASSERT_TRUE(program.wait_for_error_lines(2)) << solver;
    program.send(GetParam());
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.status, 130) << solver;
    EXPECT_TRUE(lines(outcome.err).back().ends_with("saved model.esp")) << outcome.err;
    certificate();
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, CliInterruptTest, ::testing::Values(SIGINT, SIGTERM),
                         [](const ::testing::TestParamInfo<int>& info) {
                           return info.param == SIGINT ? "Interrupt" : "Terminate";
                         });

using CliStopTest = CliInterruptTest;

// Its reader waits for data that never come. Nobody else could hear a signal then.
class Pipe {
 public:
  // Returns once the program has opened the pipe, or ended.
  Pipe(const std::string& path, RunningProgram& program) {
    while (writer_ < 0 && program.running()) writer_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK);
  }
  ~Pipe() {
    if (writer_ >= 0) ::close(writer_);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // All of it, however little the pipe takes at once.
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t taken = ::write(writer_, text.data(), text.size());
      if (taken < 0) {
        ASSERT_EQ(errno, EAGAIN);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } else {
        text.remove_prefix(static_cast<std::size_t>(taken));
      }
    }
  }

 private:
  int writer_ = -1;
};

class CliReadingTest : public CliTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkfifo(folder_.path("pipe").c_str(), 0600), 0);
    write("keep.esp", "a good model");
  }

  // A command that reads the pipe, interrupted while it waits for more than `data`.
  void interrupt(const std::string& arguments, const std::string& data, const std::string& message) {
    const auto before = files();
    RunningProgram program(command(arguments), here());
    {
      const Pipe pipe(folder_.path("pipe"), program);
      pipe.write(data);
      program.send(GetParam());
      const Outcome outcome = program.wait();
      EXPECT_EQ(outcome.status, 130) << arguments;
      const std::vector<std::string> said = lines(outcome.err);
      EXPECT_EQ(said.empty() ? "" : said.back(), "espalier: " + message) << arguments;
    }
    EXPECT_EQ(files(), before) << arguments;  // no temporary file, no log
    EXPECT_EQ(read("keep.esp"), "a good model") << arguments;
  }
};

TEST_P(CliReadingTest, EndsAtOnceAndSavesNothing) {
  for (const std::string task : {"tag", "classify", "parse", "treebank"}) {
    const std::string data = succeed("generate " + task + " -n 5"), options = " --quiet --log run.jsonl ";
    const std::string message = "interrupted while reading pipe; nothing was saved";
    interrupt("train " + task + " pipe -o keep.esp" + options, data, message);
    interrupt("path " + task + " pipe --dev none.txt -o keep.esp" + options, data, message);
    interrupt("cross-validate " + task + " pipe -o keep.esp" + options, data, message);
    interrupt("race " + task + " pipe --solvers eg" + options, data, message);
  }
  interrupt("train graph pipe -o keep.esp", succeed("generate graph -n 2"),
            "interrupted while reading pipe; nothing was saved");
}

// Threads that parse, and wait for chunks that do not come, do not keep the program.
TEST_P(CliReadingTest, AlsoByTwoThreads) {
  for (const std::string task : {"tag", "classify", "parse", "treebank"}) {
    std::string data = succeed("generate " + task + " -n 200");
    while (data.size() < 700'000) data += data;  // several chunks
    const std::string format = task == "classify" ? " --format crfsuite" : "";
    interrupt("train " + task + " pipe --threads 2 -o keep.esp --quiet" + format, data,
              "interrupted while reading pipe; nothing was saved");
  }
}

TEST_P(CliReadingTest, AlsoInHeldOutData) {
  for (const std::string task : {"tag", "classify", "parse", "treebank", "graph", "align"}) {
    const std::string format = task == "classify" ? " --format crfsuite" : "";
    succeed("generate " + task + " -n 5 -o train.txt");
    interrupt("train " + task + " train.txt --dev pipe -o keep.esp" + format,
              read("train.txt").substr(0, 1000), "interrupted while reading pipe; nothing was saved");
  }
}

TEST_P(CliReadingTest, WaitingForAReaderOfTheLogCanBeInterrupted) {
  succeed("generate tag -n 5 -o train.txt");
  RunningProgram program(command("train tag train.txt -o keep.esp --log pipe"), here());
  ASSERT_TRUE(program.wait_for_error_lines(1));
  program.send(GetParam());
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(lines(outcome.err).back(),
            "espalier: interrupted before the first pass was complete; nothing was saved");
  EXPECT_EQ(read("keep.esp"), "a good model");
}

// Of a model that goes into a pipe, too: it is larger than what a pipe holds, so that this one waits.
TEST_P(CliReadingTest, WaitingForAReaderOfTheModelCanBeInterrupted) {
  succeed("generate tag -n 60 -o train.txt");
  const int reader = ::open(folder_.path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  for (const std::string command_line :
       {"train tag train.txt -o pipe", "cross-validate tag train.txt --folds 2 --l2 1 -o pipe"}) {
    RunningProgram program(command(command_line), here());
    const int full = ::fcntl(reader, F_GETPIPE_SZ);
    for (int held = 0; held < full && program.running();) ASSERT_EQ(::ioctl(reader, FIONREAD, &held), 0);
    program.send(GetParam());
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.status, 130);
    EXPECT_EQ(lines(outcome.err).back(),
              "espalier: interrupted while waiting for a reader of pipe; nothing was saved");
    std::vector<char> rest(static_cast<std::size_t>(full));
    EXPECT_EQ(::read(reader, rest.data(), rest.size()), full);
  }
  ::close(reader);
}

TEST_P(CliReadingTest, PredictionsLeaveNoTemporaryFile) {
  succeed("generate tag -n 20 -o train.txt");
  succeed("train tag train.txt --passes 2 --quiet -o model.esp");
  interrupt("predict model.esp pipe -o keep.esp", read("train.txt").substr(0, 1000), "interrupted");
  interrupt("eval model.esp pipe", read("train.txt").substr(0, 1000), "interrupted");
}

// Weights without a pass are those that training starts from.
TEST_P(CliReadingTest, BeforeTheFirstPassIsOverNothingIsSaved) {
  succeed("generate supertag -n 2000 -o train.txt");  // so many labels that a pass takes seconds
  RunningProgram program(command("train tag train.txt -o keep.esp"), here());
  ASSERT_TRUE(program.wait_for_error_lines(1));
  program.send(GetParam());
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(lines(outcome.err).back(),
            "espalier: interrupted before the first pass was complete; nothing was saved");
  EXPECT_EQ(read("keep.esp"), "a good model");
  EXPECT_EQ(files(), (std::set<std::string>{"keep.esp", "pipe", "train.txt"}));
}

// Those of a checkpoint are no better: it still has them.
TEST_P(CliReadingTest, AResumedRunWithoutAPassOfItsOwnSavesNothing) {
  succeed("generate supertag -n 100 -o train.txt");
  const std::string options = "train tag train.txt --checkpoint run.ckpt ";
  succeed(options + "--passes 1e-9 -o first.esp");
  const std::string checkpoint = read("run.ckpt");
  RunningProgram program(command(options + "--resume -o keep.esp"), here());
  ASSERT_TRUE(program.wait_for_error_lines(2));  // read, resumed
  program.send(GetParam());
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(lines(outcome.err).back(),
            "espalier: interrupted before the first pass was complete; nothing was saved");
  EXPECT_EQ(read("keep.esp"), "a good model");
  EXPECT_TRUE(read("run.ckpt") == checkpoint);
}

INSTANTIATE_TEST_SUITE_P(Signals, CliReadingTest, ::testing::Values(SIGINT, SIGTERM),
                         [](const ::testing::TestParamInfo<int>& info) {
                           return info.param == SIGINT ? "Interrupt" : "Terminate";
                         });

// Where the first interrupt waits for something to be saved, and that is stuck.
TEST_F(CliStopTest, ASecondInterruptEndsTheProgram) {
  ASSERT_EQ(::mkfifo(folder_.path("pipe").c_str(), 0600), 0);
  RunningProgram program(command(std::string(kTrain) + kEndless + "-o pipe"),
                         here());  // that nobody reads
  ASSERT_TRUE(program.wait_for_error_lines(2));
  program.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(program.running());
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  // On its way to the pipe, or already waiting there.
  EXPECT_TRUE(lines(outcome.err).back().starts_with("espalier: interrupted")) << outcome.err;
  EXPECT_EQ(files(), (std::set<std::string>{"dev.txt", "pipe", "test.txt", "train.txt"}));
}

TEST_F(CliStopTest, OutOfPassesIsNoError) {
  const Outcome outcome = run("train classify train.txt --format crfsuite --gap 0 --passes 2 -o model.esp");
  EXPECT_EQ(outcome.status, 0);
  const std::string last = lines(outcome.err).back();
  EXPECT_TRUE(last.starts_with("out of passes (--passes): relative gap ")) << last;
  EXPECT_TRUE(last.ends_with("; saved model.esp")) << last;
  const Json saved = certificate();
  EXPECT_GE(saved.at("passes").get<double>(), 2);
  EXPECT_LT(saved.at("passes").get<double>(), 3);
  EXPECT_GT(saved.at("relative_gap").get<double>(), 0);
}

TEST_F(CliStopTest, OutOfTimeIsNoError) {
  const Outcome outcome = run(std::string(kTrain) + kEndless + "--seconds 0.2 -o model.esp --log run.jsonl");
  EXPECT_EQ(outcome.status, 0);
  const std::string last = lines(outcome.err).back();
  EXPECT_TRUE(last.starts_with("out of time (--seconds): relative gap ")) << last;
  EXPECT_TRUE(last.ends_with("; saved model.esp")) << last;
  EXPECT_GT(certificate().at("relative_gap").get<double>(), 0);
  const std::vector<std::string> log = lines(read("run.jsonl"));
  EXPECT_EQ(Json::parse(log.back()).at("status"), "out of time");
  EXPECT_GE(Json::parse(log[log.size() - 2]).at("seconds").get<double>(), 0.2);
}

TEST_F(CliStopTest, TheSmallestBudgetStillGivesACertifiedModel) {
  for (const std::string solver : {"eg", "lbfgs", "sgd"}) {
    for (const std::string budget : {"--passes 1e-9", "--seconds 1e-9"}) {
      const Outcome outcome =
          run("train classify train.txt --format crfsuite --gap 0 -o model.esp --solver " + solver + " " +
              budget);
      EXPECT_EQ(outcome.status, 0) << solver << ' ' << budget << '\n' << outcome.err;
      const Json saved = json("show model.esp --json").at("certificate");
      EXPECT_GT(saved.at("relative_gap").get<double>(), 0) << solver << ' ' << budget;
    }
  }
  const Outcome path =
      run("path classify train.txt --format crfsuite --dev dev.txt --passes 3 --gap 0 -o model.esp");
  EXPECT_EQ(path.status, 0);
  const std::string last = lines(path.err).back();
  EXPECT_NE(last.find(" of 23 values)"), std::string::npos) << last;
  EXPECT_TRUE(last.ends_with("saved model.esp")) << last;
}

}  // namespace
}  // namespace espalier::testing::interrupt_test
