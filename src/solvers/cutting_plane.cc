// SVM-struct with one slack for all examples (Joachims et al. 2009): the bundle method of bundle_method.cc,
// with a cache of outputs. The plane of an example that an output y demands is
//   delta = scale (chi(y) - z_i),   offset                                           (violated_output.h).
// Any output makes one, so the best of those that earlier passes found make a plane below the sum of losses
// that costs scores, but no inference.
// Memory beyond that of bundles: `cache` outputs of each example.

#include "solvers/cutting_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/solvers/eg.h"
#include "solvers/bundle_method.h"
#include "solvers/euclidean.h"
#include "solvers/maximum_loss.h"
#include "solvers/n_slack.h"
#include "solvers/option_rows.h"
#include "solvers/violated_output.h"

namespace espalier {

const OptionTable& cutting_plane_options() {
  using Row = OptionOf<CuttingPlaneTuning>;
  static const OptionTable table{
      Row("slacks", &CuttingPlaneTuning::slacks, Words<Slacks>{{"n", Slacks::n}, {"one", Slacks::one}},
          "n (one per example) or one (for all examples)"),
      Row("cache", &CuttingPlaneTuning::cache,
          "with one slack: outputs per example to build planes from without inference")
          .only_if([](const CuttingPlaneTuning& own) { return own.slacks == Slacks::one; },
                   setting("slacks") + " one"),
      Row("rescaling", &CuttingPlaneTuning::rescaling,
          Words<Rescaling>{{"margin", Rescaling::margin}, {"slack", Rescaling::slack}},
          "margin, or slack, a different objective")};
  return table;
}

namespace {

// The outputs of one example that were most violated at its last passes, each once.
class Outputs {
 public:
  void remember(DoubleIn chi, const Demand& demand, std::size_t most) {
    Remembered latest{SparseOutput(chi), demand};
    const auto same = std::find_if(remembered_.begin(), remembered_.end(),
                                   [&](const Remembered& r) { return r.output == latest.output; });
    if (same != remembered_.end()) {
      std::rotate(same, same + 1, remembered_.end());
      return;
    }
    if (remembered_.size() == most) remembered_.erase(remembered_.begin());
    remembered_.push_back(std::move(latest));
  }

  // The plane of the one that demands most where scores are s; the gold output, which demands nothing, is
  // always there.
  ExamplePlane best(const Problem& problem, std::size_t i, DoubleIn s, DoubleOut delta) const {
    std::fill(delta.begin(), delta.end(), 0.0);
    problem.add_gold(i, 1.0, delta);
    double gold_score = 0;
    for (std::size_t k = 0; k < s.size(); ++k) gold_score += s[k] * delta[k];
    ExamplePlane plane;
    const Remembered* most = nullptr;
    for (const Remembered& r : remembered_) {
      const double value = r.demand.scale * (r.output.dot(s) - gold_score) + r.demand.offset;
      if (value > plane.loss) {
        plane = {value, r.demand.offset};
        most = &r;
      }
    }
    const double scale = most ? most->demand.scale : 0;
    for (double& d : delta) d *= -scale;
    if (most) most->output.add_to(scale, delta);
    return plane;
  }

 private:
  struct Remembered {
    SparseOutput output;
    Demand demand;
  };
  std::vector<Remembered> remembered_;  // the latest last
};

Summary one_slack(const Objective& objective, const CuttingPlaneOptions& options, Weights& theta,
                  const Observer& observer) {
  const Problem& problem = objective.problem;
  std::vector<Outputs> cache(options.cache > 0 ? problem.size() : 0);
  BundleOracle oracle;
  oracle.exact = [&](std::size_t i, const Weights& at, DoubleOut delta, Workspace& ws) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<double>(delta.size());
    const ViolatedOutput violated = most_violated(objective, options.rescaling, i, at, s, delta, ws);
    if (!cache.empty()) cache[i].remember(delta, violated.demand, options.cache);
    problem.add_gold(i, -1.0, delta);
    for (double& d : delta) d *= violated.demand.scale;
    return ExamplePlane{violated.loss, violated.demand.offset};
  };
  if (!cache.empty()) {
    oracle.cached = [&](std::size_t i, const Weights& at, DoubleOut delta, Workspace& ws) {
      Workspace::Frame frame(ws);
      const auto s = frame.take<double>(delta.size());
      problem.score(i, at, 1.0, s, ws);
      return cache[i].best(problem, i, s, delta);
    };
  }
  return minimise_by_planes(objective, options.stopping, options.threads, oracle, theta, observer);
}

}  // namespace

void check_cutting_plane(const Objective& objective, const CuttingPlaneOptions& options) {
  check_maximum_loss("cutting-plane", objective.loss, "expected one with infinite beta; bmrm is for all");
  check_eg_loss(objective.loss);
  if (options.slacks == Slacks::one)
    check_euclidean(fmt::format("cutting-plane {} one", setting("slacks")), objective.problem);
  if (options.rescaling == Rescaling::slack && !objective.problem.slack_rescaling()) {
    throw Error(fmt::format(
        "{0} slack: its maximum cannot be found for these outputs; expected classes, projective "
        "trees of first order, grammars, sequences of order 1 or graphs with exact inference, both "
        "with costs that are small whole numbers, or {0} margin",
        setting("rescaling")));
  }
}

Summary cutting_plane(const Objective& objective, const CuttingPlaneOptions& options, Weights& theta,
                      const Observer& observer) {
  check_cutting_plane(objective, options);
  return options.slacks == Slacks::one ? one_slack(objective, options, theta, observer)
                                       : n_slack(objective, options, theta, observer);
}

}  // namespace espalier
