// Where nothing can be written, and what is left where nothing is worth writing.

#include "cli/bad_input.h"

namespace espalier::testing {
namespace {

constexpr const char* kNoFolder =
    ": cannot create: No such file or directory; expected a folder that exists and can be written";
constexpr const char* kFull =
    "/dev/full: cannot write: No space left on device; make room there or write elsewhere";

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
                 "out.esp.gz: models are not packed; expected a name that ends otherwise, such as model.esp"},
        BadInput{"ModelOnAFullDisk", "train classify good.svm --quiet -o /dev/full", kFull},
        BadInput{"LogInAMissingFolder", "train classify good.svm -o out.esp --log none/run.jsonl",
                 std::string("none/run.jsonl") + kNoFolder},
        BadInput{"LogOnAFullDisk", "train classify good.svm --quiet -o out.esp --log /dev/full", kFull},
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
  EXPECT_TRUE(outcome.err.ends_with(" passes; expected finite numbers: check the data's values and l2\n"))
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
              std::string("espalier: standard output: ") + why + "; make room there or write elsewhere\n");
  }
}

TEST_F(CliOutputTest, StandardErrorOnAFullDiskDoesNotCostTheModel) {
  write("good.svm", kGood);
  EXPECT_EQ(run_shell("$E train classify good.svm -o model.esp 2> /dev/full").status, 0);
  EXPECT_EQ(run("show model.esp").status, 0);
  EXPECT_EQ(run_shell("$E train classify none.svm -o model.esp 2> /dev/full").status, 2);
}

}  // namespace
}  // namespace espalier::testing
