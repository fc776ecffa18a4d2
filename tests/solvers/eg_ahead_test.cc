// Along a path, EG begins where the last two values point to (DualState::Way).

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "support/eg_solution.h"
#include "support/problems_of_all_kinds.h"

namespace espalier::eg_ahead_test {
namespace {

using test_support::ProblemsOfAllKinds;

struct WarmRun {
  DualState dual;
  Weights theta{};
  Summary summary{};

  void go_on(const Problem& problem, double l2, EgOptions options, EgStart start = EgStart::warm) {
    options.start = start;
    summary = eg({problem, Loss::crf(), l2}, options, dual, theta);
  }
  const Progress& last() const { return summary.history.back(); }
  void keep_scores() {
    dual.way = DualState::Way{};
    dual.way->scores = ZeroedArray<float>(dual.scores().size());
    std::ranges::copy(dual.scores(), dual.way->scores.begin());
  }
};

EgOptions to_gap(double gap) {
  EgOptions options;
  options.stopping.gap = gap;
  return options;
}

// Three values of a path: the third begins ahead, or where the second ended.
WarmRun third_value(const Problem& problem, double l2, bool ahead, const EgOptions& at_third) {
  constexpr double kFactor = 0.7;
  const EgOptions options = to_gap(1e-6);
  WarmRun run{DualState(problem)};
  run.go_on(problem, l2, options, EgStart::gold);
  run.keep_scores();
  run.go_on(problem, kFactor * l2, options);
  run.dual.way->ahead = ahead;
  run.go_on(problem, kFactor * kFactor * l2, at_third);
  return run;
}

// One pass of visits after the pass that it takes, against two passes of visits.
TEST(EgAhead, IsNearerToTheOptimum) {
  const ProblemsOfAllKinds problems(1);
  for (const auto& named : problems.all()) {
    if (named.problem.inference() != Inference::exact) continue;
    EgOptions two_passes = to_gap(-1);
    two_passes.stopping.passes = 3;
    const WarmRun ahead = third_value(named.problem, named.l2, true, two_passes);
    const WarmRun plain = third_value(named.problem, named.l2, false, two_passes);
    // Both may be as near as floats allow.
    const double rounded = 1e-8 * plain.last().primal;
    EXPECT_LT(ahead.last().gap(), plain.last().gap() + rounded) << named.name;
  }
}

// Its certificate is that of any other run.
TEST(EgAhead, EndsAtTheSameOptimum) {
  const ProblemsOfAllKinds problems(2);
  for (const auto& named : problems.all()) {
    const WarmRun ahead = third_value(named.problem, named.l2, true, to_gap(1e-6));
    const WarmRun plain = third_value(named.problem, named.l2, false, to_gap(1e-6));
    const double apart = ahead.last().primal - plain.last().primal;
    EXPECT_LE(apart, ahead.last().gap()) << named.name;
    EXPECT_LE(-apart, plain.last().gap()) << named.name;
  }
}

// Where the dual is lower there, the run is as if it had not been tried, but for the two passes that it took.
TEST(EgAhead, GoesBackFromALowerDual) {
  const ProblemsOfAllKinds problems(3);
  for (const auto& named : problems.all()) {
    const auto run_from = [&](bool ahead) {
      WarmRun run{DualState(named.problem)};
      run.go_on(named.problem, named.l2, to_gap(1e-3), EgStart::gold);
      if (ahead) {
        run.keep_scores();
        for (std::size_t k = 0; k < run.dual.way->scores.size(); ++k)
          run.dual.way->scores[k] += k % 2 == 0 ? 40.0f : -40.0f;
        run.dual.way->ahead = true;
      }
      EgOptions options = to_gap(-1);
      options.stopping.passes = ahead ? 7 : 5;
      options.report_every = 1e9;
      run.go_on(named.problem, named.l2 / 2, options);
      return run;
    };
    const WarmRun back = run_from(true), plain = run_from(false);
    EXPECT_TRUE(std::ranges::equal(back.dual.scores(), plain.dual.scores())) << named.name;
    EXPECT_EQ(back.last().dual, plain.last().dual) << named.name;
    EXPECT_DOUBLE_EQ(back.last().passes, plain.last().passes + 2) << named.name;
    // It is not tried again.
    EXPECT_EQ(back.dual.way->scores.size(), 0u) << named.name;
  }
}

// The next run begins with the weights of this one, which are those of its duals.
TEST(EgAhead, LeavesItsWeights) {
  const ProblemsOfAllKinds problems(4);
  for (const auto& named : problems.all()) {
    WarmRun run{DualState(named.problem)};
    run.go_on(named.problem, named.l2, to_gap(1e-3), EgStart::gold);
    run.dual.way = DualState::Way{};
    run.go_on(named.problem, named.l2 / 2, to_gap(1e-3));
    const std::span<const float> w = run.dual.way->w.values(), theta = run.theta.values();
    ASSERT_EQ(w.size(), theta.size()) << named.name;
    for (std::size_t j = 0; j < w.size(); ++j)
      ASSERT_FLOAT_EQ(w[j], static_cast<float>(named.l2 / 2 * theta[j])) << named.name;
  }
}

// Others that change scores do not leave a way that is none.
TEST(EgAhead, ANewStartHasNoWay) {
  const ProblemsOfAllKinds problems(1);
  const Problem& problem = problems.all().front().problem;
  DualState dual(problem);
  dual.way = DualState::Way{};
  dual.start_uniform(problem);
  EXPECT_FALSE(dual.way);
}

}  // namespace
}  // namespace espalier::eg_ahead_test
