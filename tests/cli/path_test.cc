#include "cli/cli_test.h"

namespace espalier::testing::path_test {
namespace {

class CliPathTest : public CliTest {
 protected:
  void SetUp() override { generate_all(); }
  static constexpr const char* kPath =
      "path classify train.txt --format crfsuite --dev dev.txt --l2-max 100 --l2-min 1 --factor 0.25 ";
};

TEST_F(CliPathTest, PrintsALineForEachL2AndSavesTheBest) {
  const Outcome outcome = run(std::string(kPath) + "-o best.esp");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(lines(outcome.err).at(1).starts_with("l2 100 ")) << outcome.err;
  const std::vector<std::string> table = lines(outcome.out);
  ASSERT_EQ(table.size(), 5u);
  EXPECT_EQ(words(table[0]), (std::vector<std::string>{"l2", "passes", "total", "gap", "primal", "dev"}));
  double total = 0, least = 101, best = 0;
  const double l2[] = {100, 25, 6.25, 1.5625};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::vector<std::string> row = words(table[i + 1]);
    ASSERT_EQ(row.size(), 8u) << table[i + 1];
    EXPECT_EQ(std::stod(row[0]), l2[i]);
    total += std::stod(row[1]);
    EXPECT_NEAR(std::stod(row[2]), total, 0.03);
    EXPECT_LE(std::stod(row[3]), 1e-3);
    EXPECT_EQ(row[5], "error");
    EXPECT_EQ(row[7], "%");
    if (std::stod(row[6]) < least) {
      least = std::stod(row[6]);
      best = l2[i];
    }
  }
  EXPECT_EQ(json("show best.esp --json").at("l2").get<double>(), best);
  EXPECT_NEAR(100 * json("eval best.esp dev.txt --json").at("error").get<double>(), least, 0.005);
  EXPECT_TRUE(lines(outcome.err).back().starts_with("best of 4 values: l2 ")) << outcome.err;
  EXPECT_TRUE(lines(outcome.err).back().ends_with("; saved best.esp")) << outcome.err;
}

TEST_F(CliPathTest, PassAndSecondsOfItsLogRunOn) {
  succeed(std::string(kPath) + "--quiet --log run.jsonl");
  double passes = 0, seconds = 0;
  std::set<double> values;
  const std::vector<std::string> log = lines(read("run.jsonl"));
  EXPECT_EQ(Json::parse(log.front()).at("l2"), (Json{100, 25, 6.25, 1.5625}));
  for (std::size_t i = 1; i + 1 < log.size(); ++i) {
    const Json event = Json::parse(log[i]);
    EXPECT_EQ(event.at("event"), "progress");
    EXPECT_GE(event.at("pass").get<double>(), passes);
    EXPECT_GE(event.at("seconds").get<double>(), seconds);
    passes = event.at("pass").get<double>();
    seconds = event.at("seconds").get<double>();
    values.insert(event.at("l2").get<double>());
  }
  EXPECT_EQ(values, (std::set<double>{1.5625, 6.25, 25, 100}));
  const Json end = Json::parse(log.back());
  EXPECT_EQ(end.at("event"), "end");
  EXPECT_EQ(end.at("status"), "converged");
  EXPECT_FALSE(end.contains("model"));
  EXPECT_EQ(files(), (std::set<std::string>{"dev.txt", "run.jsonl", "test.txt", "train.txt"}));
}

TEST_F(CliPathTest, TheSameSeedGivesTheSameBytes) {
  const std::string one = succeed(std::string(kPath) + "--quiet -o one.esp");
  const std::string two = succeed(std::string(kPath) + "--quiet -o two.esp");
  EXPECT_EQ(one, two);
  EXPECT_TRUE(read("one.esp") == read("two.esp"));
  succeed(std::string(kPath) + "--quiet -o other.esp --seed 2");
  EXPECT_FALSE(read("one.esp") == read("other.esp"));
}

TEST_F(CliPathTest, OtherSolversWalkItToo) {
  for (const std::string solver : {"lbfgs", "sgd --passes 40 --gap 0.5"}) {
    EXPECT_EQ(lines(succeed(kPath + ("--quiet --solver " + solver))).size(), 5u) << solver;
  }
}

}  // namespace
}  // namespace espalier::testing::path_test
