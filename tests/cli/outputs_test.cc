// Where nothing can be written, and what is left where nothing is worth writing.

#include <signal.h>

#include <filesystem>

#include "cli/bad_input.h"

namespace espalier::testing::outputs_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoFolder =
    ": cannot create: No such file or directory; expected a folder that exists and can be written";
constexpr const char* kFull =
    "/dev/full: cannot write: No space left on device; free some space or write elsewhere";

INSTANTIATE_TEST_SUITE_P(
    Outputs, BadInputTest,
    ::testing::Values(
        BadInput{"ModelInAMissingFolder", "train classify good.svm -o none/out.esp",
                 std::string("none/out.esp") + kNoFolder},
        BadInput{"ModelIsAFolder",
                 "train classify good.svm -o folder",
                 "folder: is a folder; expected the name of a file to write",
                 {{"folder/", ""}}},
        BadInput{"ModelPacked", "train classify none.svm -o out.esp.gz",
                 "out.esp.gz: models are not compressed; expected another ending, such as model.esp"},
        BadInput{"ModelOnAFullDisk", "train classify good.svm --quiet -o /dev/full", kFull},
        BadInput{"LogInAMissingFolder", "train classify good.svm -o out.esp --log none/run.jsonl",
                 std::string("none/run.jsonl") + kNoFolder},
        BadInput{"PredictionsInAMissingFolder", "predict model.esp good.svm -o none/out.txt",
                 std::string("none/out.txt") + kNoFolder},
        BadInput{"PredictionsOnAFullDisk", "predict model.esp good.svm -o /dev/full", kFull},
        BadInput{"SentencesOnAFullDisk", "generate classify -o /dev/full", kFull}),
    name_of);

using CliOutputTest = CliTest;

// Numbers that are worth nothing are not saved.
TEST_F(CliOutputTest, AnObjectiveThatIsNotFiniteIsAFailure) {
  write("good.svm", kGood);
  const Outcome outcome =
      run("train classify good.svm --solver eg --l2 1e-300 --quiet -o out.esp --log run.jsonl");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("espalier: failed: the objective is not finite after ")) << outcome.err;
  EXPECT_TRUE(
      outcome.err.ends_with(" passes; expected finite numbers: check the values in the data, and l2\n"))
      << outcome.err;
  EXPECT_EQ(files(), (std::set<std::string>{"good.svm", "run.jsonl"}));
  const std::vector<std::string> log = lines(read("run.jsonl"));
  const Json last = Json::parse(log.back());
  EXPECT_EQ(last.at("event"), "end");
  EXPECT_EQ(last.at("status"), "failed");
  EXPECT_FALSE(last.contains("model"));
  EXPECT_FALSE(Json::parse(log[log.size() - 2]).contains("primal"));  // JSON has no such number
}

TEST_F(CliOutputTest, AFailedRunLeavesTheOldModelAndLogAlone) {
  write("good.svm", kGood);
  write("old.esp", "a model of last week");
  write("old.jsonl", "a log of last week");
  EXPECT_EQ(run("train classify none.svm -o old.esp --log old.jsonl").status, 2);
  EXPECT_EQ(read("old.esp"), "a model of last week");
  EXPECT_EQ(read("old.jsonl"), "a log of last week");
}

TEST_F(CliOutputTest, StandardOutputOnAFullDiskIsTold) {
  write("good.svm", kGood);
  succeed("train classify good.svm --quiet -o model.esp");
  RunOptions full = here();
  full.output = "/dev/full";
  const std::pair<const char*, const char*> cases[] = {
      {"predict model.esp good.svm", "cannot write: No space left on device"},
      {"show model.esp", "cannot write: No space left on device"},
      {"eval model.esp good.svm --json", "cannot write: No space left on device"},
      {"generate tag", "cannot write: No space left on device"},
      {"path classify good.svm --dev good.svm --factor 0.1 --quiet", "cannot be written"},
      {"--help", "cannot be written"},
  };
  for (const auto& [arguments, why] : cases) {
    const Outcome outcome = run_program(command(arguments), full);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err,
              std::string("espalier: standard output: ") + why + "; free some space or write elsewhere\n");
  }
}

TEST_F(CliOutputTest, StandardErrorOnAFullDiskDoesNotCostTheModel) {
  write("good.svm", kGood);
  EXPECT_EQ(run_shell("$E train classify good.svm -o model.esp 2> /dev/full").status, 0);
  EXPECT_EQ(run("show model.esp").status, 0);
  EXPECT_EQ(run_shell("$E train classify none.svm -o model.esp 2> /dev/full").status, 2);
}

// The number of a closed stream goes to the next file that is opened: neither model nor log may get it.
TEST_F(CliOutputTest, ClosedStreamsDoNotCostTheModel) {
  write("good.svm", kGood);
  succeed("train classify good.svm --quiet -o expected.esp");
  for (const std::string closed : {"2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"}) {
    const Outcome outcome = run_shell("$E train classify good.svm -o model.esp --log run.jsonl " + closed);
    EXPECT_EQ(outcome.status, 0) << closed;
    EXPECT_TRUE(read("model.esp") == read("expected.esp")) << closed;
    const std::vector<std::string> log = lines(read("run.jsonl"));
    for (const std::string& line : log) EXPECT_NO_THROW(Json::parse(line)) << line;
    EXPECT_EQ(Json::parse(log.back()).at("event"), "end");
    fs::remove(folder_.path("model.esp"));
  }
  const Outcome no_output = run_shell("$E predict expected.esp good.svm >&-");
  EXPECT_EQ(no_output.status, 2);
  EXPECT_EQ(
      no_output.err,
      "espalier: standard output: cannot write: Bad file descriptor; free some space or write elsewhere\n");
  EXPECT_EQ(run_shell("$E train classify - -o model.esp <&-").status, 2);
}

TEST_F(CliOutputTest, AReaderThatGoesAwayDoesNotCostTheModel) {
  write("good.svm", kGood);
  // The reader closes its end before the program starts.
  const std::string script =
      "{ while [ ! -e closed ]; do sleep 0.01; done; $E train classify good.svm -o model.esp --log "
      "/dev/fd/1; "
      "echo $? > status; } 2>&1 | { exec 0<&-; : > closed; }";
  EXPECT_EQ(run_shell(script).status, 0);
  EXPECT_EQ(read("status"), "0\n");
  EXPECT_EQ(run("show model.esp").status, 0);
}

TEST_F(CliOutputTest, ALogOnAFullDiskDoesNotCostTheModel) {
  write("good.svm", kGood);
  const std::string full =
      "espalier: /dev/full: cannot write: No space left on device; the log ends here; the run continues\n";
  const Outcome quiet = run("train classify good.svm --quiet -o model.esp --log /dev/full");
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.err, full);  // once, and though it is to be quiet
  EXPECT_EQ(run("show model.esp").status, 0);
  for (const std::string command :
       {"path classify good.svm --dev good.svm --factor 0.1 -o model.esp --quiet",
        "cross-validate classify good.svm --folds 2 --factor 0.1 -o model.esp --quiet",
        "race classify good.svm --solvers eg,lbfgs --quiet"}) {
    fs::remove(folder_.path("model.esp"));
    const Outcome outcome = run(command + " --log /dev/full");
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_EQ(outcome.err, full) << command;
    EXPECT_EQ(files().count("model.esp"), command.starts_with("race") ? 0u : 1u) << command;
  }
}

TEST_F(CliOutputTest, ACheckpointThatCannotBeWrittenDoesNotCostTheModel) {
  generate("train.txt", 300, 1);
  fs::create_directory(folder_.path("there"));
  RunningProgram program(
      command(std::string("train classify train.txt --format crfsuite ") + kEndless +
              "--report-every 2 --checkpoint there/run.ckpt --checkpoint-every 0 -o model.esp"),
      here());
  ASSERT_TRUE(program.wait_for_error_lines(3));
  fs::rename(folder_.path("there"), folder_.path("gone"));
  ASSERT_TRUE(program.wait_for_error_lines(12));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  int told = 0;
  for (const std::string& line : lines(outcome.err)) {
    if (!line.starts_with("espalier: ")) continue;
    EXPECT_EQ(
        line,
        "espalier: there/run.ckpt: cannot create: No such file or directory; expected a folder that exists "
        "and can be written; the run continues");
    ++told;
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(run("show model.esp").status, 0);
}

// Pipes: opened once, since a reader takes the first closing for the end.
TEST_F(CliOutputTest, AModelMayGoIntoAPipe) {
  write("good.svm", kGood);
  succeed("train classify good.svm --quiet -o expected.esp");
  EXPECT_EQ(run_shell("mkfifo pipe; cat pipe > copy.esp & $E train classify good.svm --quiet -o pipe && wait")
                .status,
            0);
  EXPECT_TRUE(read("copy.esp") == read("expected.esp"));
  // What the shell makes of -o >(gzip > packed.gz)
  EXPECT_EQ(run_shell("$E train classify good.svm --quiet -o /dev/fd/5 5>&1 | gzip > packed.gz").status, 0);
  EXPECT_TRUE(read("packed.gz") == read("expected.esp"));
}

TEST_F(CliOutputTest, ALogMayGoIntoAPipe) {
  write("good.svm", kGood);
  const Outcome outcome = run_shell(
      "mkfifo pipe; cat pipe > copy.jsonl & $E train classify good.svm --quiet -o model.esp --log pipe && "
      "wait");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<std::string> log = lines(read("copy.jsonl"));
  ASSERT_GE(log.size(), 3u);
  EXPECT_EQ(Json::parse(log.front()).at("event"), "start");
  EXPECT_EQ(Json::parse(log.back()).at("event"), "end");
  EXPECT_EQ(files().count("model.esp"), 1u);
}

}  // namespace
}  // namespace espalier::testing::outputs_test
