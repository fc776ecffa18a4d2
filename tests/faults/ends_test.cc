// Runs that somebody or something ends: killed at any moment, told to end at any moment, out of memory, of
// file numbers or of disk. ESPALIER_KILLS=300 makes so many instead of a few.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "cli/cli_test.h"

namespace espalier::testing::ends_test {
namespace {

namespace fs = std::filesystem;

int kills() {
  const char* number = std::getenv("ESPALIER_KILLS");
  return number != nullptr ? std::atoi(number) : 6;
}

class EndsTest : public CliTest {
 protected:
  // Ends a command at a random moment of the time that it takes.
  class RandomMoments {
   public:
    template <class Run>
    explicit RandomMoments(const Run& run) {
      const auto begin = Clock::now();
      run();
      moment_ = std::uniform_real_distribution<double>(
          0, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    void wait() { std::this_thread::sleep_for(std::chrono::duration<double>(moment_(random_))); }

   private:
    using Clock = std::chrono::steady_clock;
    std::mt19937 random_{1};
    std::uniform_real_distribution<double> moment_;
  };

  // Without what kill -9 leaves no chance to remove.
  std::set<std::string> named_files() const {
    std::set<std::string> names = files();
    std::erase_if(names, [](const std::string& name) { return name.find(".tmp") != name.npos; });
    return names;
  }
};

TEST_F(EndsTest, KilledRunsGoOnToTheSameOptimum) {
  succeed("generate tag -n 60 --seed 1 -o train.txt");
  const std::string options = "train tag train.txt --solver eg --l2 0.1 --gap 1e-4 --report-every 1 --quiet ";
  const std::string checkpointed =
      options + "-o model.esp --checkpoint run.ckpt --checkpoint-every 0 --log run.jsonl ";
  RandomMoments moments([&] { succeed(options + "-o whole.esp"); });
  const Json whole = json("show whole.esp --json").at("certificate");
  int resumed = 0;
  for (int left = kills(); left > 0;) {
    // One run, killed again and again until it ends by itself.
    for (const std::string name : {"model.esp", "run.ckpt"}) fs::remove(folder_.path(name));
    for (bool ended = false; !ended; --left) {
      const bool go_on = fs::exists(folder_.path("run.ckpt"));
      resumed += go_on;
      RunningProgram program(command(checkpointed + (go_on ? "--resume" : "")), here());
      if (left > 0) moments.wait();
      if (left > 0) program.send(SIGKILL);
      const Outcome outcome = program.wait();
      ended = outcome.status == 0;
      ASSERT_TRUE(ended || outcome.status == 128 + SIGKILL) << outcome.status << ' ' << outcome.err;
    }
    // The log may have lost its last line, and no other.
    const Json model = json("show model.esp --json").at("certificate");
    EXPECT_LE(model.at("relative_gap").get<double>(), 1e-4);
    EXPECT_LE(model.at("dual").get<double>(), whole.at("primal").get<double>());
    EXPECT_LE(whole.at("dual").get<double>(), model.at("primal").get<double>());
    EXPECT_EQ(named_files(), (std::set<std::string>{"model.esp", "run.jsonl", "train.txt", "whole.esp"}));
  }
  if (kills() > 6) std::printf("%d kills, %d runs resumed\n", kills(), resumed);
}

// Whole or not at all, and nothing beside it.
TEST_F(EndsTest, TerminatedCommandsLeaveNoTemporaryFile) {
  succeed("generate tag -n 2000 --seed 1 -o train.txt");
  succeed("train tag train.txt --passes 1 --quiet -o model.esp");
  for (const std::string arguments :
       {"generate tag -n 20000 -o out", "predict model.esp train.txt -o out",
        "convert model.esp --bits 16 -o out", "train tag train.txt --passes 2 --quiet -o out"}) {
    RandomMoments moments([&] { succeed(arguments); });
    const std::string whole = read("out");
    fs::remove(folder_.path("out"));
    for (int k = 0; k < std::max(2, kills() / 3); ++k) {
      RunningProgram program(command(arguments), here());
      moments.wait();
      program.send(k % 2 == 0 ? SIGTERM : SIGINT);
      const Outcome outcome = program.wait();
      // In training what there is may be saved; before main() there is no handler.
      EXPECT_TRUE(outcome.status == 0 || outcome.status == 130 || outcome.status == 128 + SIGTERM ||
                  outcome.status == 128 + SIGINT)
          << outcome.status;
      std::set<std::string> expected{"model.esp", "train.txt"};
      if (fs::exists(folder_.path("out"))) {
        expected.insert("out");
        EXPECT_TRUE(arguments.starts_with("train") || read("out") == whole) << arguments;
        fs::remove(folder_.path("out"));
      }
      std::set<std::string> there = files();
      if (expected.contains("out")) there.insert("out");
      EXPECT_EQ(there, expected) << arguments;
    }
  }
}

using LimitsTest = EndsTest;

TEST_F(LimitsTest, AFileThatGrowsTooLargeIsAnError) {
  succeed("generate tag -n 300 --seed 1 -o train.txt");
  succeed("train tag train.txt --gap 0.05 --quiet -o model.esp");
  write("out", "what was there before");
  const auto before = files();
  for (const std::string arguments : {"generate tag -n 5000 -o out", "predict model.esp train.txt -o out",
                                      "train tag train.txt --passes 2 --quiet -o out"}) {
    const Outcome outcome = run_shell("ulimit -f 4; $E " + arguments);  // blocks of 512 bytes
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err,
              "espalier: out: cannot write: File too large; free some space or write elsewhere\n");
    EXPECT_EQ(read("out"), "what was there before");
    EXPECT_EQ(files(), before);
  }
}

// Either it is enough, or there is one line.
TEST_F(LimitsTest, TooLittleMemoryOrTooFewFiles) {
  succeed("generate tag -n 100 --seed 1 -o train.txt");
  const std::string train = "$E train tag train.txt --passes 2 --quiet -o out";
  ASSERT_EQ(run_shell(train).status, 0);
  const std::string expected = read("out");
  const auto check = [&](const std::string& limit) {
    fs::remove(folder_.path("out"));
    const Outcome outcome = run_shell("ulimit " + limit + " && exec " + train);
    // Where the loader has too little for the libraries it says so itself.
    if (outcome.status == 127) return;
    SCOPED_TRACE(limit + ": " + outcome.err);
    ASSERT_TRUE(outcome.status == 0 || outcome.status == 2) << outcome.status;
    if (outcome.status == 0) {
      EXPECT_TRUE(read("out") == expected);
      return;
    }
    EXPECT_EQ(lines(outcome.err).size(), 1u);
    EXPECT_TRUE(outcome.err.starts_with("espalier: ")) << outcome.err;
    EXPECT_EQ(outcome.err.find("unexpected"), std::string::npos);
    EXPECT_EQ(files(), (std::set<std::string>{"train.txt"}));
  };
  for (int files = 3; files <= 5; ++files) check("-n " + std::to_string(files));
  for (int megabytes = 40; megabytes <= 100; megabytes += 6) check("-v " + std::to_string(1024 * megabytes));
}

// Numbers are written and read with points, whatever the user's language does.
TEST_F(LimitsTest, TheLanguageOfTheUserChangesNoNumber) {
  succeed("generate tag -n 30 --seed 1 -o train.txt");
  succeed("train tag train.txt --passes 2 --quiet --l2 0.5 -o expected");
  for (const std::string language : {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8"}) {
    EXPECT_EQ(
        run_shell("LC_ALL=" + language + " $E train tag train.txt --passes 2 --quiet --l2 0.5 -o out").status,
        0);
    EXPECT_TRUE(read("out") == read("expected")) << language;
  }
}

// The last one wins, and its file is whole.
TEST_F(LimitsTest, TwoWritersOfOneFile) {
  const std::string one = succeed("generate tag -n 3000 --seed 1"),
                    two = succeed("generate tag -n 3000 --seed 2");
  for (int k = 0; k < 3; ++k) {
    RunningProgram first(command("generate tag -n 3000 --seed 1 -o out"), here());
    RunningProgram second(command("generate tag -n 3000 --seed 2 -o out"), here());
    EXPECT_EQ(first.wait().status, 0);
    EXPECT_EQ(second.wait().status, 0);
    const std::string left = read("out");
    EXPECT_TRUE(left == one || left == two);
    EXPECT_EQ(files(), (std::set<std::string>{"out"}));
  }
}

}  // namespace
}  // namespace espalier::testing::ends_test
