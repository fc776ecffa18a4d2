#include <signal.h>

#include <algorithm>

#include "cli/cli_test.h"

namespace espalier::testing::race_test {
namespace {

class CliRaceTest : public CliTest {
 protected:
  void SetUp() override { generate_all(); }
  static constexpr const char* kRace = "race classify train.txt --format crfsuite ";

  std::vector<Json> log() const {
    std::vector<Json> events;
    for (const std::string& line : lines(read("race.jsonl"))) events.push_back(Json::parse(line));
    return events;
  }
};

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

// Whether every element is closed by its own name, in order, and nothing but escapes follows an ampersand.
::testing::AssertionResult well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find_first_of("<&"); at != std::string::npos;
       at = xml.find_first_of("<&", at + 1)) {
    if (xml[at] == '&') {
      const std::string name = xml.substr(at, xml.find(';', at) + 1 - at);
      if (name != "&amp;" && name != "&lt;" && name != "&gt;") return ::testing::AssertionFailure() << name;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return ::testing::AssertionFailure() << "no end at " << at;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos || count(tag, "\"") % 2 != 0) {
      return ::testing::AssertionFailure() << tag;
    }
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return ::testing::AssertionFailure() << tag;
      open.pop_back();
      if (open.empty() && xml.substr(end + 1) != "\n")
        return ::testing::AssertionFailure() << "more than one root";
    } else if (!tag.ends_with('/')) {
      open.push_back(words(tag).front());
    }
  }
  return open.empty() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << open.back();
}

TEST_F(CliRaceTest, PrintsATableLogsAndDraws) {
  const Outcome outcome =
      run(std::string(kRace) +
          "--dev dev.txt --solvers eg,lbfgs,perceptron --passes 200 --log race.jsonl --picture race.svg");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<std::string> table = lines(outcome.out);
  ASSERT_GE(table.size(), 8u) << outcome.out;
  EXPECT_EQ(words(table[0]),
            (std::vector<std::string>{"solver", "to", "gap", "1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "end",
                                      "certified", "error", "%", "near", "best"}));
  const std::vector<Json> events = log();
  const Json& race = events.back();
  EXPECT_EQ(race.at("event"), "race");
  EXPECT_EQ(race.at("status"), "done");
  EXPECT_EQ(race.at("metric"), "error %");
  const double lower = race.at("optimum").at("lower").get<double>(),
               upper = race.at("optimum").at("upper").get<double>();
  EXPECT_LE(lower, upper);
  EXPECT_EQ(race.at("optimum").at("relative_width").get<double>(), (upper - lower) / upper);
  EXPECT_TRUE(table[7].starts_with("optimum between ")) << table[7];

  // Every run's numbers again from its reports.
  const std::vector<std::string> solvers{"eg", "lbfgs", "perceptron"};
  ASSERT_EQ(race.at("runs").size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    SCOPED_TRACE(solvers[k]);
    const Json& entry = race.at("runs")[k];
    EXPECT_EQ(entry.at("solver"), solvers[k]);
    std::vector<Json> reports;
    for (const Json& event : events) {
      if (event.at("event") == "progress" && event.at("solver") == solvers[k]) reports.push_back(event);
    }
    ASSERT_FALSE(reports.empty());
    for (const Json& report : reports) {
      EXPECT_GE(report.at("primal").get<double>(), upper);
      EXPECT_LE(report.at("dual").get<double>(), lower);
    }
    EXPECT_EQ(entry.at("passes"), reports.back().at("pass"));
    EXPECT_EQ(entry.at("primal"), reports.back().at("primal"));
    EXPECT_EQ(entry.at("relative_gap"), reports.back().at("relative_gap"));
    EXPECT_NEAR(entry.at("dev").at("value").get<double>(),
                100 * reports.back().at("dev").at("error").get<double>(), 1e-9);
    double best = 100;
    for (const Json& report : reports)
      best = std::min(best, 100 * report.at("dev").at("error").get<double>());
    const auto near = std::ranges::find_if(reports, [best](const Json& report) {
      return 100 * report.at("dev").at("error").get<double>() <= best + 0.1 + 1e-6;
    });
    EXPECT_EQ(entry.at("dev").at("near_best").at("passes"), near->at("pass"));

    const std::vector<std::string> passes = words(table[1 + 2 * k]), seconds = words(table[2 + 2 * k]);
    ASSERT_EQ(passes.size(), 11u) << table[1 + 2 * k];
    ASSERT_EQ(seconds.size(), 8u) << table[2 + 2 * k];
    EXPECT_EQ(passes[0], solvers[k]);
    EXPECT_EQ(passes[1], "passes");
    EXPECT_EQ(seconds[0], "seconds");
    ASSERT_EQ(entry.at("targets").size(), 5u);
    for (std::size_t g = 0; g < 5; ++g) {
      const Json& target = entry.at("targets")[g];
      const auto gap = target.at("gap").get<double>();
      const auto first = std::ranges::find_if(reports, [&](const Json& report) {
        const auto primal = report.at("primal").get<double>();
        return (primal - lower) / primal <= gap;
      });
      const std::string reached = target.at("reached").get<std::string>(), cell = passes[2 + g];
      if (first == reports.end()) {
        EXPECT_TRUE(reached == "no" || reached == "perhaps") << reached;
        EXPECT_EQ(cell, reached == "no" ? "-" : "?");
        EXPECT_EQ(seconds[1 + g], cell);
        EXPECT_FALSE(target.contains("passes"));
      } else {
        EXPECT_TRUE(reached == "yes" || reached == "at most") << reached;
        EXPECT_EQ(cell.starts_with('<'), reached == "at most");
        EXPECT_EQ(target.at("passes"), first->at("pass"));
        EXPECT_EQ(target.at("seconds"), first->at("seconds"));
        EXPECT_NEAR(std::stod(cell.substr(cell.starts_with('<') ? 1 : 0)), first->at("pass").get<double>(),
                    0.051);
      }
    }
    EXPECT_NEAR(std::stod(passes[7]), reports.back().at("pass").get<double>(), 0.051);
  }
  EXPECT_EQ(race.at("runs")[0].at("status"), "converged");
  EXPECT_EQ(race.at("runs")[2].at("status"), "out of passes");
  EXPECT_EQ(race.at("runs")[2].at("targets")[4].at("reached"), "no");

  const Json& start = events.front();
  EXPECT_EQ(start.at("event"), "start");
  EXPECT_EQ(start.at("solvers"), Json(solvers));
  EXPECT_EQ(start.at("budget"), 60);
  EXPECT_EQ(start.at("gap"), 1e-5);
  EXPECT_EQ(start.at("l2"), 1);
  EXPECT_FALSE(start.contains("solver"));

  const std::string picture = read("race.svg");
  EXPECT_TRUE(well_formed(picture));
  EXPECT_EQ(count(picture, "<polyline "), 6u) << "two panels";
  for (const std::string& solver : solvers) EXPECT_EQ(count(picture, ">" + solver + "</text>"), 2u) << solver;
  EXPECT_EQ(count(picture, ">espalier classify, train.txt: loss crf, l2 1</text>"), 1u);
  EXPECT_EQ(files().size(), 5u) << "no model";

  // Standard error has the reports of each, behind its name.
  const std::vector<std::string> told = lines(outcome.err);
  EXPECT_TRUE(told[0].starts_with("read train.txt: 300 examples")) << told[0];
  for (const std::string& solver : solvers) {
    EXPECT_EQ(std::ranges::count(told, solver + ":"), 1) << solver;
  }
  EXPECT_EQ(told.back(), "drew race.svg");
}

TEST_F(CliRaceTest, WithoutHeldOutDataThereIsNothingOfIt) {
  const Outcome outcome =
      run(std::string(kRace) + "--solvers eg,sdca --loss 2,0.5 --l2 3 --quiet --log race.jsonl");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> table = lines(outcome.out);
  EXPECT_EQ(words(table[0]).back(), "certified");
  EXPECT_EQ(words(table[1]).size(), 9u);
  const Json race = log().back();
  EXPECT_FALSE(race.contains("metric"));
  EXPECT_FALSE(race.at("runs")[0].contains("dev"));
  EXPECT_EQ(log()[1].at("l2"), 3);
}

// Online solvers alone leave a wide interval, in which the small gaps cannot be told.
TEST_F(CliRaceTest, SaysWhereTheOptimumIsNotKnownWellEnough) {
  const std::string out = succeed(std::string(kRace) + "--solvers sgd,dca --passes 3 --quiet");
  const std::vector<std::string> table = lines(out);
  // The better one may be at the optimum itself, for all that is known; the other one is not.
  EXPECT_EQ(words(table[1])[6], "-") << out;
  EXPECT_EQ(words(table[3])[6], "?") << out;
  EXPECT_EQ(words(table[4])[5], "?") << out;
  EXPECT_EQ(table.back(), "?: perhaps; the optimum is not known well enough to tell");
}

TEST_F(CliRaceTest, ASolverThatIsNotForTheStructureSaysSo) {
  succeed("generate parse -n 40 --seed 1 -o trees.conllu");
  const std::string options =
      "race parse trees.conllu --unlabelled --structure nonprojective --quiet --l2 10 ";
  const std::string out =
      succeed(options + "--solvers sdca,eg --gap 1e-3 --log race.jsonl --picture race.svg");
  const std::vector<std::string> table = lines(out);
  EXPECT_TRUE(table[1].starts_with("sdca          sdca: this structure has no clique marginals")) << table[1];
  EXPECT_TRUE(table[2].starts_with("eg            passes ")) << table[2];
  const Json race = log().back();
  EXPECT_EQ(race.at("runs")[0].at("status"), "not run");
  EXPECT_EQ(race.at("runs")[0].at("message").get<std::string>(), table[1].substr(14));
  EXPECT_EQ(race.at("runs")[1].at("status"), "converged");
  EXPECT_EQ(count(read("race.svg"), "<polyline "), 2u);

  const Outcome alone = run(options + "--solvers sdca --picture alone.svg");
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.err, "espalier: " + table[1].substr(14) + "\n");
  EXPECT_EQ(files().count("alone.svg"), 0u);
}

TEST_F(CliRaceTest, NamesOfFilesAreEscapedInThePicture) {
  const std::string name = "a<b>&\"c\xff\xc3\xa9.txt";
  std::filesystem::copy_file(folder_.path("train.txt"), folder_.path(name));
  succeed("race classify " + name + " --format crfsuite --solvers eg --gap 0.1 --quiet --picture race.svg");
  const std::string picture = read("race.svg");
  EXPECT_TRUE(well_formed(picture));
  EXPECT_NE(picture.find("espalier classify, a&lt;b&gt;&amp;\"c?\xc3\xa9.txt: loss crf"), std::string::npos)
      << picture;
}

// One report is a point, not a line.
TEST_F(CliRaceTest, TheSmallestBudgetIsARaceToo) {
  const std::string out =
      succeed(std::string(kRace) + "--solvers eg,lbfgs --budget 1e-9 --quiet --picture race.svg");
  EXPECT_EQ(count(out, "\n"), 7u) << out;
  const std::string picture = read("race.svg");
  EXPECT_TRUE(well_formed(picture));
  EXPECT_EQ(count(picture, "<circle "), 4u);
  EXPECT_EQ(count(picture, "nan"), 0u);
  EXPECT_EQ(count(picture, "inf"), 0u);
}

TEST_F(CliRaceTest, RefusesBeforeReading) {
  const auto error = [&](const std::string& options) {
    const Outcome outcome = run("race classify missing.txt " + options);
    EXPECT_EQ(outcome.status, 2) << options;
    EXPECT_EQ(outcome.out, "") << options;
    return outcome.err;
  };
  EXPECT_EQ(error("--solvers eg,frank-wolfe"),
            "espalier: --solver frank-wolfe: not for loss crf; expected --loss svm, or --solver eg\n");
  EXPECT_EQ(error("--solvers eg,lbfgs --loss svm"),
            "espalier: --solver lbfgs: not for loss svm; expected a loss of finite beta, or --solver eg\n");
  EXPECT_TRUE(error("--solvers eg,newton")
                  .starts_with("espalier: --solver: unknown solver 'newton'; expected auto, eg, eg-batch, "));
  EXPECT_TRUE(
      error("--solvers eg,").starts_with("espalier: --solver: unknown solver ''; expected auto, eg, "));
  EXPECT_EQ(error("--solvers eg,sgd,eg"),
            "espalier: --solvers: eg more than once; expected different ones\n");
  EXPECT_EQ(error(""), "espalier: --solvers is required; see 'espalier race classify --help'\n");
  EXPECT_EQ(error("--solvers eg --solver sgd"),
            "espalier: unknown option '--solver'; did you mean --solvers?\n");
  EXPECT_EQ(error("--solvers eg --picture -"),
            "espalier: --picture -: standard output is taken by the table; expected the name of a file\n");
  EXPECT_EQ(error("--solvers eg --picture nowhere/race.svg")
                .rfind("espalier: nowhere/race.svg: cannot create: ", 0),
            0u);
  EXPECT_EQ(error("--solvers eg --log nowhere/race.jsonl")
                .rfind("espalier: nowhere/race.jsonl: cannot create: ", 0),
            0u);
  EXPECT_EQ(error("--solvers eg").rfind("espalier: missing.txt: ", 0), 0u);
  const Outcome partial = run("race tag missing.txt --partial --solvers eg");
  EXPECT_EQ(partial.status, 2);
  EXPECT_EQ(partial.err,
            "espalier: --partial: not in a race, whose solvers share one convex problem; expected labels "
            "that are all known\n");
}

TEST_F(CliRaceTest, AFullDiskUnderThePictureIsAnError) {
  const Outcome outcome = run(std::string(kRace) + "--solvers eg --gap 0.1 --quiet --picture /dev/full");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err.rfind("espalier: /dev/full: cannot write: ", 0), 0u) << outcome.err;
}

TEST_F(CliRaceTest, AnInterruptEndsItWithTheTableSoFar) {
  for (const int signal : {SIGINT, SIGTERM}) {
    RunningProgram program(
        command(std::string(kRace) +
                "--l2 1e-6 --gap 0 --passes 1e9 --solvers eg,lbfgs --log race.jsonl --picture race.svg"),
        here());
    ASSERT_TRUE(program.wait_for_error_lines(4));
    program.send(signal);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.status, 130);
    const std::vector<std::string> table = lines(outcome.out);
    ASSERT_GE(table.size(), 4u) << outcome.out;
    EXPECT_TRUE(table[1].starts_with("eg            passes ")) << table[1];
    EXPECT_TRUE(table[3].starts_with("optimum between ")) << "lbfgs did not run";
    EXPECT_EQ(count(outcome.err, "lbfgs"), 0u);
    const Json race = log().back();
    EXPECT_EQ(race.at("status"), "stopped");
    ASSERT_EQ(race.at("runs").size(), 1u);
    EXPECT_EQ(race.at("runs")[0].at("status"), "stopped");
    EXPECT_EQ(count(read("race.svg"), "<polyline "), 2u);
  }
}

}  // namespace
}  // namespace espalier::testing::race_test
