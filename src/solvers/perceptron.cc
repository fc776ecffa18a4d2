// The structured perceptron with averaged weights (Collins 2002, Figure 1 and section 2.3). A visit to
// example i is
//   y = argmax_y theta.F_i chi(y),   theta <- theta + omega_i F_i(z_i - chi(y)),
// which is nothing where the prediction is right; an example of weight 2 counts like two mistakes. The result
// is the mean of the weights that the visits met. (Collins averages those that they leave: the two differ by
// the last weights less the first, divided by the number of visits.) On separable data the number of mistakes
// has a bound, whatever their order; on other data it continues to make them.
//
// A visit costs one inference and a gather, and two scatters after a mistake. Memory: three vectors of
// weights.

#include "solvers/perceptron.h"

#include <algorithm>
#include <cmath>

#include "solvers/online_passes.h"

namespace espalier {

Summary perceptron(const Objective& objective, const OnlineOptions& options, Weights& theta,
                   const Observer& observer) {
  const Problem& problem = objective.problem;
  AveragedWeights weights(theta, options.average);
  const auto visit = [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<float>(problem.num_statistics(i)), delta = frame.take<float>(s.size());
    problem.score(i, weights.current(), 1.0f, s, ws);
    // No structure promises anything for other scores.
    if (!std::all_of(s.begin(), s.end(), [](float score) { return std::isfinite(score); })) return false;
    problem.argmax(i, s, delta, ws);

    // omega_i(z_i - chi(y))
    const auto omega = static_cast<float>(problem.weight(i));
    for (float& d : delta) d *= -omega;
    problem.add_gold(i, omega, delta);
    if (std::any_of(delta.begin(), delta.end(), [](float d) { return d != 0; })) {
      weights.add(problem, i, delta, ws);
    }
    return true;
  };
  return online_passes(objective, options, {visit}, weights, theta, observer);
}

}  // namespace espalier
