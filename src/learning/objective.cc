#include "espalier/learning/objective.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "kernels/vectors.h"

namespace espalier {
namespace {

template <class Weight, class Real>
double loss_of(const Objective& objective, std::size_t i, const BasicWeights<Weight>& theta,
               std::span<Real> s, std::span<Real> pi, Workspace& ws) {
  ESPALIER_EXPECT(!objective.loss.difference);  // of which a round has the convex part
  const Problem& problem = objective.problem;
  const double beta = objective.loss.beta, gamma = objective.loss.gamma;
  Workspace::Frame frame(ws);
  const auto potentials = frame.take<Real>(s.size());
  problem.score(i, theta, Real{1}, s, ws);

  // beta(F_i'theta + gamma p_i); without the factor if beta is infinite
  std::copy(s.begin(), s.end(), potentials.begin());
  if (gamma != 0) problem.add_cost(i, static_cast<Real>(gamma), potentials);
  double maximum;
  if (objective.loss.smooth()) {
    for (Real& p : potentials) p *= static_cast<Real>(beta);
    maximum = problem.log_partition(i, potentials, pi, ws) / beta;
  } else {
    maximum = problem.argmax(i, potentials, pi, ws);
  }

  // L_i = 1/beta log Z(beta(F_i'theta + gamma p_i)) + gamma q_i - (F_i'theta).z_i
  const auto z = frame.take<Real>(s.size());
  std::fill(z.begin(), z.end(), Real{0});
  problem.add_gold(i, Real{1}, z);
  return maximum + gamma * problem.cost_offset(i) - kernels::dot(s.data(), z.data(), s.size());
}

}  // namespace

template <class Real>
double example_loss(const Objective& objective, std::size_t i, const BasicWeights<Real>& theta, DoubleOut s,
                    DoubleOut pi, Workspace& ws) {
  return loss_of(objective, i, theta, s, pi, ws);
}

template double example_loss(const Objective&, std::size_t, const Weights&, DoubleOut, DoubleOut, Workspace&);
template double example_loss(const Objective&, std::size_t, const DoubleWeights&, DoubleOut, DoubleOut,
                             Workspace&);

double example_loss(const Objective& objective, std::size_t i, const Weights& theta, Out s, Out pi,
                    Workspace& ws) {
  return loss_of(objective, i, theta, s, pi, ws);
}

}  // namespace espalier
