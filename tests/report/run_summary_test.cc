#include "report/run_summary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::run_summary_test {
namespace {

using testing::TemporaryFolder;

RunEvents parsed(const std::vector<std::string>& lines) {
  RunEvents run{"run.jsonl", {}};
  for (const std::string& line : lines) run.events.push_back(Json::parse(line));
  return run;
}

TEST(RunSummary, Training) {
  const Json summary = summary_of(parsed(
      {R"({"event":"start","command":"espalier train tag a b","task":"tag","train":"a","l2":1.0,"gap":0.001})",
       R"({"event":"progress","solver":"eg","l2":1,"pass":5,"seconds":0.5,"primal":10,"dual":8,"relative_gap":0.2,"dev":{"f1":0.5}})",
       R"({"event":"notice","text":"now lbfgs"})",
       R"({"event":"progress","solver":"eg","l2":1,"pass":10,"seconds":1,"primal":9,"dual":9,"relative_gap":0,"dev":{"f1":0.75}})",
       R"({"event":"end","message":"converged","l2":1})"}));
  EXPECT_EQ(summary.at("title"), "Training: tag, a");
  EXPECT_EQ(summary.at("command"), "espalier train tag a b");
  EXPECT_EQ(summary.at("message"), "converged");
  EXPECT_EQ(summary.at("notices"), Json::parse(R"(["now lbfgs"])"));
  EXPECT_EQ(summary.at("settings"), Json::parse(R"({"task":"tag","train":"a","l2":1.0,"gap":0.001})"));
  EXPECT_EQ(summary.at("series"), Json::parse(R"([{"name":"eg","passes":[5,10],"seconds":[0.5,1],
      "primal":[10,9],"dual":[8,9],"relative_gap":[0.2,0],"dev":{"f1":[0.5,0.75]}}])"));
}

TEST(RunSummary, SeriesAreNamedByWhatDiffers) {
  std::vector<std::string> lines;
  for (const char* seed : {"1", "2"}) {
    for (const char* pass : {"1", "2"}) {
      lines.push_back(std::string(R"({"event":"progress","solver":"eg","l2":1,"seed":)") + seed +
                      R"(,"pass":)" + pass + R"(,"primal":2,"dual":1})");
    }
  }
  const Json series = summary_of(parsed(lines)).at("series");
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0].at("name"), "seed 1");
  EXPECT_EQ(series[1].at("name"), "seed 2");
  EXPECT_TRUE(series[0].at("seconds")[0].is_null());  // nobody said
}

TEST(RunSummary, Path) {
  const Json summary = summary_of(
      parsed({R"({"event":"start","task":"classify","train":["a","b"],"l2":[10,1]})",
              R"({"event":"progress","l2":10,"pass":3,"primal":5,"relative_gap":0.5,"dev":{"error":0.4}})",
              R"({"event":"progress","l2":10,"pass":4,"primal":4,"relative_gap":0.1,"dev":{"error":0.3}})",
              R"({"event":"progress","l2":1,"pass":10,"primal":3,"relative_gap":0.2,"dev":{"error":0.2}})",
              R"({"event":"end","l2":1,"message":"best"})"}));
  EXPECT_EQ(summary.at("title"), "Path over l2: classify, 2 files");
  const Json& path = summary.at("path");
  EXPECT_EQ(path.at("parameter"), "l2");
  EXPECT_EQ(path.at("chosen"), 1);
  EXPECT_EQ(path.at("rate"), "error");
  // The last report of each, with the passes of this value alone.
  EXPECT_EQ(path.at("points"), Json::parse(R"([
      {"value":10,"passes":4,"relative_gap":0.1,"primal":4,"dual":null,"dev":0.3},
      {"value":1,"passes":6,"relative_gap":0.2,"primal":3,"dual":null,"dev":0.2}])"));
}

TEST(RunSummary, Folds) {
  const Json summary = summary_of(parsed(
      {R"({"event":"start","folds":2,"l2":[10,1]})",
       R"({"event":"progress","l2":10,"fold":1,"dev":{"accuracy":0.9,"f1":0.5}})",
       R"({"event":"progress","l2":10,"fold":2,"dev":{"accuracy":0.9,"f1":0.7}})",
       R"({"event":"progress","l2":1,"fold":2,"dev":{"accuracy":0.9,"f1":0.8}})",
       R"({"event":"end","l2":10,"values":[{"l2":10,"folds":2,"metric":"F1 %","mean":60,"deviation":14.1}]})"}));
  const Json& folds = summary.at("folds");
  EXPECT_EQ(folds.at("chosen"), 10);
  EXPECT_EQ(folds.at("metric"), "F1 %");
  EXPECT_EQ(folds.at("each"),
            Json::parse(R"([{"fold":1,"points":[[10,50]]},{"fold":2,"points":[[10,70],[1,80]]}])"));
  EXPECT_EQ(folds.at("values")[0].at("mean"), 60);
}

// Gaps are measured from what all solvers together know.
TEST(RunSummary, Race) {
  const Json summary = summary_of(parsed(
      {R"({"event":"start","solvers":["eg","sgd"],"l2":1})",
       R"({"event":"progress","solver":"eg","l2":1,"pass":1,"primal":10,"dual":5,"relative_gap":0.5})",
       R"({"event":"progress","solver":"sgd","l2":1,"pass":1,"primal":16,"dual":2,"relative_gap":0.875})",
       R"({"event":"race","optimum":{"lower":8,"upper":10},"runs":[{"solver":"eg"},{"solver":"sgd"}]})"}));
  EXPECT_EQ(summary.at("race").size(), 2u);
  EXPECT_EQ(summary.at("series")[0].at("relative_gap"), Json::parse("[0.2]"));
  EXPECT_EQ(summary.at("series")[1].at("relative_gap"), Json::parse("[0.5]"));
}

TEST(RunSummary, LongRunsAreThinned) {
  std::vector<std::string> lines;
  for (int k = 1; k <= 5000; ++k)
    lines.push_back(R"({"event":"progress","solver":"eg","pass":)" + std::to_string(k) + "}");
  const Json series = summary_of(parsed(lines)).at("series");
  const auto passes = series[0].at("passes").get<std::vector<double>>();
  EXPECT_LE(passes.size(), 300u);
  EXPECT_GT(passes.size(), 200u);
  EXPECT_EQ(passes.front(), 1);
  EXPECT_EQ(passes.back(), 5000);
  EXPECT_TRUE(std::ranges::is_sorted(passes));
  EXPECT_EQ(series[0].at("primal").size(), passes.size());
}

TEST(RunSummary, RefusesWhatNoRunLogs) {
  const auto message = [](const std::string& line) {
    return testing::error_message([&] { summary_of(parsed({line})); });
  };
  EXPECT_NE(message(R"({"event":"progress","solver":"eg","pass":"many"})")
                .find("run.jsonl: an event that no run logs ("),
            std::string::npos);
  EXPECT_NE(message(R"({"event":"start","folds":2})").find(""), std::string::npos);
}

TEST(RunEvents, ReadsALogThatIsBeingWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.jsonl", "{\"event\":\"start\"}\n{\"event\":\"progress\",\"pa");
  const RunEvents run = read_run_events(path);
  EXPECT_EQ(run.name, path);
  EXPECT_EQ(run.events.size(), 1u);
}

TEST(RunEvents, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    const std::string path = folder.file("run.jsonl", text);
    return testing::error_message([&] { read_run_events(path); }).substr(path.size());
  };
  const std::string expected = "; expected a run log, as training writes it";
  EXPECT_EQ(refused("a\tb\nc\td\n"), ":1: no JSON object" + expected);
  EXPECT_EQ(refused("{\"event\":\"start\"}\nx\n{\"event\":\"end\"}\n"), ":2: no JSON object" + expected);
  EXPECT_EQ(refused("{\"a\":1}\n"), ":1: no \"event\"" + expected);
  EXPECT_EQ(refused("{\"event\":1}\n"), ":1: no \"event\"" + expected);
  EXPECT_EQ(refused("[]\n"), ":1: no \"event\"" + expected);
  EXPECT_EQ(refused(""), ": no event of a run" + expected);
}

}  // namespace
}  // namespace espalier::run_summary_test
