// What the program does when calls of the system fail: on short runs of every subcommand, the k-th open,
// read, write, sync, rename, mapping, allocation, line to a stream or start of a thread fails, for every k
// where there are at most three, and for three of the others. ESPALIER_FAULTS=200 makes it 200, and prints
// how many that were.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "cli/cli_test.h"

namespace espalier::testing::faults_test {
namespace {

namespace fs = std::filesystem;

struct Command {
  const char* name;
  const char* arguments;
  const char* output = "";    // the file that it writes; else standard output
  bool times_itself = false;  // so that what it prints differs from run to run
};

constexpr Command kCommands[] = {
    {"TrainTag", "train tag tag.txt --dev tag.txt -o out --passes 3 --quiet", "out"},
    {"TrainTagPacked", "train tag tag.txt.gz -o out --passes 3 --quiet --threads 2", "out"},
    {"TrainClassify",
     "train classify classify.txt --format crfsuite -o out --quiet --solver lbfgs --passes 3", "out"},
    {"TrainParse", "train parse parse.txt -o out --passes 2 --quiet", "out"},
    {"TrainTreebank", "train treebank treebank.txt -o out --passes 2 --quiet", "out"},
    {"TrainGraph", "train graph graph.txt -o out --passes 2 --quiet", "out"},
    {"Path", "path tag tag.txt --dev tag.txt --l2-max 4 --l2-min 1 --factor 0.5 --passes 3 -o out --quiet",
     "out"},
    {"CrossValidate", "cross-validate tag tag.txt --folds 2 --l2 1 --passes 3 -o out --quiet", "out"},
    {"Race", "race classify classify.txt --format crfsuite --solvers eg,lbfgs --passes 3 --quiet", "", true},
    {"Predict", "predict model.esp tag.txt -o out", "out"},
    {"PredictPacked", "predict model.esp tag.txt.gz -o out.gz --threads 2", "out.gz"},
    {"PredictToStandardOutput", "predict model.esp tag.txt --marginals"},
    {"PredictGraph", "predict graph.esp graph.txt"},
    {"Eval", "eval model.esp tag.txt"},
    {"Show", "show model.esp --weights"},
    {"ShowDifference", "show --diff model.esp model.esp --json"},
    {"Convert", "convert model.esp --bits 16 -o out", "out"},
    {"Attributes", "attributes tag.txt"},
    {"Infer", "infer sprinkler.uai --task MAR -o out", "out"},
    {"Generate", "generate tag -n 20 -o out.zst", "out.zst"},
};

// Kinds of calls, as the shim calls them, and the errors that they fail with.
const std::map<std::string, std::vector<int>> kErrors{
    {"open", {EMFILE, EROFS}}, {"read", {EIO}},      {"write", {ENOSPC}},
    {"stream", {ENOSPC}},      {"sync", {EIO}},      {"rename", {EACCES}},
    {"map", {ENOMEM}},         {"thread", {EAGAIN}}, {"allocate", {ENOMEM}},
};

long most_faults() {
  const char* number = std::getenv("ESPALIER_FAULTS");
  return number != nullptr ? std::atol(number) : 3;
}

class FaultsTest : public CliTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizers' own library has to come first";
#endif
    static const Prepared prepared;
    for (const auto& file : fs::directory_iterator(prepared.folder()))
      fs::copy(file.path(), folder_.path(file.path().filename().string()));
  }

  // What all tests read, made once.
  class Prepared : CliTest {
   public:
    Prepared() {
      for (const std::string task : {"tag", "classify", "parse", "treebank", "graph"})
        succeed("generate " + task + " -n 6 --seed 3 -o " + task + ".txt");
      succeed("generate tag -n 6 --seed 3 -o tag.txt.gz");
      fs::copy(ESPALIER_SOURCE_DIR "/examples/data/sprinkler.uai", folder_.path("sprinkler.uai"));
      succeed("train tag tag.txt -o model.esp --quiet");
      succeed("train graph graph.txt -o graph.esp --quiet");
    }
    std::string folder() const { return folder_.path(); }

   private:
    void TestBody() override {}
  };

  // Runs with the shim. A fault of none only counts.
  Outcome run_with(const std::string& fault, const std::string& arguments,
                   const std::string& record = "") const {
    std::vector<std::string> all = command(arguments);
    std::vector<std::string> with{"env", "LD_PRELOAD=" ESPALIER_FAULT_SHIM};
    if (!fault.empty()) with.push_back("ESPALIER_FAULT=" + fault);
    if (!record.empty()) with.push_back("ESPALIER_FAULT_RECORD=" + record);
    all.insert(all.begin(), with.begin(), with.end());
    return run_program(all, here());
  }

  std::string bytes(const std::string& name) const {
    std::ifstream in(folder_.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // The lines that the shim wrote, by their first word, and the numbers of calls.
  struct Record {
    std::vector<std::vector<std::string>> calls;
    std::map<std::string, long> counts;
  };
  Record record_of(const std::string& arguments) const {
    const TemporaryFolder beside;
    EXPECT_EQ(run_with("", arguments, beside.path("record")).status, 0) << arguments;
    Record record;
    for (const std::string& line : lines(read_all(beside.path("record")))) {
      const std::vector<std::string> fields = words(line);
      if (fields.at(0) == "count") {
        record.counts[fields.at(1)] = std::stol(fields.at(2));
      } else {
        record.calls.push_back(fields);
      }
    }
    return record;
  }
};

class CommandFaultsTest : public FaultsTest, public ::testing::WithParamInterface<Command> {
 protected:
  void SetUp() override {
    FaultsTest::SetUp();
    if (IsSkipped()) return;
    const Outcome outcome = run(GetParam().arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expected_out_ = outcome.out;
    expected_err_ = outcome.err;
    if (writes()) expected_ = bytes(GetParam().output);
    if (writes()) write(GetParam().output, kOld);
    files_ = files();
  }

  bool writes() const { return *GetParam().output != '\0'; }

  // Whatever failed: no crash, the whole output or the old one, one line that says why.
  void check(const std::string& fault) {
    SCOPED_TRACE(std::string(GetParam().arguments) + "   ESPALIER_FAULT=" + fault);
    const Outcome outcome = run_with(fault, GetParam().arguments);
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 2) << outcome.status << ' ' << outcome.err;
    EXPECT_EQ(files(), files_);  // nothing left behind
    if (outcome.status == 0) {
      if (writes()) {
        EXPECT_TRUE(bytes(GetParam().output) == expected_) << "another output";
      }
      if (!GetParam().times_itself) {
        EXPECT_TRUE(outcome.out == expected_out_) << outcome.out;
      }
    } else {
      // The last thing that can fail is the sync of the folder: then the output is there.
      if (writes()) {
        const std::string left = bytes(GetParam().output);
        EXPECT_TRUE(left == kOld || left == expected_) << "an output of " << left.size() << " bytes";
      }
      if (!GetParam().times_itself) {
        EXPECT_TRUE(expected_out_.starts_with(outcome.out)) << outcome.out;
      }
      // Where standard error is what fails there may be none.
      const std::vector<std::string> said = lines(outcome.err);
      if (!fault.starts_with("stream") || !said.empty()) {
        ASSERT_FALSE(said.empty()) << "nothing was said";
        EXPECT_LE(said.size(), lines(expected_err_).size() + 1) << outcome.err;
        EXPECT_TRUE(said.back().starts_with("espalier: ")) << outcome.err;
        EXPECT_EQ(outcome.err.find("unexpected"), std::string::npos) << outcome.err;
      }
    }
    if (writes()) write(GetParam().output, kOld);
  }

  static constexpr const char* kOld = "what was there before";
  std::string expected_, expected_out_, expected_err_;
  std::set<std::string> files_;
};

TEST_P(CommandFaultsTest, EveryCallMayFail) {
  const Record record = record_of(GetParam().arguments);
  if (writes()) write(GetParam().output, kOld);
  std::string row = fmt::format("| `{}` |", GetParam().arguments);
  for (const auto& [kind, errors] : kErrors) {
    const long count = record.counts.at(kind);
    const long points = std::min(count, most_faults());
    for (const int error : errors) {
      for (long i = 0; i < points; ++i) {
        const long k = 1 + i * count / points;
        check(fmt::format("{}:{}:1:{}", kind, k, error));
        if (HasFatalFailure()) return;
      }
    }
    row += points < count ? fmt::format(" {} of {} |", points, count) : fmt::format(" {} |", count);
  }
  if (most_faults() > 3) std::printf("%s\n", row.c_str());
}

// Neither is a failure: what comes out is the same.
TEST_P(CommandFaultsTest, ShortAndInterruptedCallsAreInvisible) {
  for (const std::string fault : {"half", "interrupted"}) {
    const Outcome outcome = run_with(fault, GetParam().arguments);
    EXPECT_EQ(outcome.status, 0) << fault << ' ' << outcome.err;
    if (!GetParam().times_itself) {
      EXPECT_TRUE(outcome.out == expected_out_) << fault;
    }
    if (writes()) {
      EXPECT_TRUE(bytes(GetParam().output) == expected_) << fault;
    }
  }
}

// After a power cut a file that was renamed has to be there whole: its bytes were on the disk before, and its
// name is afterwards.
TEST_P(CommandFaultsTest, WhatIsRenamedIsOnTheDisk) {
  const Record record = record_of(GetParam().arguments);
  int renamed = 0;
  const std::string folder = fs::canonical(folder_.path()).string();
  for (std::size_t i = 0; i < record.calls.size(); ++i) {
    if (record.calls[i][0] != "rename") continue;
    ++renamed;
    const std::string from = folder + '/' + record.calls[i].at(1);
    bool synced = false, name_synced = false;
    for (std::size_t j = 0; j < i; ++j) {
      if (record.calls[j].at(1) != from) continue;
      if (record.calls[j][0] == "write") synced = false;
      if (record.calls[j][0] == "sync") synced = true;
    }
    for (std::size_t j = i + 1; j < record.calls.size(); ++j)
      name_synced = name_synced || (record.calls[j][0] == "sync" && record.calls[j].at(1) == folder);
    EXPECT_TRUE(synced) << from;
    EXPECT_TRUE(name_synced) << from;
  }
  EXPECT_EQ(renamed, writes() ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Commands, CommandFaultsTest, ::testing::ValuesIn(kCommands),
                         [](const ::testing::TestParamInfo<Command>& info) { return info.param.name; });

// Where values are copied into one another, the rest of them has to be taken down again.
TEST_F(FaultsTest, EveryAllocationForJsonMayFail) {
  const std::string show = "show model.esp --json";
  const long count = record_of(show).counts.at("allocate");
  ASSERT_GT(count, 50);
  for (long k = count * 3 / 4; k <= count; ++k) {
    const Outcome outcome = run_with(fmt::format("allocate:{}:1:{}", k, ENOMEM), show);
    EXPECT_EQ(outcome.status, 2) << k;
    EXPECT_EQ(outcome.out, "") << k;
    EXPECT_TRUE(outcome.err.starts_with("espalier: ") && lines(outcome.err).size() == 1) << k << outcome.err;
  }
}

// Files that only accompany a run do not cost the model.
TEST_F(FaultsTest, LogCheckpointAndStandardErrorDoNotCostTheModel) {
  const std::string train = "train tag tag.txt --passes 4 --report-every 1 --gap 0 -o out ";
  succeed(train + "--quiet");
  const std::string expected = bytes("out");
  const auto check = [&](const std::string& arguments, const std::string& fault, const std::string& line) {
    SCOPED_TRACE(arguments + fault);
    for (const char* name : {"out", "run.ckpt", "run.jsonl"}) fs::remove(folder_.path(name));
    const Outcome outcome = run_with(fault, train + arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(bytes("out") == expected);
    std::vector<std::string> said;
    for (const std::string& text : lines(outcome.err)) {
      if (text.starts_with("espalier: ")) said.push_back(text);
    }
    EXPECT_EQ(said, (line.empty() ? std::vector<std::string>{} : std::vector{"espalier: " + line}))
        << outcome.err;
  };
  // From the second write on: the first one is part of the check before the run.
  for (long k = 2; k <= 8; ++k) {
    check("--log run.jsonl ", fmt::format("stream:{}:1000:{}:run.jsonl", k, ENOSPC),
          "run.jsonl: cannot write: No space left on device; the log ends here; the run continues");
  }
  const std::string checkpoint = "--checkpoint run.ckpt --checkpoint-every 0 ";
  for (const auto& [kind, error, why] :
       {std::tuple{"rename", EACCES,
                   "cannot create: Permission denied; expected a folder that exists and can be written"}}) {
    check(checkpoint, fmt::format("{}:1:1000:{}:run.ckpt", kind, error),
          fmt::format("run.ckpt: {}; the run continues", why));
  }
  for (long k = 1; k <= 9; ++k) check("", fmt::format("stream:{}:1000:{}:stderr", k, ENOSPC), "");
}

}  // namespace
}  // namespace espalier::testing::faults_test
