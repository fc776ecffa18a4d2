#include "espalier/solvers/forecast.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace espalier {
namespace {

// A report with this relative gap.
Progress report(double passes, double gap, double primal = 100) {
  Progress progress;
  progress.passes = passes;
  progress.primal = primal;
  progress.dual = primal * (1 - gap);
  return progress;
}

TEST(Forecast, AGeometricDeclineGoesOn) {
  // Halved by every 10 passes, to 0.05 at the end.
  std::vector<Progress> history;
  for (const double passes : {10, 20, 30, 40, 50})
    history.push_back(report(passes, 1.6 / std::exp2(passes / 10)));
  EXPECT_NEAR(passes_to_gap(history, 0.05 / 1024).value(), 100, 1e-6);
  EXPECT_NEAR(passes_to_gap(history, 0.025).value(), 10, 1e-6);
  EXPECT_EQ(passes_to_gap(history, 0.05001), 0.0);
  EXPECT_EQ(passes_to_gap(history, 1), 0.0);
}

TEST(Forecast, TheFirstHalfDoesNotCount) {
  std::vector<Progress> history{report(0, 1), report(1, 1e-3), report(2, 0.9)};
  for (const double passes : {50, 60, 70, 80, 90, 100})
    history.push_back(report(passes, std::exp(-passes / 20)));
  EXPECT_NEAR(passes_to_gap(history, std::exp(-6)).value(), 20, 1e-6);
}

TEST(Forecast, PassesMayBeginAnywhere) {
  // As those of a later value of a path do.
  std::vector<Progress> history;
  for (int k = 0; k <= 8; ++k) history.push_back(report(1000 + k, k < 4 ? 1 : std::exp2(-k)));
  EXPECT_NEAR(passes_to_gap(history, std::exp2(-12)).value(), 4, 1e-6);
}

TEST(Forecast, NoneWhereTheGapDoesNotFall) {
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.5), report(2, 0.5), report(3, 0.5)}, 1e-3));
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.3), report(2, 0.4), report(3, 0.5)}, 1e-3));
}

TEST(Forecast, NoneFromTooLittle) {
  EXPECT_FALSE(passes_to_gap({}, 1e-3));
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.5), report(2, 0.4)}, 1e-3));
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.5), report(1, 0.4), report(1, 0.3)}, 1e-3));
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.5), report(2, 0.4), report(3, 0.3)}, 0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.5), report(2, 0.4), report(3, nan)}, 1e-3));
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.5), report(2, nan), report(3, 0.3)}, 1e-3));
  EXPECT_FALSE(passes_to_gap(std::vector{report(1, 0.5), report(2, -1e-9), report(3, 0.3)}, 1e-3));
}

// Whatever the history: scaling the objective changes nothing, and a gap that is smaller by a factor takes the same number of
// passes more.
RC_GTEST_PROP(Forecast, DependsOnGapsAlone, ()) {
  std::vector<Progress> history, scaled;
  double passes = 0;
  for (int k = 0, size = *rc::gen::inRange(3, 30); k < size; ++k) {
    passes += *rc::gen::inRange(1, 100) / 10.0;
    const double gap = *rc::gen::inRange(10, 1000) / 1000.0;
    history.push_back(report(passes, gap, 64));
    scaled.push_back(report(passes, gap, 64 * 1024));
  }
  const auto near = passes_to_gap(history, 1e-3), far = passes_to_gap(history, 1e-4),
             farther = passes_to_gap(history, 1e-5);
  RC_ASSERT(near == passes_to_gap(scaled, 1e-3));
  RC_ASSERT(near.has_value() == far.has_value());
  if (!near) return;
  RC_ASSERT(*near > 0 && *far > *near);
  RC_ASSERT(std::abs((*farther - *far) - (*far - *near)) <= 1e-9 * *farther);
}

}  // namespace
}  // namespace espalier
