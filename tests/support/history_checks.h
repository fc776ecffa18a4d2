#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "espalier/base/progress.h"

namespace espalier::test_support {

// Weak duality at every report. Rounding may put a dual above its primal; Run::report() knows by how much,
// and calls that a gap of 0.
inline void expect_gaps(const Summary& summary, const std::string& where) {
  for (const Progress& now : summary.history) {
    EXPECT_GE(now.gap(), 0) << where << ", report " << now.epoch;
  }
}

// The dual never falls, but for scores that are stored as floats.
inline void expect_rising_dual(const Summary& summary, const std::string& where) {
  for (std::size_t t = 1; t < summary.history.size(); ++t) {
    const Progress &before = summary.history[t - 1], &now = summary.history[t];
    ASSERT_GE(now.dual, before.dual - 1e-6 * (1 + std::abs(now.dual))) << where << ", report " << t;
  }
}

}  // namespace espalier::test_support
