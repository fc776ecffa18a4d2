// Several seeds, of which the best dual wins; and how EG anneals.

#include <signal.h>

#include <algorithm>
#include <limits>
#include <map>

#include "cli/cli_test.h"

namespace espalier::testing::repeat_test {
namespace {

class CliRepeatTest : public CliTest {
 protected:
  void SetUp() override { generate("train.txt", 150, 1); }
  static constexpr const char* kTrain = "train classify train.txt --format crfsuite -o model.esp ";
  std::string error(const std::string& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(files().count("model.esp"), 0u);
    const std::vector<std::string> all = lines(outcome.err);
    return all.empty() ? "" : all.back();
  }
};

TEST_F(CliRepeatTest, TheBestDualWins) {
  const std::string command = std::string(kTrain) + "--l2 0.1 --passes 4 ";
  const Outcome outcome = run(command + "--seed 7 --repeat 4 --log run.jsonl");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");

  // The log has every run.
  std::map<int, double> duals;
  Json start, end;
  for (const std::string& line : lines(read("run.jsonl"))) {
    const Json event = Json::parse(line);
    if (event.at("event") == "start") start = event;
    if (event.at("event") == "end") end = event;
    if (event.at("event") == "progress") duals[event.at("seed").get<int>()] = event.at("dual").get<double>();
  }
  ASSERT_EQ(duals.size(), 4u);
  const auto best = std::max_element(duals.begin(), duals.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_EQ(duals.begin()->first, 7);
  EXPECT_EQ(start.at("repeat"), 4);
  EXPECT_EQ(end.at("seed"), best->first);
  EXPECT_EQ(end.at("runs"), 4);
  EXPECT_EQ(end.at("confidence"), 0.9375);
  EXPECT_EQ(end.at("status"), "out of passes");

  const std::vector<std::string> shown = lines(outcome.err);
  for (const auto& [seed, dual] : duals) {
    const std::string line = "seed " + std::to_string(seed) + ": dual ";
    EXPECT_EQ(std::count_if(shown.begin(), shown.end(), [&](const auto& l) { return l.starts_with(line); }),
              1);
  }
  EXPECT_TRUE(shown.back().starts_with("best of 4 seeds: " + std::to_string(best->first) + ", "))
      << shown.back();
  EXPECT_TRUE(
      shown.back().ends_with("; with probability 1 - 2^-4 or more its dual is at most twice as far from the "
                             "optimum as on average; saved "
                             "model.esp"))
      << shown.back();

  // The model is the one that its seed alone gives.
  const std::string repeated = read("model.esp");
  EXPECT_EQ(json("show model.esp --json").at("certificate").at("dual").get<double>(), best->second);
  succeed(command + "--seed " + std::to_string(best->first));
  EXPECT_TRUE(read("model.esp") == repeated);
}

TEST_F(CliRepeatTest, EveryRunStartsFromTheModel) {
  succeed("train classify train.txt --format crfsuite -o old.esp --quiet --l2 2");
  succeed(std::string(kTrain) + "--init old.esp --l2 1.9 --repeat 3 --log run.jsonl --quiet");
  for (const std::string& line : lines(read("run.jsonl"))) {
    const Json event = Json::parse(line);
    if (event.at("event") == "progress") {
      EXPECT_LT(event.at("pass").get<double>(), 8) << line;
    }
  }
}

TEST_F(CliRepeatTest, AnInterruptKeepsTheBestSoFar) {
  RunningProgram program(
      command(std::string(kTrain) + "--gap 0 --l2 1e-4 --passes 1e9 --report-every 1 --repeat 3"), here());
  ASSERT_TRUE(program.wait_for_error_lines(3));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 130);
  const std::string last = lines(outcome.err).back();
  // The first run never ends, and nothing is said of a probability.
  EXPECT_TRUE(last.starts_with("seed 1, stopped")) << last;
  EXPECT_TRUE(last.ends_with("passes; saved model.esp")) << last;
  EXPECT_GT(json("show model.esp --json").at("certificate").at("passes").get<double>(), 0);
}

TEST_F(CliRepeatTest, OneRunIsAnOrdinaryOne) {
  succeed(std::string(kTrain) + "--passes 5 --log run.jsonl --repeat 1");
  const std::string once = read("model.esp");
  EXPECT_FALSE(Json::parse(lines(read("run.jsonl")).front()).contains("repeat"));
  EXPECT_FALSE(Json::parse(lines(read("run.jsonl")).back()).contains("confidence"));
  succeed(std::string(kTrain) + "--passes 5");
  EXPECT_TRUE(read("model.esp") == once);
}

TEST_F(CliRepeatTest, NotWithWhatKeepsOneRun) {
  EXPECT_EQ(error(std::string(kTrain) + "--repeat 2 --checkpoint run.ckpt"),
            "espalier: --repeat: not with --checkpoint; expected one of the two");
  EXPECT_EQ(error(std::string(kTrain) + "--repeat 2 --l2 auto --dev train.txt"),
            "espalier: --repeat: not with --l2 auto, which trains several models itself; expected --l2 X");
  EXPECT_EQ(error("train tag train.txt -o model.esp --repeat 2 --partial"),
            "espalier: --repeat: not with --partial; expected one of the two");
  EXPECT_EQ(
      error(std::string(kTrain) + "--repeat 2 --solver lbfgs"),
      "espalier: --repeat: no effect; expected a solver that draws random numbers, such as --solver eg, or "
      "no --repeat");
  EXPECT_EQ(
      error(std::string(kTrain) + "--repeat 0"),
      "espalier: --repeat: found '0'; expected a whole number >= 1; see 'espalier train classify --help'");
  EXPECT_EQ(error("path classify train.txt --dev train.txt --repeat 2"),
            "espalier: unknown option '--repeat'; did you mean --report?");
  EXPECT_EQ(error("cross-validate classify train.txt --repeat 2"),
            "espalier: unknown option '--repeat'; did you mean --report?");
}

using CliAnnealTest = CliRepeatTest;

TEST_F(CliAnnealTest, EveryWayMeetsTheGap) {
  for (const std::string step : {"auto", "paper"}) {
    double least_primal = std::numeric_limits<double>::infinity(), most_dual = 0;
    for (const std::string anneal : {"auto", "no", "paper"}) {
      succeed(std::string(kTrain) + "--gap 1e-3 --quiet --log run.jsonl --step " + step + " --anneal " +
              anneal);
      const Json certificate = json("show model.esp --json").at("certificate");
      EXPECT_LE(certificate.at("relative_gap").get<double>(), 1e-3) << step << ' ' << anneal;
      least_primal = std::min(least_primal, certificate.at("primal").get<double>());
      most_dual = std::max(most_dual, certificate.at("dual").get<double>());
      const Json start = Json::parse(lines(read("run.jsonl")).front());
      EXPECT_EQ(start.value("anneal", std::string("auto")), anneal);
    }
    EXPECT_LE(most_dual, least_primal) << step;
  }
}

TEST_F(CliAnnealTest, FixedStepsAndStartsAreInTheLog) {
  succeed(std::string(kTrain) + "--passes 5 --quiet --log run.jsonl --eta 0.5 --log-odds 4");
  const Json start = Json::parse(lines(read("run.jsonl")).front());
  EXPECT_EQ(start.at("eta"), 0.5);
  EXPECT_EQ(start.at("log_odds"), 4);
}

TEST_F(CliAnnealTest, NamesAreChecked) {
  EXPECT_EQ(error(std::string(kTrain) + "--eta 0"),
            "espalier: --eta: found '0'; expected a number > 0; see 'espalier train classify --help'");
  EXPECT_EQ(
      error(std::string(kTrain) + "--anneal yes"),
      "espalier: --anneal: found 'yes'; expected auto, no or paper; see 'espalier train classify --help'");
}

}  // namespace
}  // namespace espalier::testing::repeat_test
