#include "solvers/online_passes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "espalier/base/error.h"
#include "solvers/best_dual.h"
#include "solvers/finite.h"
#include "solvers/visits.h"

namespace espalier {

Summary online_passes(const Objective& objective, const OnlineOptions& options, const OnlineVisits& visits,
                      AveragedWeights& weights, Weights& theta, const Observer& observer) {
  const Problem& problem = objective.problem;
  ESPALIER_EXPECT(problem.size() > 0 && objective.regularizer.l2 > 0);
  ESPALIER_EXPECT(theta.shape() == problem.weight_shape());
  Run run(objective, options.stopping, observer);
  Visits count(options.stopping, run, problem.size());
  Random random(options.seed);
  std::vector<std::size_t> order(problem.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  BestDual best_dual;
  Workspace ws;

  const auto report = [&](bool failed) {
    run.pause();
    weights.mean(theta);
    // Of weights that are not finite nothing can be certified.
    Certificate certificate{std::numeric_limits<double>::infinity(), 0};
    if (!failed && finite(theta.values())) certificate = certify_implied(objective, theta);
    if (visits.bound) certificate.dual = std::max(certificate.dual, visits.bound());
    certificate.passes = count.passes();
    const bool over = run.report(best_dual.improve(certificate), theta);
    run.resume();
    return over;
  };

  for (double reported = 0;;) {
    random.shuffle(std::span(order));
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (count.exhausted() || count.passes() - reported >= options.report_every) {
        if (report(false)) return run.finish();
        reported = count.passes();
      }
      if (k + 4 < order.size()) problem.prefetch(order[k + 4], Prefetch::location);
      if (k + 2 < order.size()) problem.prefetch(order[k + 2], Prefetch::contents);
      weights.next_visit();
      if (!visits.visit(order[k], ws)) {
        report(true);
        return run.finish();
      }
      count.count();
    }
  }
}

}  // namespace espalier
