#include "cli/run_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace espalier::cli::run_forecast_test {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class RunForecastTest : public ::testing::Test {
 protected:
  RunForecast forecast(const RunForecast::Target& target) {
    MemoryForecast memory;
    memory.data = memory.weights = 1 << 30;
    return {memory, target,
            [this](const std::string& line, const Json& event) {
              lines_.push_back(line);
              events_.push_back(event.dump());
            },
            [this] { return now_; }};
  }
  static Progress report(int epoch, double passes, double gap, double seconds) {
    Progress progress;
    progress.epoch = epoch;
    progress.passes = passes;
    progress.wall_seconds = seconds;
    progress.primal = 1;
    progress.dual = 1 - gap;
    return progress;
  }

  double now_ = 100;
  std::vector<std::string> lines_, events_;
};

TEST_F(RunForecastTest, SaysOnceWhatARunTakes) {
  RunForecast run = forecast({1e-3, 5, 1000, kNever});
  run.tick(0);
  now_ = 102;
  run.tick(0.25);
  EXPECT_TRUE(lines_.empty());
  now_ = 104;
  run.tick(0.5);
  now_ = 110;
  run.tick(1);
  EXPECT_EQ(
      lines_,
      (std::vector<std::string>{"forecast: about 2 GiB of memory, 8 s per pass, first report after 40 s"}));
  EXPECT_EQ(events_, (std::vector<std::string>{
                         R"({"memory":2147483648.0,"seconds_per_pass":8.0,"first_report_seconds":40.0})"}));
}

TEST_F(RunForecastTest, NothingOfARunThatIsSoonOver) {
  RunForecast run = forecast({1e-3, 5, 1000, kNever});
  for (int k = 0; k < 5; ++k) {
    now_ += 0.5;
    run.tick(k);
    run.report(report(k + 1, k + 1, 0.5 - 0.1 * k, now_ - 100));
  }
  EXPECT_TRUE(lines_.empty());
}

// What a run does before its first visit is not taken for its pace.
TEST_F(RunForecastTest, BeginsToMeasureAtTheFirstVisit) {
  RunForecast run = forecast({1e-3, 5, 1000, kNever});
  run.tick(0);
  now_ = 105;
  run.tick(1e-6);
  now_ = 105.5;
  run.tick(0.05);
  EXPECT_TRUE(lines_.empty());
  now_ = 107;
  run.tick(0.2);
  EXPECT_EQ(
      lines_,
      (std::vector<std::string>{"forecast: about 2 GiB of memory, 10 s per pass, first report after 55 s"}));
}

// Of a run that continues another one, the passes that it makes itself count.
TEST_F(RunForecastTest, LimitsAndResumedRuns) {
  RunForecast run = forecast({1e-3, 5, 20, 60});
  run.tick(40);
  now_ = 105;
  run.tick(41);
  now_ = 110;
  run.tick(42);
  EXPECT_EQ(lines_, (std::vector<std::string>{"forecast: about 2 GiB of memory, 5 s per pass, first report "
                                              "after 25 s, at most 60 s"}));
}

TEST_F(RunForecastTest, SaysOnceHowLongItWillTakeFromItsGaps) {
  RunForecast run = forecast({1e-6, 1, 1000, kNever});
  run.tick(0);
  now_ = 110;
  run.tick(1);
  now_ = 120;
  run.tick(2);
  lines_.clear();
  events_.clear();
  // A digit in two passes of 10 s.
  double gap = 1;
  for (int k = 1; k <= 6; ++k, gap /= std::sqrt(10)) run.report(report(k, k, gap, 10 * k));
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_TRUE(lines_[0].starts_with("forecast: about ")) << lines_[0];
  EXPECT_NE(lines_[0].find(" more to a gap of 1e-06, if it falls on as it does now"), std::string::npos);
  const double left = Json::parse(events_[0]).at("seconds_left").get<double>();
  EXPECT_NEAR(left, 100, 25);  // said after the third report or so, when ten passes are left
}

}  // namespace
}  // namespace espalier::cli::run_forecast_test
