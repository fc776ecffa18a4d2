// A bundle method on P(theta) = l2/2 |theta|^2 + R(theta), R = sum_i omega_i L_i. A pass at theta_t brings
// P(theta_t) and a plane R(theta) >= a_t.theta + b_t with
//   a_t = sum_i omega_i F_i delta_i,   b_t = sum_i omega_i offset_i.
// The planes so far have a minimiser theta_m and a bound on the optimum (bundle.h); the next pass is made on
// the way there from the best weights so far:
//   theta_{t+1} = theta_best + kReach (theta_m - theta_best).
// At theta_m itself, far from all that has been seen, the first planes say little of R. Only where nothing
// else is left but the rounding of weights to floats, which is as large on the way as at its end, the pass is
// made there. Cost per pass: one inference per example, a product of the new plane with each one that is
// kept, a small quadratic program. Memory: two vectors of doubles and two of floats as long as all weights,
// and the planes.

#include "solvers/bundle_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "features/assign_weights.h"
#include "learning/sweep.h"
#include "solvers/bundle.h"
#include "solvers/counted_sweep.h"
#include "solvers/stall_detector.h"
#include "solvers/visits.h"

namespace espalier {
namespace {

// On 200 sentences of CoNLL-2000 a CRF took 144 passes to a gap of 1e-4 with 1, 71 with 0.5, 48 with 0.2 and
// 55 with 0.1; an SVM had a gap of 15 % after 194 passes with 1 (500 sentences), of 3 % after 184 with 0.2.
constexpr double kReach = 0.2;
// Planes without inference are worth their while if they cut off this much of the gap; there may be this many
// consecutive ones.
constexpr double kCachedShare = 0.5;
constexpr int kMostCached = 10;
// Of the gap that is left, how much a quadratic program may leave.
constexpr double kQpShare = 1e-3;

class BundleMethod {
 public:
  BundleMethod(const Objective& objective, const StoppingRule& stopping, std::size_t threads,
               const BundleOracle& oracle, Weights& theta, const Observer& observer)
      : objective_(objective),
        problem_(objective.problem),
        oracle_(oracle),
        theta_(theta),
        run_(objective, stopping, observer),
        visits_(stopping, run_, problem_.total_size()),
        sweep_(threads, problem_.fleet()),
        bundle_(problem_, objective.regularizer.l2, sweep_.team()),
        query_(theta),
        slope_(problem_.weight_shape()),
        offsets_(problem_.size()) {}

  Summary minimise() {
    for (;;) {
      double primal = 0;
      if (!look(oracle_.exact, true, primal)) {
        finish_unseen();
        report();
        break;
      }
      const double gap_before = gap();
      if (primal < best_) {
        best_ = primal;
        assign_weights(theta_, query_, 1, sweep_.team());
      }
      add_plane();
      if (report()) break;
      if (stall_detector_.stalled(gap_before, gap())) {
        run_.stall("no plane cuts deeper than rounding");
        break;
      }
      add_cached_planes();
      choose_query();
    }
    Summary summary = run_.finish();
    summary.message += fmt::format("; {} planes, the last quadratic program solved to {:.2g}", bundle_.size(),
                                   bundle_.accuracy());
    return summary;
  }

 private:
  double gap() const { return best_ - bundle_.bound(); }

  // P at the query, and the plane there in slope_ and offset_. False if the run ended before the last
  // example.
  bool look(const ExamplePlaneAt& plane_at, bool inference, double& primal) {
    std::fill(slope_.values().begin(), slope_.values().end(), 0.0);
    double risk = 0;
    const bool complete = counted_sweep(
        sweep_, visits_, problem_, slope_,
        [&](std::size_t i, DoubleOut delta, Workspace& ws) {
          const ExamplePlane plane = plane_at(i, query_, delta, ws);
          const double omega = problem_.weight(i);
          for (double& d : delta) d *= omega;
          offsets_[i] = omega * plane.offset;
          return omega * plane.loss;
        },
        risk, inference ? Counted::yes : Counted::no);
    if (!complete) return false;
    offset_ = 0;
    for (const double offset : offsets_) offset_ += offset;
    offset_ = sum_over(problem_.fleet(), offset_);
    primal = objective_.regularizer.l2 / 2 * problem_.squared_norm(query_) + risk;
    return true;
  }

  void add_plane() {
    bundle_.add(slope_, offset_);
    bundle_.solve(kQpShare * std::max(gap(), 1e-12 * best_));
  }

  // Planes from outputs that earlier passes have found, at the minimiser of those so far. There, the bound is
  // the value of the planes, so what is above it is what the new one cuts off.
  void add_cached_planes() {
    if (!oracle_.cached) return;
    for (int t = 0; t < kMostCached; ++t) {
      assign_weights(query_, bundle_.minimiser(), 1, sweep_.team());
      double primal = 0;
      if (!look(oracle_.cached, false, primal)) return;
      if (!(primal - bundle_.bound() > kCachedShare * gap())) return;
      add_plane();
    }
  }

  void choose_query() {
    const auto best = theta_.values(), query = query_.values();
    const auto minimiser = bundle_.minimiser().values();
    const double reach = stall_detector_.slow() ? 1 : kReach;
    share_range(sweep_.team(), query.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j)
        query[j] = static_cast<float>(best[j] + reach * (minimiser[j] - best[j]));
    });
  }

  // A run that ends within its first pass has seen nothing of the weights that it leaves.
  void finish_unseen() {
    if (std::isfinite(best_)) return;
    run_.pause();
    const double risk = sweep_.sum(problem_.size(), [&](std::size_t i, Workspace& ws) {
      Workspace::Frame frame(ws);
      const auto delta = frame.take<double>(problem_.num_statistics(i));
      return problem_.weight(i) * oracle_.exact(i, theta_, delta, ws).loss;
    });
    best_ = objective_.regularizer.l2 / 2 * problem_.squared_norm(theta_) + risk;
    run_.resume();
  }

  bool report() {
    run_.pause();
    const Certificate certificate{best_, bundle_.bound(), visits_.passes(), problem_.inference()};
    const bool over = run_.report(certificate, theta_);
    run_.resume();
    return over;
  }

  const Objective& objective_;
  const Problem& problem_;
  const BundleOracle& oracle_;
  Weights& theta_;  // the best so far
  Run run_;
  Visits visits_;
  Sweep sweep_;
  Bundle bundle_;
  Weights query_;
  DoubleWeights slope_;
  double offset_ = 0;
  std::vector<double> offsets_;  // of the examples
  double best_ = std::numeric_limits<double>::infinity();
  StallDetector stall_detector_;
};

}  // namespace

Summary minimise_by_planes(const Objective& objective, const StoppingRule& stopping, std::size_t threads,
                           const BundleOracle& oracle, Weights& theta, const Observer& observer) {
  ESPALIER_EXPECT(objective.problem.total_size() > 0 && objective.regularizer.l2 > 0);
  ESPALIER_EXPECT(theta.shape() == objective.problem.weight_shape());
  return BundleMethod(objective, stopping, threads, oracle, theta, observer).minimise();
}

}  // namespace espalier
