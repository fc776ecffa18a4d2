#include "solvers/recent_mean.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "support/random_problem.h"

namespace espalier {
namespace {

// Against the recurrence itself, on all weights after each visit. So many visits that the scale of the lag is
// set back.
TEST(RecentMean, IsTheMeanThatItSays) {
  const test_support::OwnedProblem owned(1, {.examples = 4, .attributes = 5, .labels = 3});
  const Problem& problem = owned.problem;
  Random random(1);
  Workspace ws;
  Weights w(problem.weight_shape()), mean;
  DoubleWeights expected(problem.weight_shape());
  RecentMean recent(problem.weight_shape(), problem.size());
  std::vector<float> delta(3);
  const auto n = static_cast<double>(problem.size());
  for (int visit = 1; visit <= 200; ++visit) {
    const std::size_t i = random.below(problem.size());
    for (float& d : delta) d = static_cast<float>(random.uniform() - 0.5);
    problem.accumulate(i, delta, w, ws);
    recent.add(problem, i, delta, ws);
    recent.end_visit();
    const double share = std::min(0.9, std::max(0.6 / n, 5 / (visit + n)));
    for (std::size_t j = 0; j < w.values().size(); ++j)
      expected.values()[j] += share * (static_cast<double>(w.values()[j]) - expected.values()[j]);
    recent.mean(w, 2, mean);
    for (std::size_t j = 0; j < w.values().size(); ++j)
      ASSERT_NEAR(mean.values()[j], 2 * expected.values()[j], 1e-4) << visit;
    if (visit % 70 != 0) continue;
    // Weights that are set to something else leave the mean where it was.
    for (float& x : w.values()) x += 0.25f;
    recent.restart(w, mean, 0.5);
    Weights after;
    recent.mean(w, 2, after);
    for (std::size_t j = 0; j < w.values().size(); ++j)
      ASSERT_NEAR(after.values()[j], mean.values()[j], 1e-5) << visit;
  }
}

}  // namespace
}  // namespace espalier
