#include "selection/l2_search.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/solvers/registry.h"
#include "solvers/training.h"
#include "support/error_message.h"
#include "support/random_problem.h"

namespace espalier::l2_search_test {
namespace {

using test_support::OwnedProblem;
using testing::error_message;

// A search by a dev_error that is known, and where it ended.
struct Search {
  std::vector<L2Trial> trials;
  double best = 0;

  std::vector<double> values() const {
    std::vector<double> all;
    for (const L2Trial& trial : trials) all.push_back(trial.l2);
    return all;
  }
};

Search search(const std::function<double(double)>& dev_error, const L2Range& range = {}) {
  Search result;
  while (const auto l2 = next_l2(result.trials, range)) result.trials.push_back({*l2, dev_error(*l2)});
  double least = std::numeric_limits<double>::infinity();
  for (const L2Trial& trial : result.trials) {
    if (trial.dev_error < least || (trial.dev_error == least && trial.l2 > result.best))
      result.best = trial.l2;
    least = std::min(least, trial.dev_error);
  }
  return result;
}

// Least at `centre`, and worse by `slope` of itself a decade away.
std::function<double(double)> valley(double centre, double slope = 0.5) {
  return [=](double l2) { return 0.1 * (1 + slope * std::abs(std::log10(l2 / centre))); };
}

TEST(L2Range, HasFourValuesADecadeAndItsEnds) {
  EXPECT_EQ((L2Range{0.1, 10}).values(), (std::vector<double>{10, 5.6, 3.2, 1.8, 1, 0.56, 0.32, 0.18, 0.1}));
  EXPECT_EQ((L2Range{0.4, 12}).values(), (std::vector<double>{12, 5.6, 3.2, 1.8, 1, 0.56, 0.4}));
  EXPECT_EQ((L2Range{3, 3}).values(), (std::vector<double>{3}));
  EXPECT_EQ((L2Range{1, 1.1}).values(), (std::vector<double>{1.1, 1}));
  EXPECT_EQ(L2Range().values().size(), 49u);
}

TEST(L2Range, BeginsNearTen) {
  EXPECT_EQ(L2Range().start(), 10);
  EXPECT_EQ((L2Range{0.9, 12}).start(), 12);
  EXPECT_EQ((L2Range{20, 100}).start(), 20);
  EXPECT_EQ((L2Range{0.001, 0.03}).start(), 0.03);
}

TEST(L2Range, SaysWhatItIs) {
  EXPECT_EQ(L2Range().name(), "auto");
  EXPECT_EQ((L2Range{0.01, 64}).name(), "auto from 0.01 to 64");
}

TEST(L2Range, RefusesWhatIsNone) {
  const auto message = [](double min, double max) {
    return error_message([&] { L2Range{min, max}.check(); });
  };
  EXPECT_EQ(message(2, 1), "l2_max 1 l2_min 2: invalid range; expected 0 < l2_min <= l2_max");
  EXPECT_EQ(message(0, 1), "l2_max 1 l2_min 0: invalid range; expected 0 < l2_min <= l2_max");
  EXPECT_EQ(message(1, std::nan("")), "l2_max nan l2_min 1: invalid range; expected 0 < l2_min <= l2_max");
}

TEST(NextL2, GoesDownByDecadesAndThenCloser) {
  // 0.1 is the best decade and 0.01 worse: the values between it and its neighbours.
  EXPECT_EQ(search(valley(0.1)).values(), (std::vector<double>{10, 1, 0.1, 0.01, 0.32, 0.032, 0.056, 0.18}));
  // 0.1 is hardly better than 1, so that nothing is looked for below it.
  EXPECT_EQ(search(valley(0.3)).values(), (std::vector<double>{10, 1, 0.1, 0.32, 0.18, 0.56}));
}

TEST(NextL2, GoesUpWhereTheFirstValuesSaySo) {
  const Search found = search(valley(300));
  EXPECT_EQ(found.best, 320);
  EXPECT_EQ(found.values(), (std::vector<double>{10, 1, 100, 1000, 10000, 320, 180, 560}));
}

// Wherever the valley is, the best value on the grid is found, in few trials, none of them twice.
RC_GTEST_PROP(NextL2, FindsTheBottomOfAnyValley, ()) {
  const double centre = std::pow(10, *rc::gen::inRange(-550, 551) / 100.0);
  const double slope = *rc::gen::inRange(11, 300) / 100.0;
  const auto dev_error = valley(centre, slope);
  const Search found = search(dev_error);
  double least = std::numeric_limits<double>::infinity();
  for (const double l2 : L2Range().values()) least = std::min(least, dev_error(l2));
  RC_ASSERT(dev_error(found.best) <= least * (1 + 1e-12));
  const auto values = found.values();
  RC_ASSERT(std::set<double>(values.begin(), values.end()).size() == values.size());
  const double decades = std::abs(std::log10(centre / 10));
  RC_ASSERT(static_cast<double>(values.size()) <= decades + 9);
}

// What it tries depends on the trials alone, not on their order: a search that was stopped goes on.
RC_GTEST_PROP(NextL2, DependsOnTheTrialsAlone, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Random noise(seed);
  Search found = search([&](double) { return noise.uniform(); });
  for (std::size_t n = 0; n < found.trials.size(); ++n) {
    std::vector<L2Trial> some(found.trials.begin(), found.trials.begin() + static_cast<std::ptrdiff_t>(n));
    noise.shuffle(std::span(some));
    RC_ASSERT(next_l2(some, {}) == found.trials[n].l2);
  }
}

// Noise of a tenth of what a decade makes neither ends a search early nor moves it far.
RC_GTEST_PROP(NextL2, EnduresNoise, ()) {
  const double centre = std::pow(10, *rc::gen::inRange(-400, 401) / 100.0);
  Random noise(*rc::gen::arbitrary<std::uint64_t>());
  const auto dev_error = valley(centre, 0.5);
  const Search found = search([&](double l2) { return dev_error(l2) + 0.005 * (noise.uniform() - 0.5); });
  RC_ASSERT(std::abs(std::log10(found.best / centre)) < 0.3);
}

// Differences of a few thousandths are chance, and below a plateau every decade takes longer: the search
// turns there.
TEST(NextL2, APlateauEndsTheWayDown) {
  using Trials = std::vector<L2Trial>;
  EXPECT_EQ(next_l2(Trials{{10, 0.05}, {1, 0.045}}, {}), 0.1);
  EXPECT_EQ(next_l2(Trials{{10, 0.07}, {1, 0.05}, {0.1, 0.049}}, {}), 0.32);
  EXPECT_EQ(next_l2(Trials{{10, 0.05}, {1, 0.0495}}, {}), 100) << "and what is above may be as good";
}

// Gains that shrink: the next one is forecast, and not tried where it would not be worthwhile.
TEST(NextL2, GainsThatDwindleEndTheWayDown) {
  using Trials = std::vector<L2Trial>;
  // 4.6 % after 12.6 %: about 1.6 % more.
  EXPECT_EQ(next_l2(Trials{{10, 0.291}, {1, 0.2542}, {0.1, 0.2426}}, {}), 0.32);
  // 7 % after 10 %: about 5 % more.
  EXPECT_EQ(next_l2(Trials{{10, 0.1}, {1, 0.09}, {0.1, 0.083}}, {}), 0.01);
  // Gains that grow are no reason to expect more than the last.
  EXPECT_EQ(next_l2(Trials{{10, 0.1}, {1, 0.096}, {0.1, 0.08}}, {}), 0.01);
}

// Where three values side by side are as good, one between them would be chosen by chance.
TEST(NextL2, DoesNotLookCloserAtAPlateau) {
  using Trials = std::vector<L2Trial>;
  const Trials flat{{10, 0.0505}, {1, 0.05}, {0.1, 0.0505}, {100, 0.0506}};
  EXPECT_EQ(next_l2(flat, {}), std::nullopt);
  const Trials steep{{10, 0.0525}, {1, 0.05}, {0.1, 0.0505}, {100, 0.06}};
  EXPECT_EQ(next_l2(steep, {}), 0.32);
  // At the end of what was tried, the two beside it count.
  const Trials end{{10, 0.0501}, {1, 0.0501}, {0.1, 0.05}};
  EXPECT_EQ(next_l2(end, {}), std::nullopt);
  const Trials closer{{10, 0.07}, {1, 0.0501}, {0.1, 0.05}};
  EXPECT_EQ(next_l2(closer, {}), 0.32);
}

// Upwards, where values are cheap, one that happens to be a little worse does not end it.
TEST(NextL2, OneValueThatIsALittleWorseDoesNotEndTheWayUp) {
  using Trials = std::vector<L2Trial>;
  EXPECT_EQ(next_l2(Trials{{10, 0.05}, {1, 0.056}}, {}), 100);
  EXPECT_EQ(next_l2(Trials{{10, 0.05}, {1, 0.056}, {100, 0.051}}, {}), 1000);
  EXPECT_EQ(next_l2(Trials{{10, 0.05}, {1, 0.056}, {100, 0.051}, {1000, 0.04}}, {}), 1e4);
  EXPECT_EQ(next_l2(Trials{{10, 0.05}, {1, 0.056}, {100, 0.051}, {1000, 0.051}}, {}), 32) << "two do";
  EXPECT_EQ(next_l2(Trials{{10, 0.05}, {1, 0.056}, {100, 0.054}}, {}), 32) << "and one that is clear";
}

TEST(NextL2, OfEqualsTheLargestIsTheBest) {
  const Search found = search([](double l2) { return l2 > 40 ? 0.2 : 0.1; });
  EXPECT_EQ(found.best, 32);
  EXPECT_EQ(edge_of(found.best, {}), L2Edge::none);
  // No difference at all: the largest one, at the edge.
  EXPECT_EQ(search([](double) { return 0.1; }).best, 1e6);
}

TEST(NextL2, AMonotoneBadnessEndsAtTheEdge) {
  const Search down = search([](double l2) { return 0.1 + 0.01 * std::log10(l2); });
  EXPECT_EQ(down.best, 1e-6);
  EXPECT_EQ(edge_of(down.best, {}), L2Edge::smallest);
  const Search up = search([](double l2) { return 0.1 - 0.01 * std::log10(l2); });
  EXPECT_EQ(up.best, 1e6);
  EXPECT_EQ(edge_of(up.best, {}), L2Edge::largest);
}

TEST(NextL2, KeepsToItsRange) {
  const L2Range range{0.3, 20};
  const Search found = search(valley(0.01), range);
  EXPECT_EQ(found.best, 0.3);
  EXPECT_EQ(edge_of(found.best, range), L2Edge::smallest);
  for (const double l2 : found.values()) EXPECT_TRUE(l2 >= range.min && l2 <= range.max) << l2;
  EXPECT_EQ(search(valley(0.01), {2, 2}).values(), (std::vector<double>{2}));
  EXPECT_EQ(edge_of(2, {2, 2}), L2Edge::none) << "of one value nobody expects more";
}

class SearchTest : public ::testing::Test {
 protected:
  // Real training, and a dev_error that depends on l2 alone.
  PathRun run_by(const std::function<double(double)>& dev_error, PathObserver observer = {},
                 std::function<void(const PathPoint&)> finished = {}) {
    return {owned.problem,
            Loss::crf(),
            solver,
            settings,
            [this, dev_error](const Weights&) { return dev_error(at); },
            [this, observer](const Regularizer& now, const Progress& progress, const Weights& theta) {
              at = now.l2;
              return observer ? observer(now, progress, theta) : Control::go_on;
            },
            std::move(finished)};
  }

  OwnedProblem owned{4, {.examples = 200, .attributes = 20}};
  SolverEntry solver = find_solver("eg", Loss::crf());
  SolverSettings settings;
  double at = 0;
};

TEST_F(SearchTest, TheBestHasTheGapOfTheRun) {
  settings.stopping.gap = 1e-5;
  std::vector<double> passes;
  PathInProgress path;
  search_l2(path,
            run_by(valley(0.3),
                   [&](const Regularizer&, const Progress& progress, const Weights&) {
                     passes.push_back(progress.passes);
                     return Control::go_on;
                   }),
            {});
  EXPECT_EQ(path.status, Status::converged);
  ASSERT_EQ(path.points.size(), 6u);
  EXPECT_EQ(path.points[path.best].l2, 0.32);
  for (std::size_t k = 0; k < path.points.size(); ++k) {
    const double gap = path.points[k].certificate.relative_gap();
    EXPECT_LE(gap, k == path.best ? 1e-5 : kSearchGap);
    EXPECT_EQ(gap > 1e-5, k != path.best);
  }
  EXPECT_EQ(evaluate_primal({owned.problem, Loss::crf(), 0.32}, path.theta),
            path.points[path.best].certificate.primal);
  EXPECT_TRUE(std::is_sorted(passes.begin(), passes.end()));
  double total = 0;
  for (const PathPoint& point : path.points) total += point.certificate.passes;
  EXPECT_NEAR(total, passes.back(), 1e-9);
  EXPECT_EQ(path.progress.passes, passes.back());
}

// From the duals of a smaller l2 as from those of a larger one, a value takes fewer passes than from nothing.
TEST_F(SearchTest, StartsAreWarmBothWays) {
  settings.stopping.gap = 1e-3;
  const auto passes = [&](std::vector<double> values) {
    PathInProgress path;
    const PathRun run = run_by(valley(1));
    double last = 0;
    for (const double l2 : values) {
      const auto point = optimise_value(path, run, l2, 1e-3);
      EXPECT_LE(point->certificate.relative_gap(), 1e-3);
      last = point->certificate.passes;
      add_point(path, run, *point);
    }
    return last;
  };
  const double cold = passes({0.32});
  EXPECT_LT(passes({1, 0.32}), cold);
  EXPECT_LT(passes({0.1, 0.32}), cold);
}

TEST_F(SearchTest, StartsFromTheNearerOfTheLastAndTheBest) {
  PathInProgress path;
  const PathRun run = run_by(valley(1));
  for (const double l2 : {1.0, 0.01}) {
    start_from_nearest(path, l2);
    add_point(path, run, *optimise_value(path, run, l2, 1e-3));
  }
  ASSERT_TRUE(path.best_training);
  const auto norm = [](const Training& training) { return euclidean_squared_norm(training.theta); };
  const double of_last = norm(path.training), of_best = norm(*path.best_training);
  ASSERT_GT(of_last, of_best);
  start_from_nearest(path, 0.032);
  EXPECT_EQ(norm(path.training), of_last);
  EXPECT_EQ(path.training_l2, 0.01);
  start_from_nearest(path, 10);
  EXPECT_EQ(norm(path.training), of_best);
  EXPECT_EQ(path.training_l2, 1);
}

// Stopped in any value, also in the last one that brings the best to its gap, a search goes on to the same
// end.
TEST_F(SearchTest, GoesOnWhereItWasStopped) {
  settings.stopping.gap = 1e-6;
  settings.report_every = 0.5;
  for (const std::string name : {"eg", "lbfgs"}) {
    solver = find_solver(name, Loss::crf());
    PathInProgress whole;
    std::size_t reports = 0;
    search_l2(whole,
              run_by(valley(0.3),
                     [&](const Regularizer&, const Progress&, const Weights&) {
                       ++reports;
                       return Control::go_on;
                     }),
              {});
    ASSERT_EQ(whole.status, Status::converged);
    for (std::size_t stop = 1; stop < reports; stop += 1 + reports / 12) {
      PathInProgress path, at_stop;
      std::size_t seen = 0;
      search_l2(path,
                run_by(valley(0.3),
                       [&](const Regularizer&, const Progress&, const Weights&) {
                         if (++seen < stop) return Control::go_on;
                         at_stop = path;
                         return Control::stop;
                       }),
                {});
      EXPECT_EQ(path.status, Status::stopped);
      search_l2(at_stop, run_by(valley(0.3)), {});
      EXPECT_EQ(at_stop.status, Status::converged);
      ASSERT_EQ(at_stop.points.size(), whole.points.size()) << name << " at " << stop;
      for (std::size_t k = 0; k < whole.points.size(); ++k)
        EXPECT_EQ(at_stop.points[k].l2, whole.points[k].l2);
      const Certificate &a = at_stop.points[at_stop.best].certificate,
                        &b = whole.points[whole.best].certificate;
      EXPECT_LE(a.relative_gap(), 1e-6);
      EXPECT_LE(a.dual, b.primal * (1 + 1e-12));
      EXPECT_LE(b.dual, a.primal * (1 + 1e-12));
    }
  }
}

TEST_F(SearchTest, AStopKeepsTheBestSoFar) {
  settings.report_every = 0.5;
  settings.stopping.gap = 1e-6;
  PathInProgress path;
  search_l2(
      path,
      run_by(valley(0.1), [&](const Regularizer& now, const Progress&,
                              const Weights&) { return now.l2 == 0.01 ? Control::stop : Control::go_on; }),
      {});
  EXPECT_EQ(path.status, Status::stopped);
  ASSERT_EQ(path.points.size(), 4u);
  EXPECT_EQ(path.points[path.best].l2, 0.1);
  EXPECT_EQ(evaluate_primal({owned.problem, Loss::crf(), 0.1}, path.theta),
            path.points[path.best].certificate.primal);
}

TEST_F(SearchTest, PassesAreForAllValuesTogether) {
  settings.stopping.gap = 1e-6;
  PathInProgress whole;
  search_l2(whole, run_by(valley(0.3)), {});
  settings.stopping.passes = whole.progress.passes / 2;
  PathInProgress path;
  search_l2(path, run_by(valley(0.3)), {});
  EXPECT_EQ(path.status, Status::out_of_passes);
  EXPECT_GE(path.progress.passes, settings.stopping.passes - 1e-9);  // a sum over values
  EXPECT_LE(path.progress.passes, settings.stopping.passes + 1);
}

}  // namespace
}  // namespace espalier::l2_search_test
