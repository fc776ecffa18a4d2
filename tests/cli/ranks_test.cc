// The program as mpirun starts it, where the build has MPI and the machine mpirun.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/cli_test.h"

namespace espalier::testing::ranks_test {
namespace {

class CliRanksTest : public CliTest {
 protected:
  void SetUp() override {
    const Outcome version = run_shell("command -v mpirun && $E --version");
    if (version.status != 0) GTEST_SKIP() << "no mpirun here";
    if (mpirun(2, "--version").err.find("ESPALIER_MPI") != std::string::npos)
      GTEST_SKIP() << "built without MPI";
    succeed("generate tag -n 60 --seed 1 -o train.txt");
  }
  static std::string mpi(int ranks) {
    return "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
           "OMPI_MCA_btl_vader_single_copy_mechanism=none "
           "mpirun --oversubscribe -n " +
           std::to_string(ranks) + " $E ";
  }
  Outcome mpirun(int ranks, const std::string& arguments) const { return run_shell(mpi(ranks) + arguments); }
};

TEST_F(CliRanksTest, TwoTrainOneModel) {
  const Outcome two = mpirun(2, "train tag train.txt -o two.esp --log two.jsonl");
  ASSERT_EQ(two.status, 0) << two.err;
  // Rank 0 alone speaks.
  EXPECT_EQ(lines(two.err).front(), lines(run("train tag train.txt -o one.esp").err).front());
  EXPECT_TRUE(lines(two.err).back().ends_with("; saved two.esp")) << two.err;
  EXPECT_EQ(run_shell("$E predict one.esp train.txt | wc -l").out,
            run_shell("$E predict two.esp train.txt | wc -l").out);
  bool rounds = false;
  for (const std::string& line : lines(read("two.jsonl"))) {
    const Json event = Json::parse(line);
    if (event.at("event") == "start") {
      EXPECT_EQ(event.at("ranks"), 2);
    }
    if (event.at("event") == "progress") {
      EXPECT_TRUE(event.contains("bytes_sent") && event.contains("waiting_seconds"));
    }
    rounds = rounds || event.at("event") == "round";
  }
  EXPECT_TRUE(rounds);
}

TEST_F(CliRanksTest, ErrorsAreOneLineAndStatusTwo) {
  const Outcome missing = mpirun(2, "train tag nothing.txt -o model.esp 2>&1 | grep '^espalier: '");
  EXPECT_EQ(lines(missing.out).size(), 1u) << missing.out;
  EXPECT_TRUE(missing.out.starts_with("espalier: nothing.txt: ")) << missing.out;
  EXPECT_EQ(mpirun(2, "train tag nothing.txt -o model.esp").status, 2);
  EXPECT_EQ(
      mpirun(2, "train tag train.txt --loss svm --solver smo -o model.esp 2>&1 | grep '^espalier: '").out,
      "espalier: --solver smo: not on several ranks; expected one of auto, eg, eg-batch, bmrm\n");
  EXPECT_EQ(mpirun(2, "train tag train.txt --loss ramp -o model.esp 2>&1 | grep '^espalier: '").out,
            "espalier: --loss ramp: not on several ranks; expected a convex problem\n");
  EXPECT_EQ(files().count("model.esp"), 0u);
}

// Each rank reads its share, and what is wrong there is told as one process tells it.
TEST_F(CliRanksTest, SharesOfFiles) {
  succeed("generate tag -n 60 --seed 2 -o more.txt");
  const Outcome three = mpirun(3, "train tag train.txt more.txt -o three.esp");
  ASSERT_EQ(three.status, 0) << three.err;
  EXPECT_EQ(lines(three.err).front(), lines(run("train tag train.txt more.txt -o one.esp").err).front());
  run_shell("sed '$d' more.txt > broken.txt; echo 'one two three four five' >> broken.txt");
  const std::string train = "train tag train.txt broken.txt -o model.esp";
  EXPECT_EQ(lines(mpirun(3, train + " 2>&1 | grep '^espalier: '").out).front(), lines(run(train).err).back());
  EXPECT_EQ(files().count("model.esp"), 0u);
}

// Ranks share the work of predict and eval, and what comes out has the bytes of one process.
TEST_F(CliRanksTest, PredictAndEval) {
  succeed("train tag train.txt -o tag.esp --passes 2 --gap 1");
  succeed("generate tag -n 4000 --seed 3 -o many.txt");  // several blocks
  for (const char* command : {"predict tag.esp many.txt --marginals label", "eval tag.esp many.txt"}) {
    const Outcome three = mpirun(3, command);
    ASSERT_EQ(three.status, 0) << three.err;
    EXPECT_EQ(three.out, run(command).out);
  }
  EXPECT_EQ(mpirun(2, "predict tag.esp many.txt -o two.txt").status, 0);
  EXPECT_EQ(read("two.txt"), run("predict tag.esp many.txt").out);
  // Rank 0 alone has standard input.
  EXPECT_EQ(run_shell(mpi(2) + "predict tag.esp < many.txt").out, read("two.txt"));
  // What is wrong in the middle is told as one process tells it, and nothing is written.
  run_shell("sed -i '30000s/$/ and/' many.txt; rm two.txt");
  const std::string wrong = "predict tag.esp many.txt -o two.txt";
  EXPECT_EQ(lines(mpirun(3, wrong + " 2>&1 | grep '^espalier: '").out).back(), lines(run(wrong).err).back());
  EXPECT_EQ(files().count("two.txt"), 0u);
}

// A rank that is killed ends the run, in one line of rank 0's where that is still there to say it, and
// another number of ranks goes on from the checkpoint. (bench/scaling/kill_ranks.py does it at random
// moments.)
TEST_F(CliRanksTest, AKilledRankEndsTheRun) {
  const std::string train =
      "train tag train.txt --l2 1e-4 --gap 1e-7 --report-every 0.5 -o model.esp --checkpoint run.ckpt ";
  struct Kill {
    int ranks, victim, resuming;
  };
  for (const Kill& kill : {Kill{3, 2, 2}, Kill{2, 1, 1}, Kill{2, 0, 3}}) {
    SCOPED_TRACE(kill.victim);
    // As soon as there is a checkpoint.
    const Outcome killed =
        run_shell(mpi(kill.ranks) + train +
                  "--checkpoint-every 0 2>err.txt & launcher=$!; "
                  "while ! [ -e run.ckpt ]; do kill -0 $launcher || exit 9; sleep 0.1; done; "
                  "kill -9 $(pgrep -P $launcher | sed -n " +
                  std::to_string(kill.victim + 1) + "p); wait $launcher; grep '^espalier: ' err.txt");
    const std::string expected =
        kill.victim == 0 ? ""
                         : "espalier: rank " + std::to_string(kill.victim) + " has ended; so does this run\n";
    EXPECT_EQ(killed.out, expected) << killed.err << read("err.txt");
    EXPECT_EQ(files().count("model.esp"), 0u);
    const std::string again = train + "--resume --passes 60";
    const Outcome resumed = kill.resuming == 1 ? run(again) : mpirun(kill.resuming, again);
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("resumed run.ckpt"), std::string::npos) << resumed.err;
    EXPECT_EQ(files().count("model.esp"), 1u);
    run_shell("rm -f model.esp run.ckpt*");
  }
}

// Where nobody can reach the others, they do not all write the same model.
using CliLoneRankTest = CliTest;

TEST_F(CliLoneRankTest, IsRefused) {
  const Outcome outcome = run_shell("SLURM_STEP_NUM_TASKS=4 $E show nothing.esp");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.err.starts_with("espalier: started as one of 4 ranks")) << outcome.err;
}

}  // namespace
}  // namespace espalier::testing::ranks_test
