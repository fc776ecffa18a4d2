#include "solvers/forecast.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

namespace espalier::forecast_test {
namespace {

std::vector<GapAt> straight(double first, double rate, int points) {
  std::vector<GapAt> history;
  for (int k = 0; k < points; ++k) history.push_back({5.0 * k, first * std::exp(-rate * 5.0 * k)});
  return history;
}

RC_GTEST_PROP(Forecast, ContinuesALine, ()) {
  const double rate = *rc::gen::inRange(1, 100) * 1e-2, first = *rc::gen::inRange(1, 1000) * 0.1;
  const int points = *rc::gen::inRange(3, 30);
  const std::vector<GapAt> history = straight(first, rate, points);
  const double gap = history.back().gap * 1e-3;
  const auto left = passes_to_gap(history, gap);
  RC_ASSERT(left.has_value());
  RC_ASSERT(std::abs(*left - std::log(1e3) / rate) < 1e-6 * *left);
}

TEST(Forecast, ForgetsTheFirstHalf) {
  std::vector<GapAt> history = straight(1e6, 1, 10);
  const double reached = history.back().gap, at = history.back().passes;
  for (int k = 1; k <= 20; ++k) history.push_back({at + 5.0 * k, reached * std::exp(-0.01 * 5.0 * k)});
  EXPECT_NEAR(passes_to_gap(history, history.back().gap / 2).value(), std::log(2) / 0.01, 1e-6);
}

// A primal that goes up and down counts as the best so far.
TEST(Forecast, IsNotDeceivedByPeaks) {
  std::vector<GapAt> history = straight(1, 0.02, 20);
  for (std::size_t k = 1; k + 1 < history.size(); k += 4) history[k].gap *= 50;
  const auto left = passes_to_gap(history, 1e-3);
  ASSERT_TRUE(left.has_value());
  EXPECT_NEAR(*left, std::log(history.back().gap / 1e-3) / 0.02, 0.1 * *left);
}

// Scaling gaps changes nothing, and a gap that is smaller by a factor takes the same number of passes more.
RC_GTEST_PROP(Forecast, DependsOnRatiosOfGapsAlone, ()) {
  std::vector<GapAt> history, scaled;
  double passes = 0;
  for (int k = 0, size = *rc::gen::inRange(3, 30); k < size; ++k) {
    passes += *rc::gen::inRange(1, 100) / 10.0;
    history.push_back({passes, *rc::gen::inRange(10, 1000) / 1000.0});
    scaled.push_back({passes, 1024 * history.back().gap});
  }
  const auto near = passes_to_gap(history, 1e-3), far = passes_to_gap(history, 1e-4),
             farther = passes_to_gap(history, 1e-5), same = passes_to_gap(scaled, 1.024);
  RC_ASSERT(near.has_value() == far.has_value() && near.has_value() == same.has_value());
  if (!near) return;
  RC_ASSERT(std::abs(*near - *same) <= 1e-9 * *near);
  RC_ASSERT(*near > 0 && *far > *near);
  RC_ASSERT(std::abs((*farther - *far) - (*far - *near)) <= 1e-9 * *farther);
}

TEST(Forecast, KnowsWhereThereIsNothingToForecast) {
  EXPECT_FALSE(passes_to_gap({}, 1e-3).has_value());
  EXPECT_FALSE(passes_to_gap(std::vector<GapAt>{{1, 0.5}, {2, 0.4}}, 1e-3).has_value());
  EXPECT_FALSE(passes_to_gap(std::vector<GapAt>{{1, 0.5}, {2, 0.6}, {3, 0.7}}, 1e-3).has_value());
  EXPECT_FALSE(passes_to_gap(straight(1, 0.1, 5), 0).has_value());
  EXPECT_EQ(passes_to_gap(std::vector<GapAt>{{1, 1e-4}}, 1e-3), 0);
}

}  // namespace
}  // namespace espalier::forecast_test
