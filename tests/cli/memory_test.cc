// --memory: what takes more is refused in a line, before the work and on its way.

#include <gtest/gtest.h>

#include <string>

#include "cli/cli_test.h"

namespace espalier::testing::cli_memory_test {
namespace {

class CliMemoryTest : public CliTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  }
  // A line on standard error, status 2, and no file.
  std::string refused(const std::string& arguments) {
    const auto before = files();
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.err;
    EXPECT_EQ(files(), before);
    const auto all = lines(outcome.err);
    EXPECT_FALSE(all.empty());
    return all.empty() ? "" : all.back();
  }
};

TEST_F(CliMemoryTest, TrainingThatWouldTakeMoreIsRefusedBeforeItBegins) {
  succeed("generate parse -n 3 --seed 1 -o train.conllu");
  const std::string line = refused("train parse train.conllu --hash-bits 22 --memory 150M -o model.esp");
  EXPECT_TRUE(line.starts_with("espalier: --memory: training takes about ")) << line;
  EXPECT_NE(line.find("; expected at most 150 MiB, for example by --hash-bits 20"), std::string::npos)
      << line;
  for (const char* command : {"path parse train.conllu --dev train.conllu --hash-bits 22 --memory 150M",
                              "race parse train.conllu --solvers eg,lbfgs --hash-bits 22 --memory 150M",
                              "cross-validate parse train.conllu --folds 2 --hash-bits 22 --memory 150M"}) {
    EXPECT_TRUE(refused(command).starts_with("espalier: --memory: training takes about ")) << command;
  }
}

TEST_F(CliMemoryTest, SoIsDataThatTakeMore) {
  succeed("generate tag -n 3 --seed 1 -o train.txt");
  succeed("generate graph -n 3 --seed 1 -o train.jsonl");
  for (const std::string arguments : {"train tag train.txt", "train graph train.jsonl"}) {
    const std::string line = refused(arguments + " --memory 1M -o model.esp");
    EXPECT_NE(line.find(" are in use, more than the 1 MiB of --memory; expected fewer examples"),
              std::string::npos)
        << line;
  }
}

TEST_F(CliMemoryTest, PredictionHasALimitToo) {
  succeed("generate tag -n 3 --seed 1 -o train.txt");
  succeed("train tag train.txt --quiet -o model.esp");
  EXPECT_NE(
      refused("predict model.esp train.txt --memory 1M -o out").find("model.esp: a model that takes about "),
      std::string::npos);
  EXPECT_NE(refused("eval model.esp train.txt --memory 1M").find("; expected at most 1 MiB (--memory)"),
            std::string::npos);
  EXPECT_EQ(succeed("predict model.esp train.txt --memory 1G"), succeed("predict model.esp train.txt"));
  EXPECT_EQ(
      refused("predict model.esp train.txt --memory x"),
      "espalier: --memory: found 'x'; expected a number of bytes > 0, such as 500M or 1.5G; see 'espalier "
      "predict --help'");
}

}  // namespace
}  // namespace espalier::testing::cli_memory_test
