#include "espalier/selection/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/solvers/registry.h"
#include "selection/path_run.h"
#include "support/error_message.h"
#include "support/random_problem.h"

namespace espalier::path_test {
namespace {

using test_support::OwnedProblem;
using testing::error_message;

double squared_norm(const Weights& theta) { return euclidean_squared_norm(theta); }

Path path_of(
    const OwnedProblem& owned, const PathOptions& options, const SolverSettings& settings = {},
    const std::function<double(const Weights&)>& dev_error = squared_norm,
    const std::function<Control(const Regularizer&, const Progress&, const Weights&)>& observer = {}) {
  const Loss loss = Loss::crf();
  return regularisation_path(owned.problem, loss, options, find_solver("eg", loss), settings, dev_error,
                             observer);
}

TEST(PathOptions, ValuesDecreaseByTheFactor) {
  EXPECT_EQ((PathOptions{8, 1, 0.5}).values(), (std::vector<double>{8, 4, 2, 1}));
  EXPECT_EQ((PathOptions{8, 1.01, 0.5}).values(), (std::vector<double>{8, 4, 2}));
  EXPECT_EQ((PathOptions{3, 3, 0.1}).values(), (std::vector<double>{3}));
}

// 1000, 700, ..., 0.2737: those of Collins et al. 2008.
TEST(PathOptions, ValuesOfThePaper) {
  const std::vector<double> values = PathOptions{1000, 0.27, 0.7}.values();
  ASSERT_EQ(values.size(), 24u);
  EXPECT_EQ(values.front(), 1000);
  EXPECT_NEAR(values.back(), 1000 * std::pow(0.7, 23), 1e-12);
}

TEST(PathOptions, TheEndCountsWhereRoundingMissesIt) {
  const std::vector<double> values = PathOptions{1, 0.001, 0.1}.values();
  ASSERT_EQ(values.size(), 4u);
  EXPECT_NEAR(values.back(), 0.001, 1e-15);
}

TEST(PathOptions, RefusesWhatDoesNotDecrease) {
  const auto message = [](double max, double min, double factor) {
    return error_message([&] { PathOptions{max, min, factor}.values(); });
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message(1, 2, 0.5), "l2_max 1 l2_min 2: invalid range; expected 0 < l2_min <= l2_max");
  EXPECT_EQ(message(1, 0, 0.5), "l2_max 1 l2_min 0: invalid range; expected 0 < l2_min <= l2_max");
  EXPECT_EQ(message(-1, -2, 0.5), "l2_max -1 l2_min -2: invalid range; expected 0 < l2_min <= l2_max");
  EXPECT_EQ(message(infinity, 1, 0.5), "l2_max inf l2_min 1: invalid range; expected 0 < l2_min <= l2_max");
  EXPECT_EQ(message(std::nan(""), 1, 0.5),
            "l2_max nan l2_min 1: invalid range; expected 0 < l2_min <= l2_max");
  EXPECT_EQ(message(2, 1, 1), "factor 1: l2 would not decrease; expected a number between 0 and 1");
  EXPECT_EQ(message(2, 1, 0), "factor 0: l2 would not decrease; expected a number between 0 and 1");
  EXPECT_EQ(message(2, 1, -0.5), "factor -0.5: l2 would not decrease; expected a number between 0 and 1");
  EXPECT_EQ(message(2, 1, std::nan("")),
            "factor nan: l2 would not decrease; expected a number between 0 and 1");
}

TEST(Path, EveryPointIsOptimal) {
  const OwnedProblem owned(1);
  const PathOptions options{8, 1, 0.5};
  std::vector<Progress> seen;
  std::vector<double> at;
  const Path path = path_of(owned, options, {}, squared_norm,
                            [&](const Regularizer& regularizer, const Progress& now, const Weights&) {
                              seen.push_back(now);
                              at.push_back(regularizer.l2);
                              return Control::go_on;
                            });
  EXPECT_EQ(path.status, Status::converged);
  ASSERT_EQ(path.points.size(), 4u);
  double total = 0;
  for (std::size_t p = 0; p < 4; ++p) {
    const PathPoint& point = path.points[p];
    EXPECT_EQ(point.l2, options.values()[p]);
    EXPECT_EQ(point.status, Status::converged);
    EXPECT_LE(point.certificate.relative_gap(), 1e-3);
    total += point.certificate.passes;
    EXPECT_DOUBLE_EQ(point.total_passes, total);
  }
  // The observer's passes and seconds run on over all values.
  for (std::size_t t = 1; t < seen.size(); ++t) {
    EXPECT_GT(seen[t].passes, seen[t - 1].passes);
    EXPECT_GE(seen[t].seconds, seen[t - 1].seconds);
    EXPECT_GE(seen[t].wall_seconds, seen[t - 1].wall_seconds);
    EXPECT_LE(at[t], at[t - 1]);
  }
  EXPECT_DOUBLE_EQ(seen.back().passes, total);
  EXPECT_EQ(at.front(), 8);
  EXPECT_EQ(at.back(), 1);
}

// Two values point to the next one, which takes fewer passes from there. Duals without marginals, which are
// asked for where memory is short, go on from where they are; so does a path of steps that are too long.
TEST(Path, GoesAheadOverShortSteps) {
  const OwnedProblem owned(1, {.examples = 200, .attributes = 40, .labels = 4});
  const auto passes = [&](double factor, bool recompute) {
    SolverSettings settings;
    settings.stopping.gap = 1e-4;
    settings.eg.recompute = recompute;
    return path_of(owned, {100, 0.5, factor}, settings).progress.passes;
  };
  EXPECT_LT(passes(0.7, false), 0.8 * passes(0.7, true));
  EXPECT_EQ(passes(0.1, false), passes(0.1, true));
}

TEST(Path, BestIsThePointOfLeastBadness) {
  const OwnedProblem owned(2);
  const PathOptions options{8, 1, 0.5};
  std::vector<Weights> thetas;
  const auto scripted = [&](std::vector<double> dev_error) {
    thetas.clear();
    return path_of(owned, options, {}, [&thetas, dev_error](const Weights& theta) {
      thetas.push_back(theta);
      return dev_error[thetas.size() - 1];
    });
  };
  const auto same = [](const Weights& a, const Weights& b) {
    return std::ranges::equal(a.values(), b.values());
  };
  Path path = scripted({3, 1, 2, 4});
  EXPECT_EQ(path.best, 1u);
  EXPECT_TRUE(same(path.theta, thetas[1]));
  EXPECT_FALSE(same(path.theta, thetas[3]));
  EXPECT_EQ(path.points[2].dev_error, 2);
  path = scripted({3, 1, 1, 1});
  EXPECT_EQ(path.best, 1u) << "of equals, the most regularised";
  path = scripted({4, 3, 2, 1});
  EXPECT_EQ(path.best, 3u);
  EXPECT_TRUE(same(path.theta, thetas[3]));
}

// Its weights are those of the point's certificate.
TEST(Path, ThetaBelongsToTheBestPoint) {
  const OwnedProblem owned(3);
  const Path path = path_of(owned, {8, 1, 0.5});
  EXPECT_EQ(path.best, 0u) << "the norm grows as l2 decreases";
  Workspace ws;
  EXPECT_EQ(evaluate_primal({owned.problem, Loss::crf(), 8}, path.theta), path.points[0].certificate.primal);
}

TEST(Path, WarmStartsAreCheaperThanCold) {
  const OwnedProblem owned(4, {.examples = 200, .attributes = 20});
  SolverSettings settings;
  settings.stopping.gap = 1e-4;
  const PathOptions options{10, 0.5, 0.7};
  const Path path = path_of(owned, options, settings);
  ASSERT_EQ(path.status, Status::converged);
  double cold = 0;
  for (const double l2 : options.values())
    cold += path_of(owned, {l2, l2, 0.5}, settings).points[0].total_passes;
  EXPECT_LT(path.points.back().total_passes, 0.8 * cold);
}

TEST(Path, PassesAreForAllValuesTogether) {
  const OwnedProblem owned(5);
  SolverSettings settings;
  settings.stopping.gap = 1e-6;
  const double all = path_of(owned, {8, 0.5, 0.5}, settings).points.back().total_passes;
  settings.stopping.passes = all / 2;
  const Path path = path_of(owned, {8, 0.5, 0.5}, settings);
  EXPECT_EQ(path.status, Status::out_of_passes);
  EXPECT_LT(path.points.size(), 5u);
  EXPECT_GE(path.points.back().total_passes, all / 2);
  EXPECT_LE(path.points.back().total_passes, all / 2 + 40.0 / 30);
  EXPECT_EQ(path.points.front().status, Status::converged);
}

TEST(Path, StopsInTheMiddle) {
  const OwnedProblem owned(6);
  std::vector<double> finished;
  const Loss loss = Loss::crf();
  SolverSettings settings;
  settings.report_every = 1;
  settings.stopping.gap = 1e-8;
  const Path path = regularisation_path(
      owned.problem, loss, {8, 1, 0.5}, find_solver("eg", loss), settings, squared_norm,
      [](const Regularizer& now, const Progress&, const Weights&) {
        return now.l2 < 8 ? Control::stop : Control::go_on;
      },
      [&](const PathPoint& point) { finished.push_back(point.l2); });
  EXPECT_EQ(path.status, Status::stopped);
  ASSERT_EQ(path.points.size(), 2u);
  EXPECT_EQ(path.points[0].status, Status::converged);
  EXPECT_EQ(path.points[1].status, Status::stopped);
  EXPECT_GT(path.points[1].certificate.relative_gap(), 1e-8);
  EXPECT_EQ(finished, (std::vector<double>{8, 4}));
}

TEST(Path, InterruptKeepsThePointsSoFar) {
  const OwnedProblem owned(7);
  std::atomic<bool> stop{true};
  SolverSettings settings;
  settings.stopping.stop = &stop;
  const Path path = path_of(owned, {8, 1, 0.5}, settings);
  EXPECT_EQ(path.status, Status::stopped);
  ASSERT_EQ(path.points.size(), 1u);
  EXPECT_EQ(path.theta.shape(), owned.problem.weight_shape());
}

TEST(Path, PrimalSolversWorkToo) {
  const OwnedProblem owned(8);
  const Loss loss = Loss::crf();
  SolverSettings settings;
  settings.stopping.gap = 1e-6;
  const PathOptions options{8, 1, 0.5};
  const Path by_lbfgs =
      regularisation_path(owned.problem, loss, options, find_solver("lbfgs", loss), settings, squared_norm);
  const Path by_eg = path_of(owned, options, settings);
  ASSERT_EQ(by_lbfgs.points.size(), by_eg.points.size());
  for (std::size_t p = 0; p < by_eg.points.size(); ++p) {
    const double primal = by_eg.points[p].certificate.primal;
    EXPECT_NEAR(by_lbfgs.points[p].certificate.primal, primal, 1e-6 * primal);
  }
}

// Stopped in its third value, a path goes on there, and its points are those of one that never stopped.
TEST(Path, GoesOnWhereItWasStopped) {
  const OwnedProblem owned(4);
  const PathOptions options{8, 1, 0.5};
  SolverSettings settings;
  settings.stopping.gap = 1e-6;
  settings.report_every = 0.5;
  for (const std::string solver : {"eg", "lbfgs"}) {
    const SolverEntry& entry = find_solver(solver, Loss::crf());
    PathInProgress path, at_stop;
    continue_path(path,
                  {owned.problem, Loss::crf(), entry, settings, squared_norm,
                   [&](const Regularizer& now, const Progress&, const Weights&) {
                     if (now.l2 != 2) return Control::go_on;
                     at_stop = path;
                     return Control::stop;
                   }},
                  options.values());
    EXPECT_EQ(path.status, Status::stopped) << solver;
    ASSERT_EQ(at_stop.points.size(), 2u) << solver;
    EXPECT_GT(at_stop.progress.passes, at_stop.points[1].total_passes);

    const double passes_at_stop = at_stop.progress.passes;
    std::vector<double> passes;
    continue_path(at_stop,
                  {owned.problem, Loss::crf(), entry, settings, squared_norm,
                   [&](const Regularizer&, const Progress& progress, const Weights&) {
                     passes.push_back(progress.passes);
                     return Control::go_on;
                   }},
                  options.values());
    const Path whole =
        regularisation_path(owned.problem, Loss::crf(), options, entry, settings, squared_norm);
    EXPECT_EQ(at_stop.status, Status::converged);
    EXPECT_EQ(at_stop.best, whole.best);
    ASSERT_EQ(at_stop.points.size(), whole.points.size());
    for (std::size_t k = 0; k < whole.points.size(); ++k) {
      const Certificate &a = at_stop.points[k].certificate, &b = whole.points[k].certificate;
      EXPECT_LE(a.dual, b.primal * (1 + 1e-12));
      EXPECT_LE(b.dual, a.primal * (1 + 1e-12));
      EXPECT_LE(a.relative_gap(), 1e-6);
    }
    EXPECT_TRUE(std::is_sorted(passes.begin(), passes.end()));
    EXPECT_GE(passes.front(), passes_at_stop);
    EXPECT_EQ(at_stop.points.back().total_passes, passes.back());
    // What the third value took before the stop counts for it.
    EXPECT_DOUBLE_EQ(at_stop.points[2].certificate.passes,
                     at_stop.points[2].total_passes - at_stop.points[1].total_passes);
  }
}

}  // namespace
}  // namespace espalier::path_test
