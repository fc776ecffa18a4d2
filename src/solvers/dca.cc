// Dual coordinate ascent (Martins et al. 2010, Algorithms 1 and 2) for
//   P(theta) = l2/2 |theta|^2 + sum_i omega_i L_i(theta);
// their lambda m is l2, and their examples all have the weight 1. A visit to example i is
//   pi_i  = the expected statistics at beta(F_i'theta + gamma p_i)
//         a best output's if beta is infinite, (8)
//   theta <- theta + eta F_i(z_i - pi_i),
//       F_i(pi_i - z_i) a (sub)gradient of L_i, (9)
//   eta   = min{ omega_i/l2, L_i(theta) / |F_i(z_i - pi_i)|^2 }        (14)
// and the result is the mean of the weights that the visits met. There is no learning rate, and none that
// decreases: after the first pass a visit adds to what an example has put into theta before, as if it were a
// new example, so theta settles nowhere in particular, and the dual that goes with it is unknown.
//
// A visit costs one inference, a gather and two scatters. In the first pass inference is in double precision,
// with a third scatter for the dual (first_pass_dual.h). Memory: three vectors of weights, and one in double
// precision in the first pass.

#include "solvers/dca.h"

#include <cmath>
#include <type_traits>

#include "solvers/aggressive_step.h"
#include "solvers/first_pass_dual.h"
#include "solvers/online_passes.h"

namespace espalier {
namespace {

class Ascent {
 public:
  Ascent(const Objective& objective, const OnlineOptions& options, const Weights& start)
      : objective_(objective), weights_(start, options.average), dual_(objective) {}

  Summary ascend(const OnlineOptions& options, Weights& theta, const Observer& observer) {
    const auto visit = [this](std::size_t i, Workspace& ws) {
      return dual_.next_visit() ? update<double>(i, ws) : update<float>(i, ws);
    };
    return online_passes(objective_, options, {visit, [this] { return dual_.value(); }}, weights_, theta,
                         observer);
  }

 private:
  // Algorithm 2.
  template <class Real>
  bool update(std::size_t i, Workspace& ws) {
    const Problem& problem = objective_.problem;
    Workspace::Frame frame(ws);
    const auto s = frame.take<Real>(problem.num_statistics(i)), difference = frame.take<Real>(s.size());
    const double loss = example_loss(objective_, i, weights_.current(), s, difference, ws);
    if (!std::isfinite(loss)) return false;
    // z_i - pi_i
    for (Real& d : difference) d = -d;
    problem.add_gold(i, Real{1}, difference);

    const double eta = aggressive_step(problem.weight(i) / objective_.regularizer.l2, loss,
                                       problem.squared_norm(i, difference, ws));
    if (eta == 0) return true;
    if constexpr (std::is_same_v<Real, double>) dual_.mix(i, eta, loss, s, difference, ws);
    const auto delta = frame.take<float>(s.size());
    for (std::size_t k = 0; k < delta.size(); ++k) delta[k] = static_cast<float>(eta * difference[k]);
    weights_.add(problem, i, delta, ws);
    return true;
  }

  const Objective& objective_;
  AveragedWeights weights_;
  FirstPassDual dual_;
};

}  // namespace

Summary dca(const Objective& objective, const OnlineOptions& options, Weights& theta,
            const Observer& observer) {
  return Ascent(objective, options, theta).ascend(options, theta, observer);
}

}  // namespace espalier
