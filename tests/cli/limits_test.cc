// More than a machine or a user has: threads, time, memory. Each is answered at once, with a line that says
// what to do.

#include <gtest/gtest.h>

#include <string>

#include "cli/cli_test.h"

namespace espalier::testing::cli_limits_test {
namespace {

class CliLimitsTest : public CliTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "sanitizers take memory and time of their own";
#endif
  }
  // What a script that is to fail says: one line.
  std::string refused(const std::string& script) const {
    const auto before = files();
    const Outcome outcome = run_shell(script);
    EXPECT_EQ(outcome.status, 2) << script;
    EXPECT_EQ(outcome.out, "") << script;
    EXPECT_EQ(lines(outcome.err).size(), 1u) << outcome.err;
    EXPECT_EQ(files(), before) << script;
    return outcome.err;
  }
  static std::string no_threads(const std::string& count) {
    return "espalier: --threads: cannot start " + count +
           " threads: Resource temporarily unavailable; expected fewer, or a higher limit (ulimit -u)\n";
  }
};

// Their stacks need more addresses than there are, whatever else the machine would allow. Which of the two is
// told depends on what asks for the last ones.
TEST_F(CliLimitsTest, AHundredThousandThreads) {
  succeed("generate tag -n 20 -o train.txt");
  succeed("train tag train.txt --gap 0.05 --quiet -o model.esp");
  for (const std::string command :
       {"train tag train.txt --quiet -o out", "predict model.esp train.txt -o out"}) {
    const std::string said = refused("ulimit -v 800000; $E " + command + " --threads 100000");
    EXPECT_TRUE(said == no_threads("100000") || said ==
                                                    "espalier: train.txt: out of memory; expected a larger "
                                                    "machine, less data or fewer labels\n")
        << said;
  }
}

TEST_F(CliLimitsTest, NoRightToStartThreads) {
  // Limits of processes are not for root.
  const std::string somebody =
      "as() { if [ $(id -u) = 0 ]; then setpriv --reuid=64321 --clear-groups prlimit --nproc=1 \"$@\"; "
      "else prlimit --nproc=1 \"$@\"; fi; }; chmod 755 .; ";
  if (run_shell(somebody + "as $E --version").status != 0) GTEST_SKIP() << "needs setpriv and prlimit";
  succeed("generate tag -n 20 -o train.txt");
  succeed("train tag train.txt --gap 0.05 --quiet -o model.esp");
  EXPECT_EQ(refused(somebody + "as $E train tag train.txt --threads 4 --quiet -o /dev/null"),
            no_threads("4"));
  EXPECT_EQ(refused(somebody + "as $E predict model.esp train.txt --threads 4 -o /dev/null"),
            no_threads("4"));
  // One thread needs no other.
  EXPECT_EQ(run_shell(somebody + "as $E predict model.esp train.txt --threads 1").out,
            succeed("predict model.esp train.txt --threads 1"));
}

// A pass over so many labels takes seconds. (tests/cli/interrupt_test.cc has the signals in it.)
TEST_F(CliLimitsTest, TimeIsOverInTheFirstPass) {
  succeed("generate supertag -n 100 -o train.txt");
  for (const std::string options : {"", " --features observed"}) {
    const Outcome outcome = run("train tag train.txt --seconds 0.01 -o model.esp" + options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(lines(outcome.err).back().starts_with("out of time (--seconds): relative gap "))
        << outcome.err;
    EXPECT_LT(json("show model.esp --json").at("certificate").at("passes").get<double>(), 1) << options;
  }
}

TEST_F(CliLimitsTest, ACliqueWithMoreLabellingsThanAnybodyCanCount) {
  std::string allowed;
  for (int k = 0; k < 40; ++k) allowed += (k > 0 ? ",\"l" : "\"l") + std::to_string(k) + '"';
  std::string nodes, labels;
  for (int k = 0; k < 6; ++k) {
    nodes += (k > 0 ? ",{\"allowed\":[" : "{\"allowed\":[") + allowed + "]}";
    labels += k > 0 ? ",\"l0\"" : "\"l0\"";
  }
  write("train.jsonl",
        "{\"nodes\":[" + nodes + "],\"cliques\":[{\"nodes\":[0,1,2,3,4,5]}],\"labels\":[" + labels + "]}\n");
  EXPECT_EQ(refused("$E train graph train.jsonl -o model.esp"),
            "espalier: train.jsonl: cliques of the type 'clique' with more than 2^24 joint labellings; "
            "expected smaller "
            "ones, or fewer labels\n");
}

// Nothing is made for what is only announced.
TEST_F(CliLimitsTest, CountsWithoutWhatTheyCount) {
  write("variables.uai", "MARKOV 2147483647\n2 2\n");
  write("tables.uai", "MARKOV 1 2\n2147483647\n0\n");
  for (const std::string name : {"variables", "tables"}) {
    const std::string said = refused("ulimit -v 200000; $E infer " + name + ".uai --task MAR -o out");
    EXPECT_TRUE(said.starts_with("espalier: " + name + ".uai:")) << said;
    EXPECT_NE(said.find(": the file ends; expected "), std::string::npos) << said;
  }
}

// 30 MB in a few kB: nobody has to remember them.
TEST_F(CliLimitsTest, NewlinesInASmallPackedFile) {
  const Outcome outcome = run_shell(
      "(printf 'a x\\nb y\\n'; head -c 30000000 /dev/zero | tr '\\0' '\\n'; printf 'b x\\n') | gzip -1 > "
      "train.gz && "
      "ulimit -v 160000 && $E train tag train.gz --passes 2 --quiet --threads 1 -o model.esp && "
      "$E predict model.esp train.gz --threads 1 2>/dev/null | wc -c");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  // All of them, the three tokens with their labels, and the end of the last sequence.
  EXPECT_EQ(words(outcome.out), std::vector<std::string>{std::to_string(30000000 + 19)});
}

}  // namespace
}  // namespace espalier::testing::cli_limits_test
