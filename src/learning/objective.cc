#include "espalier/learning/objective.h"

#include <numeric>

namespace espalier {

template <class Real>
double example_loss(const Objective& objective, std::size_t i, const BasicWeights<Real>& theta, DoubleOut s,
                    DoubleOut pi, Workspace& ws) {
  const Problem& problem = objective.problem;
  const double beta = objective.loss.beta, gamma = objective.loss.gamma;
  Workspace::Frame frame(ws);
  const auto potentials = frame.take<double>(s.size());
  problem.score(i, theta, 1.0, s, ws);

  // beta(F_i'theta + gamma p_i); without the factor if beta is infinite
  std::copy(s.begin(), s.end(), potentials.begin());
  if (gamma != 0) problem.add_cost(i, gamma, potentials);
  double maximum;
  if (objective.loss.smooth()) {
    for (double& p : potentials) p *= beta;
    maximum = problem.log_partition(i, potentials, pi, ws) / beta;
  } else {
    maximum = problem.argmax(i, potentials, pi, ws);
  }

  // L_i = 1/beta log Z(beta(F_i'theta + gamma p_i)) + gamma q_i - (F_i'theta).z_i
  const auto z = frame.take<double>(s.size());
  std::fill(z.begin(), z.end(), 0.0);
  problem.add_gold(i, 1.0, z);
  return maximum + gamma * problem.cost_offset(i) - std::inner_product(s.begin(), s.end(), z.begin(), 0.0);
}

template double example_loss(const Objective&, std::size_t, const Weights&, DoubleOut, DoubleOut, Workspace&);
template double example_loss(const Objective&, std::size_t, const DoubleWeights&, DoubleOut, DoubleOut,
                             Workspace&);

}  // namespace espalier
