// train, and what its options do.

#include <algorithm>
#include <limits>

#include "cli/cli_test.h"
#include "espalier/tasks/classify.h"
#include "espalier/train/train.h"

namespace espalier::testing::train_test {
namespace {

// Of eight topics a guess is wrong seven times; 300 sentences teach enough to be right about every second
// time.
constexpr double kLearned = 0.55;

class CliTrainTest : public CliTest {
 protected:
  void SetUp() override { generate_all(); }
  // The model's certificate and settings.
  Json train(const std::string& options) const {
    succeed("train classify train.txt --format crfsuite -o model.esp --quiet " + options);
    return json("show model.esp --json");
  }
  double error_on(const std::string& data) const {
    return json("eval model.esp " + data + " --json").at("error").get<double>();
  }
};

TEST_F(CliTrainTest, ReachesTheGapAskedFor) {
  for (const char* gap : {"1e-3", "1e-6"}) {
    const Json model = train(std::string("--gap ") + gap);
    EXPECT_EQ(model.at("task"), "classify");
    EXPECT_EQ(model.at("loss"), "crf");
    EXPECT_EQ(model.at("l2"), 1);
    EXPECT_EQ(model.at("solver"), "auto");
    const Json certificate = model.at("certificate");
    const double primal = certificate.at("primal").get<double>(), dual = certificate.at("dual").get<double>();
    EXPECT_GE(primal, dual);
    EXPECT_EQ(certificate.at("gap").get<double>(), primal - dual);
    EXPECT_EQ(certificate.at("relative_gap").get<double>(), (primal - dual) / primal);
    EXPECT_LE(certificate.at("relative_gap").get<double>(), std::stod(gap));
    EXPECT_GT(certificate.at("passes").get<double>(), 0);
    EXPECT_LT(error_on("test.txt"), kLearned);
  }
}

// What the program saves is what a program of one's own gets from the library.
TEST_F(CliTrainTest, IsAClientOfTheLibrary) {
  train("--l2 0.5 --gap 1e-4 --loss softmax-margin");
  ClassifyOptions options;
  options.format = "crfsuite";
  const auto data = read_classify_training(folder_.path("train.txt"), options);
  espalier::train(*data, {.loss = Loss::softmax_margin(), .l2 = 0.5, .gap = 1e-4})
      .save(folder_.path("library.esp"));
  EXPECT_EQ(read("model.esp"), read("library.esp"));
}

// What is saved is what was best on held-out data, with its own certificate, and the run ends when that got
// no better.
class CliPatienceTest : public CliTrainTest {
 protected:
  static constexpr const char* kOptions =
      " --dev dev.txt --l2 0.01 --gap 1e-9 --report-every 0.5 --patience 3 ";
  struct Report {
    double pass, primal, dual, error;
  };
  std::vector<Report> reports(const std::string& log) const {
    std::vector<Report> all;
    for (const std::string& line : lines(read(log))) {
      const Json event = Json::parse(line);
      if (event["event"] != "progress") continue;
      all.push_back({event["pass"].get<double>(), event["primal"].get<double>(), event["dual"].get<double>(),
                     event["dev"]["error"].get<double>()});
    }
    return all;
  }
  // Of equals the last one.
  static const Report& best(const std::vector<Report>& all) {
    return *std::min_element(all.rbegin(), all.rend(),
                             [](const Report& a, const Report& b) { return a.error < b.error; });
  }
  void expect_saved(const Json& model, const Report& report) const {
    EXPECT_EQ(model["certificate"]["primal"].get<double>(), report.primal);
    EXPECT_EQ(model["certificate"]["dual"].get<double>(), report.dual);
    EXPECT_EQ(model["certificate"]["passes"].get<double>(), report.pass);
    EXPECT_EQ(error_on("dev.txt"), report.error);
  }
};

TEST_F(CliPatienceTest, KeepsWhatWasBest) {
  const Json model = train(kOptions + std::string("--log run.json"));
  const std::vector<Report> all = reports("run.json");
  ASSERT_GT(all.size(), 4u);
  std::size_t since = 0;  // reports that were not better
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_LT(since, 3u) << "went on at report " << k;
    since = all[k].error < least ? 0 : since + 1;
    least = std::min(least, all[k].error);
  }
  EXPECT_EQ(since, 3u);
  expect_saved(model, best(all));

  const std::string bytes = read("model.esp");
  train(kOptions);
  EXPECT_TRUE(read("model.esp") == bytes) << "same seed, other bytes";
  const std::string said =
      lines(run("train classify train.txt --format crfsuite -o model.esp" + std::string(kOptions)).err)
          .back();
  EXPECT_TRUE(said.starts_with("stopped early: held-out data has not improved for 3 reports")) << said;
}

// A run that converges first keeps the best, too.
TEST_F(CliPatienceTest, RunsThatConverge) {
  const Json model =
      train("--dev dev.txt --l2 0.01 --report-every 0.5 --gap 1e-2 --patience 1000 --log run.json");
  expect_saved(model, best(reports("run.json")));
  EXPECT_EQ(Json::parse(lines(read("run.json")).back())["status"], "converged");
}

TEST_F(CliPatienceTest, GoesOnFromACheckpoint) {
  const std::string checkpoint = " --checkpoint run.ckpt --checkpoint-every 0 ";
  train(kOptions + std::string("--passes 2") + checkpoint + "--log first.json");
  ASSERT_TRUE(files().contains("run.ckpt"));
  const Json model = train(kOptions + checkpoint + "--resume --log second.json");
  EXPECT_FALSE(files().contains("run.ckpt")) << "nobody needs it any more";
  std::vector<Report> all = reports("first.json");
  const std::vector<Report> second = reports("second.json");
  all.insert(all.end(), second.begin(), second.end());
  std::size_t since = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Report& report : all) {
    EXPECT_LT(since, 3u);
    since = report.error < least ? 0 : since + 1;
    least = std::min(least, report.error);
  }
  EXPECT_EQ(since, 3u);
  expect_saved(model, best(all));
}

TEST_F(CliPatienceTest, BadOptions) {
  const std::string command = "train classify train.txt --format crfsuite -o model.esp --patience ";
  EXPECT_EQ(error(command + "2"), "espalier: --patience: no held-out data to look at; expected --dev FILE");
  EXPECT_EQ(
      error(command + "2 --dev dev.txt --l2 auto"),
      "espalier: --patience: not with --l2 auto, which starts each value from another one; expected --l2 X");
  EXPECT_EQ(error(command + "2 --dev dev.txt --repeat 2"),
            "espalier: --patience: not with --repeat; expected one of the two");
  EXPECT_EQ(
      error(command + "0 --dev dev.txt"),
      "espalier: --patience: found '0'; expected a whole number >= 1; see 'espalier train classify --help'");
}

// The model has the name of the whole sequence of solvers, and the log one run.
TEST_F(CliTrainTest, ChainsSolvers) {
  const Json model = train("--loss svm --solver smo,eg --gap 1e-2 --log run.json");
  EXPECT_EQ(model.at("solver"), "smo,eg");
  EXPECT_LE(model.at("certificate").at("relative_gap").get<double>(), 1e-2);
  double passes = 0;
  std::string message;
  for (const std::string& line : lines(read("run.json"))) {
    const Json event = Json::parse(line);
    if (event.at("event") == "progress") {
      EXPECT_EQ(event.at("solver"), "smo,eg");
      EXPECT_GT(event.at("pass").get<double>(), passes);
      passes = event.at("pass").get<double>();
    }
    if (event.contains("message")) message = event.at("message").get<std::string>();
  }
  EXPECT_EQ(model.at("certificate").at("passes").get<double>(), passes);
  EXPECT_NE(message.find("(smo until "), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with(" passes, then eg)")) << message;

  const Outcome outcome = run("train classify train.txt --format crfsuite -o none.esp --solver eg,nonsense");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--solver: unknown solver 'nonsense'; expected eg, "), std::string::npos)
      << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.path("none.esp")));
}

// Each run's primal and dual enclose the one optimum.
TEST_F(CliTrainTest, SolversAgreeOnTheOptimum) {
  for (const std::string loss : {"crf", "softmax-margin", "2,0.5"}) {
    double least_primal = std::numeric_limits<double>::infinity(), most_dual = 0;
    for (const std::string solver : {"eg", "lbfgs", "sgd"}) {
      const Json model = train("--passes 30 --gap 1e-6 --loss " + loss + " --solver " + solver);
      EXPECT_EQ(model.at("loss"), loss);
      EXPECT_EQ(model.at("solver"), solver);
      const Json certificate = model.at("certificate");
      least_primal = std::min(least_primal, certificate.at("primal").get<double>());
      most_dual = std::max(most_dual, certificate.at("dual").get<double>());
      EXPECT_LT(error_on("test.txt"), kLearned) << loss << ' ' << solver;
    }
    EXPECT_LE(most_dual, least_primal);
    EXPECT_LE(least_primal - most_dual, 1e-4 * least_primal) << loss;
  }
}

TEST_F(CliTrainTest, MaxMargin) {
  const Json eg = train("--loss svm --gap 1e-2").at("certificate");
  EXPECT_LE(eg.at("relative_gap").get<double>(), 1e-2);
  EXPECT_LT(error_on("test.txt"), kLearned);
  const Json sgd = train("--loss svm --solver sgd --passes 30").at("certificate");
  EXPECT_GE(sgd.at("primal").get<double>(), eg.at("dual").get<double>());
  EXPECT_LE(sgd.at("dual").get<double>(), eg.at("primal").get<double>());
  EXPECT_EQ(train("--loss perceptron --solver sgd --passes 10").at("loss"), "perceptron");
}

TEST_F(CliTrainTest, EveryWayOfEgMeetsTheGap) {
  for (const char* options : {"--sampling random", "--sampling shuffled", "--sampling cyclic", "--step paper",
                              "--step safe", "--start uniform"}) {
    const Json certificate = train(std::string("--l2 30 --gap 0.01 ").append(options)).at("certificate");
    EXPECT_LE(certificate.at("relative_gap").get<double>(), 0.01) << options;
  }
}

TEST_F(CliTrainTest, TheSameSeedGivesTheSameBytes) {
  for (const std::string solver : {"eg", "lbfgs", "sgd"}) {
    const std::string command =
        "train classify train.txt --format crfsuite --quiet --passes 20 --solver " + solver;
    succeed(command + " -o one.esp --seed 7 --log one.jsonl");
    succeed(command + " -o two.esp --seed 7");
    EXPECT_TRUE(read("one.esp") == read("two.esp")) << solver;
    succeed(command + " -o other.esp --seed 8");
    if (solver == "lbfgs") {
      EXPECT_TRUE(read("one.esp") == read("other.esp")) << "nothing in L-BFGS is random";
    } else {
      EXPECT_FALSE(read("one.esp") == read("other.esp")) << solver;
    }
  }
}

TEST_F(CliTrainTest, ModelToStandardOutput) {
  train("");
  EXPECT_TRUE(succeed("train classify train.txt --format crfsuite -o -") == read("model.esp"));
}

TEST_F(CliTrainTest, AutoTakesTheL2OfLeastDevError) {
  const Outcome outcome =
      run("train classify train.txt --format crfsuite -o model.esp --l2 auto --dev dev.txt --log run.jsonl");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(Json::parse(lines(read("run.jsonl")).front()).at("l2"), "auto");
  EXPECT_FALSE(Json::parse(lines(read("run.jsonl")).back()).contains("edge"));
  // The last report of each l2 has its final dev error. Of equals, the largest l2 counts.
  std::vector<std::pair<double, double>> finals;
  for (const std::string& line : lines(read("run.jsonl"))) {
    const Json event = Json::parse(line);
    if (event.at("event") != "progress") continue;
    const double l2 = event.at("l2").get<double>(), error = event.at("dev").at("error").get<double>();
    if (finals.empty() || finals.back().first != l2) finals.emplace_back(l2, error);
    finals.back().second = error;
  }
  EXPECT_EQ(finals.front().first, 10);
  const auto best = *std::min_element(finals.begin(), finals.end(), [](const auto& a, const auto& b) {
    return a.second < b.second || (a.second == b.second && a.first > b.first);
  });
  EXPECT_EQ(json("show model.esp --json").at("l2").get<double>(), best.first);
  EXPECT_DOUBLE_EQ(error_on("dev.txt"), best.second);
  EXPECT_LE(json("show model.esp --json").at("certificate").at("relative_gap").get<double>(), 1e-3);
  // Every report says which value it is of, and the values are listed at the end, the largest first.
  const std::vector<std::string> shown = lines(outcome.err);
  const std::size_t table = shown.size() - finals.size() - 2;
  for (std::size_t i = 1; i < table; ++i) EXPECT_TRUE(shown[i].starts_with("l2 ")) << shown[i];
  EXPECT_EQ(words(shown[table]), (std::vector<std::string>{"l2", "passes", "gap", "dev"}));
  std::sort(finals.begin(), finals.end(), std::greater{});
  std::string best_row;
  for (std::size_t k = 0; k < finals.size(); ++k) {
    const std::string& row = shown[table + 1 + k];
    EXPECT_DOUBLE_EQ(std::stod(words(row).at(0)), finals[k].first);
    EXPECT_EQ(row.ends_with("  best"), finals[k].first == best.first) << row;
    if (row.ends_with("  best")) best_row = row;
  }
  EXPECT_TRUE(shown.back().starts_with("l2 " + words(best_row).at(0) + ": dev error ")) << shown.back();
  EXPECT_NE(shown.back().find(", best of " + std::to_string(finals.size()) + " values from "),
            std::string::npos);
  EXPECT_EQ(shown.back().find("edge"), std::string::npos) << shown.back();
}

TEST_F(CliTrainTest, AutoSaysWhenTheBestIsAtAnEdge) {
  const std::string command =
      "train classify train.txt --format crfsuite --dev dev.txt --l2 auto -o model.esp ";
  const Outcome outcome = run(command + "--l2-min 50 --l2-max 500 --log run.jsonl");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json("show model.esp --json").at("l2").get<double>(), 50);
  EXPECT_TRUE(lines(outcome.err)
                  .back()
                  .ends_with("; this is the smallest value of the search (--l2-min 50); smaller ones may be "
                             "better; saved model.esp"))
      << outcome.err;
  EXPECT_EQ(Json::parse(lines(read("run.jsonl")).back()).at("edge"), "smallest");
  EXPECT_EQ(Json::parse(lines(read("run.jsonl")).front()).at("l2"), "auto from 50 to 500");
  EXPECT_EQ(
      error("train classify train.txt --format crfsuite --l2 2 --l2-max 3 -o model.esp"),
      "espalier: --l2-max, --l2-min: no effect without --l2 auto; expected --l2 auto, or neither of them");
  EXPECT_EQ(error(command + "--l2-max 1 --l2-min 2"),
            "espalier: --l2-max 1 --l2-min 2: invalid range; expected 0 < --l2-min <= --l2-max");
}

TEST_F(CliTrainTest, AutoWithOtherLossesAndSolvers) {
  for (const std::string options : {"--loss svm --gap 1e-2", "--loss softmax-margin", "--solver lbfgs",
                                    "--solver sdca", "--loss svm --solver frank-wolfe --gap 2e-2"}) {
    const Outcome outcome =
        run("train classify train.txt --format crfsuite --dev dev.txt --l2 auto -o model.esp " + options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_LE(json("show model.esp --json").at("certificate").at("relative_gap").get<double>(), 2e-2)
        << options;
    EXPECT_NE(lines(outcome.err).back().find(", best of "), std::string::npos) << outcome.err;
  }
}

TEST_F(CliTrainTest, BiasIsOneMoreAttribute) {
  // Of a sentence of unknown words nothing is known but what the bias tells.
  const std::string unknown = "\tneverseen\n", best = "predict model.esp --kbest 1";
  const std::size_t rows = train("").at("rows").get<std::size_t>();
  EXPECT_TRUE(succeed(best, unknown).ends_with(":0.125000\n"));
  const Json model = train("--bias");
  EXPECT_EQ(model.at("rows"), rows + 1);
  EXPECT_EQ(model.at("settings").at("bias"), true);
  const std::string with_bias = succeed(best, unknown);
  EXPECT_GT(std::stod(with_bias.substr(with_bias.find(':') + 1)), 0.126);
}

TEST_F(CliTrainTest, FirstReadsNoFurther) {
  const std::string all = read("train.txt");
  std::string some;
  for (std::size_t i = 0; i < 50; ++i) some += lines(all)[i] + '\n';
  write("some.txt", some);
  succeed("train classify some.txt --format crfsuite -o some.esp --quiet");
  write("train.txt", some + "broken\ta:x\n");
  train("--first 50");
  // Their files tell how the data were read.
  EXPECT_EQ(run("show model.esp --weights").out, run("show some.esp --weights").out);
}

TEST_F(CliTrainTest, CostsSteerPredictionsAndAreReported) {
  write("costs.txt", "# missing music is dear\nmusic sports 10\nmusic travel 10\n");
  succeed(
      "train classify train.txt --format crfsuite --loss softmax-margin --costs costs.txt --dev dev.txt -o "
      "model.esp "
      "--quiet --log run.jsonl");
  const Json report = json("eval model.esp test.txt --json");
  EXPECT_GE(report.at("cost").get<double>(), report.at("error").get<double>());
  EXPECT_NE(succeed("eval model.esp test.txt").find("\nmean cost "), std::string::npos);
  const Json progress = Json::parse(lines(read("run.jsonl")).at(1));
  EXPECT_TRUE(progress.at("dev").contains("cost"));
}

// {"event":"start",...}, progress..., {"event":"end",...}, with the keys that are documented.
TEST_F(CliTrainTest, LogOfARun) {
  train("--dev dev.txt --gap 1e-5 --l2 0.5 --seed 3 --threads 1 --report-every 1 --log run.jsonl");
  const std::vector<std::string> log = lines(read("run.jsonl"));
  ASSERT_GE(log.size(), 4u);
  const Json start = Json::parse(log.front());
  EXPECT_EQ(start.at("event"), "start");
  const Json settings = {{"task", "classify"}, {"train", "train.txt"},
                         {"dev", "dev.txt"},   {"loss", "crf"},
                         {"solver", "auto"},   {"gap", 1e-5},
                         {"passes", 1000},     {"seed", 3},
                         {"threads", 1},       {"l2", 0.5},
                         {"sampling", "gap"},  {"step", "auto"},
                         {"start", "gold"},    {"format", "crfsuite"},
                         {"bias", false},      {"report_every", 1}};
  for (const auto& [key, value] : settings.items()) EXPECT_EQ(start.at(key), value) << key;

  double passes = -1, seconds = -1, wall_seconds = -1;
  for (std::size_t i = 1; i + 1 < log.size(); ++i) {
    const Json event = Json::parse(log[i]);
    EXPECT_EQ(event.at("event"), "progress");
    EXPECT_EQ(event.at("solver"), "auto");
    EXPECT_EQ(event.at("l2"), 0.5);
    const double primal = event.at("primal").get<double>(), dual = event.at("dual").get<double>();
    EXPECT_EQ(event.at("gap").get<double>(), primal - dual);
    EXPECT_EQ(event.at("relative_gap").get<double>(), (primal - dual) / primal);
    EXPECT_GE(primal, dual);
    EXPECT_GT(event.at("pass").get<double>(), passes);
    EXPECT_GE(event.at("seconds").get<double>(), seconds);
    EXPECT_GT(event.at("wall_seconds").get<double>(), wall_seconds);
    EXPECT_GE(event.at("wall_seconds").get<double>(), event.at("seconds").get<double>());
    passes = event.at("pass").get<double>();
    seconds = event.at("seconds").get<double>();
    wall_seconds = event.at("wall_seconds").get<double>();
    EXPECT_EQ(event.at("dev").size(), 1u);
    EXPECT_LE(event.at("dev").at("error").get<double>(), 1);
  }
  const Json last = Json::parse(log[log.size() - 2]), end = Json::parse(log.back());
  EXPECT_LE(last.at("relative_gap").get<double>(), 1e-5);
  EXPECT_EQ(last.at("dev").at("error").get<double>(), error_on("dev.txt"));
  EXPECT_EQ(last.at("primal"), json("show model.esp --json").at("certificate").at("primal"));
  EXPECT_EQ(end.at("event"), "end");
  EXPECT_EQ(end.at("status"), "converged");
  EXPECT_EQ(end.at("model"), "model.esp");
  EXPECT_EQ(end.at("l2"), 0.5);
}

TEST_F(CliTrainTest, LogToStandardOutput) {
  const std::vector<std::string> log =
      lines(succeed("train classify train.txt --format crfsuite -o model.esp --log -"));
  ASSERT_GE(log.size(), 3u);
  EXPECT_EQ(Json::parse(log.front()).at("event"), "start");
  EXPECT_EQ(Json::parse(log.back()).at("event"), "end");
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(CliTrainTest, LogWithoutDevHasNone) {
  train("--log run.jsonl");
  for (const std::string& line : lines(read("run.jsonl")))
    EXPECT_FALSE(Json::parse(line).contains("dev")) << line;
}

TEST_F(CliTrainTest, DemoOfClassification) {
  const Outcome outcome = run("demo classify");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* command : {"$ espalier generate classify ", "$ espalier train classify train.txt ",
                              "$ espalier eval topics.esp test.txt\nerror ", "$ espalier show topics.esp",
                              "$ espalier predict topics.esp test.txt -o labels.txt\n"}) {
    EXPECT_NE(outcome.out.find(command), std::string::npos) << command;
  }
  EXPECT_EQ(files().size(), 3u);  // the test's own: the demo cleans up
}

TEST_F(CliTrainTest, DemoOfTagging) {
  const Outcome outcome = run("demo");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* command :
       {"$ espalier generate tag ", "$ espalier train tag train.txt --dev dev.txt ",
        "$ espalier eval entities.esp test.txt\naccuracy ", "$ espalier show entities.esp",
        "$ espalier predict entities.esp test.txt -o tagged.txt\n", "\nword "}) {
    EXPECT_NE(outcome.out.find(command), std::string::npos) << command;
  }
  EXPECT_NE(outcome.err.find("  dev F1 "), std::string::npos);
  EXPECT_EQ(files().size(), 3u);
  EXPECT_EQ(run("demo tag").out, outcome.out);
}

}  // namespace
}  // namespace espalier::testing::train_test
